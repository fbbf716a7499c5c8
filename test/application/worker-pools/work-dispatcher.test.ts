import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensurePool } from '../../../src/application/worker-pools/pools.ts';
import {
  addScopeWorkerPool,
  createScope,
  editScopeWorkerPool,
  removeScopeWorkerPool,
} from '../../../src/application/worker-pools/scopes.ts';
import { openWorkDispatcher, type TakenWork } from '../../../src/application/worker-pools/work-dispatcher.ts';
import { type NewWork, submitWork } from '../../../src/application/worker-pools/work-requests.ts';
import type { Architecture } from '../../../src/events/worker-pools/architectures.ts';
import { leavingOut, type LeavesOut } from '../../support/stores/leaving-out.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

type Scene = Readonly<{
  application: TestApplication;
  /** The worker waits for work from now on. */
  take: (worker: string, signal?: AbortSignal) => Promise<TakenWork | undefined>;
  submit: (wanted?: Partial<NewWork>) => Promise<string>;
  /** Waits until the request is with a worker, and says with which. */
  takenBy: (id: string) => Promise<string>;
}>;

/** Pools `spot` (priority 10), `cheap` (0) and `closed` (not linked and not instance-wide) with a ready worker each, and `builder` without a pool. */
async function withDispatcher(
  work: (scene: Scene) => Promise<void>,
  isLeftOut: LeavesOut = () => false,
): Promise<void> {
  const application = await openTestApplication();
  const ended = new AbortController();
  const asked: Promise<unknown>[] = [];
  try {
    await foundPool(application);
    await foundOthers(application);
    const dispatcher = openWorkDispatcher({ ...application, store: leavingOut(application.store, isLeftOut) });
    await application.catchUp();
    const following = dispatcher.run(ended.signal);
    await work({
      application,
      take: async (worker, signal = ended.signal) => {
        const { instance } = (await application.workers.state(worker)).state;
        const taking = dispatcher.take({ worker, run: instance?.run ?? null }, signal);
        asked.push(taking);
        // By then it waits, or has what it may have.
        await Promise.race([taking, new Promise((resolve) => void setTimeout(resolve, 50))]);
        return taking;
      },
      submit: async (wanted = {}) => {
        const usual = {
          scope: 'debian',
          architecture: 'amd64',
          pool: null,
          payload: null,
          expectedSeconds: null,
        } as const;
        return accepted(await submitWork({ ...usual, ...wanted }, application.context, application)).view.id;
      },
      takenBy: (id) =>
        waitUntil(`${id} is taken`, async () => {
          const { state } = await application.workRequests.state(id);
          return state.state === 'running' ? (state.worker ?? undefined) : undefined;
        }),
    });
    ended.abort();
    await following;
  } finally {
    ended.abort();
    await Promise.allSettled(asked);
    await application.close();
  }
}

async function foundOthers(application: TestApplication): Promise<void> {
  const { context } = application;
  const { record } = (await application.workerPools.state('spot')).state;
  if (record === undefined) throw new Error('there is a pool');
  const { name: _name, ...given } = record;
  accepted(await createScope('ubuntu', context, application));
  for (const pool of ['cheap', 'closed']) {
    const own = pool === 'closed' ? { ...given, instance_wide: false } : given;
    accepted(await ensurePool(pool, own, { dryRun: false }, context, application));
  }
  accepted(await editScopeWorkerPool({ scope: 'debian', pool: 'spot' }, { priority: 10 }, context, application));
  accepted(await addScopeWorkerPool({ scope: 'ubuntu', pool: 'closed' }, {}, context, application));
  for (const pool of ['spot', 'cheap', 'closed']) await readyWorker(application, `${pool}-001`, pool);
  await readyWorker(application, 'builder', null);
  await readyWorker(application, 'arm', null, ['arm64']);
}

async function readyWorker(
  { workers, clock, context }: TestApplication,
  worker: string,
  pool: string | null,
  architectures: readonly Architecture[] = ['amd64'],
): Promise<void> {
  const at = clock.nowText();
  const run = pool === null ? null : `run-of-${worker}`;
  const tell = async (command: Parameters<typeof workers.handle>[1]): Promise<void> => {
    accepted(await workers.handle(worker, command, context));
  };
  await tell({ type: 'RegisterWorker', data: { worker, pool, architectures, at } });
  if (run !== null) {
    const activationSha256 = 'a'.repeat(64);
    const asked = { run, providerAccount: 'hcloud', architectures, activationSha256, because: 'asked', at };
    await tell({ type: 'RequestLaunch', data: asked });
    await tell({ type: 'StartCreation', data: { run, at } });
    await tell({ type: 'RecordInstanceCreated', data: { run, instanceCreatedAt: at, workerPoolData: {} } });
  }
  await tell({ type: 'RecordWorkerConnected', data: { run, dynamicMetadata: {}, at } });
}

/** A signal for which the process waits. */
function after(milliseconds: number): AbortSignal {
  const over = new AbortController();
  setTimeout(() => over.abort(), milliseconds);
  return over.signal;
}

test('of workers that wait, one without a pool has it first, then that of the pool with the higher priority', () =>
  withDispatcher(async ({ application, take, submit, takenBy }) => {
    const waiting = ['cheap-001', 'spot-001', 'closed-001', 'arm', 'builder'].map((worker) => take(worker));
    await new Promise((resolve) => void setTimeout(resolve, 100));
    const order: string[] = [];
    for (let count = 0; count < 3; count += 1) order.push(await takenBy(await submit()));
    assert.equal(order, ['builder', 'spot-001', 'cheap-001']);
    const [cheap] = await Promise.all(waiting.slice(0, 2));
    assert.is(cheap?.scope, 'debian');
    // Who is left may not have such work: it waits.
    const last = await submit();
    const other = await submit({ scope: 'ubuntu' });
    assert.is(await takenBy(other), 'closed-001');
    assert.is(await takenBy(await submit({ architecture: 'arm64' })), 'arm');
    assert.is((await application.workRequests.state(last)).state.state, 'waiting');
  }));

test('work for one pool is for its workers alone, and a worker has the oldest that it may have', () =>
  withDispatcher(async ({ application, take, submit, takenBy }) => {
    const forCheap = await submit({ pool: 'cheap' });
    const [older, newer] = [await submit(), await submit()];
    await application.catchUp();
    const byBuilder = await take('builder');
    assert.is(byBuilder?.id, older);
    assert.is((await take('cheap-001'))?.id, forCheap);
    assert.is((await take('spot-001'))?.id, newer);
    assert.is(await takenBy(newer), 'spot-001');
  }));

test('work whose submission following the log leaves out is given when another server, which had given it, gets it back', () =>
  withDispatcher(
    async ({ application, take, submit }) => {
      const id = await submit();
      const { workRequests, clock, context } = application;
      const [given, at] = [{ worker: 'cheap-001', run: 'run-of-cheap-001' }, clock.nowText()];
      accepted(await workRequests.handle(id, { type: 'StartWork', data: { ...given, at } }, context));
      const back = { worker: 'cheap-001', startedAt: at, because: 'lost', isLost: true, at };
      accepted(await workRequests.handle(id, { type: 'ReturnWork', data: back }, context));
      assert.is((await take('builder'))?.id, id);
    },
    ({ type }) => type === 'WorkRequestSubmitted',
  ));

test('a worker that waits no longer is given nothing, and one that asks again has what it had', () =>
  withDispatcher(async ({ application, take, submit, takenBy }) => {
    const over = new AbortController();
    const gone = take('builder', over.signal);
    over.abort();
    assert.is(await gone, undefined);
    assert.is(await take('builder', AbortSignal.abort()), undefined);
    const id = await submit();
    assert.is((await application.workRequests.state(id)).state.state, 'waiting');
    assert.is((await take('spot-001'))?.id, id);
    assert.is((await take('spot-001'))?.id, id, 'its answer was lost on the way');
    assert.is(await takenBy(id), 'spot-001');
  }));

test('a worker that is being ended is given nothing, and work that it could not take any more counts no try', () =>
  withDispatcher(async ({ application, take, submit }) => {
    const { workers, workRequests, clock, context } = application;
    // It waits already when its end is wanted.
    const waiting = take('spot-001');
    await new Promise((resolve) => void setTimeout(resolve, 100));
    const end = { code: 'idle', because: 'idle', forced: false, at: clock.nowText() };
    accepted(await workers.handle('spot-001', { type: 'RequestTermination', data: end }, context));
    const id = await submit();
    assert.is(await waiting, undefined);
    assert.is(await take('spot-001', after(100)), undefined);
    assert.equal((await workRequests.state(id)).revision, 2n, 'it was offered once, and given back');
    assert.is((await take('cheap-001'))?.attempts, 1);
  }));

test('the workers of a pool that was deleted by force are given nothing, before its scopes have it no more', () =>
  withDispatcher(async ({ application, take, submit }) => {
    const { workerPools, workRequests, scopes, context } = application;
    const deletion = { type: 'DeleteWorkerPool', data: { force: true } } as const;
    accepted(await workerPools.handle('closed', deletion, context));
    const id = await submit({ scope: 'ubuntu' });
    assert.is(await take('closed-001', after(200)), undefined);
    assert.equal((await workRequests.state(id)).revision, 0n, 'it was offered to nobody');
    assert.ok(JSON.stringify((await scopes.state('ubuntu')).state).includes('closed'), 'the scope has it still');
    assert.is((await take('cheap-001'))?.id, id);
  }));

test('a worker that has not said that it is ready, or has had the one task of an ephemeral one, is given nothing', () =>
  withDispatcher(async ({ application, take, submit }) => {
    const { workers, workRequests, clock, context } = application;
    const [worker, run, at] = ['cheap-002', 'run-of-cheap-002', clock.nowText()];
    const architectures = ['amd64'] as const;
    const tell = async (command: Parameters<typeof workers.handle>[1]): Promise<void> =>
      void accepted(await workers.handle(worker, command, context));
    await tell({ type: 'RegisterWorker', data: { worker, pool: 'cheap', architectures, at } });
    const asked = { run, providerAccount: 'hcloud', architectures, activationSha256: 'a'.repeat(64), at };
    await tell({ type: 'RequestLaunch', data: { ...asked, ephemeral: true, because: 'asked' } });
    await tell({ type: 'RecordInstanceCreated', data: { run, instanceCreatedAt: at, workerPoolData: {} } });
    const id = await submit();
    assert.is(await take(worker, after(100)), undefined);
    await tell({ type: 'RecordWorkerConnected', data: { run, dynamicMetadata: {}, at } });
    await tell({ type: 'StartTask', data: { task: 'one', scope: 'debian', expectedSeconds: 1, at } });
    await tell({ type: 'FinishTask', data: { task: 'one', at } });
    assert.is(await take(worker, after(100)), undefined);
    assert.equal((await workRequests.state(id)).revision, 0n, 'it was offered to nobody');
  }));

test('who may take what is known as soon as the log says so, however far behind the views are', () =>
  withDispatcher(async ({ application, take, takenBy }) => {
    const { workRequests, clock, context } = application;
    const put = async (scope: string): Promise<string> => {
      const data = { id: `of-${scope}`, scope, architecture: 'amd64', pool: 'closed', payload: null } as const;
      const submission = { ...data, expectedSeconds: null, submittedAt: clock.nowText() };
      accepted(await workRequests.handle(data.id, { type: 'SubmitWork', data: submission }, context));
      return data.id;
    };
    void take('closed-001');
    const id = await put('debian');
    accepted(await removeScopeWorkerPool({ scope: 'ubuntu', pool: 'closed' }, context, application));
    accepted(await addScopeWorkerPool({ scope: 'debian', pool: 'closed' }, {}, context, application));
    assert.is(await takenBy(id), 'closed-001', 'it waits for work that waits, and is given it without asking again');
  }));

test('the queue is read from views that show all that the log held when its following began', async () => {
  const application = await openTestApplication();
  const ended = new AbortController();
  try {
    await foundPool(application);
    await readyWorker(application, 'builder', null);
    await application.catchUp();
    const data = { id: 'w', scope: 'debian', architecture: 'amd64', pool: null, payload: null } as const;
    const submission = { ...data, expectedSeconds: null, submittedAt: application.clock.nowText() };
    accepted(await application.workRequests.handle('w', { type: 'SubmitWork', data: submission }, application.context));
    const dispatcher = openWorkDispatcher(application);
    const following = dispatcher.run(ended.signal);
    const work = await dispatcher.take({ worker: 'builder', run: null }, after(3_000));
    ended.abort();
    await following;
    assert.is(work?.id, 'w');
  } finally {
    ended.abort();
    await application.close();
  }
});

test.run();
