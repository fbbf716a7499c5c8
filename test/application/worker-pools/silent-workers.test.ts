import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeSilence } from '../../../src/application/worker-pools/silent-workers.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

type Scene = Readonly<{
  application: TestApplication;
  /** Lets time pass, and everything be seen that follows from it. */
  pass: (seconds: number) => Promise<void>;
  /** The service hears of a worker now. */
  hear: (worker: string) => void;
  /** How often the providers were asked. */
  asked: () => number;
  /** Another server begins to lead, which has heard of nobody. */
  takeOver: () => void;
}>;

/** A server judges silence from now on. `areShared`: others hear of workers as well. */
async function judged(work: (scene: Scene) => Promise<void>, areShared = false): Promise<void> {
  const application = await openTestApplication();
  const { clock, log } = application;
  let heard = new Map<string, number>();
  let stop = new AbortController();
  let asked = 0;
  let judging: Promise<unknown> = Promise.resolve();
  const lastHeard = (worker: string): number | undefined => heard.get(worker);
  const lead = (): void => {
    const { signal } = stop;
    const dependencies = { ...application, clock, log, lastHeard, areShared };
    judging = Promise.all([judging, judgeSilence(dependencies, () => void (asked += 1), signal, signal)]);
  };
  try {
    await foundPool(application);
    await runningWorker(application, 'spot-001', 'spot');
    await runningWorker(application, 'builder', null);
    await application.catchUp();
    lead();
    await work({
      application,
      pass: async (seconds) => {
        for (let passed = 0; passed < seconds; passed += 10) {
          await clock.advance({ seconds: 10 });
          // What was judged is recorded by now, or will be before the next look.
          await new Promise((resolve) => void setTimeout(resolve, 5));
          await application.catchUp();
        }
      },
      hear: (worker) => void heard.set(worker, clock.monotonicMilliseconds()),
      asked: () => asked,
      takeOver: () => {
        stop.abort();
        stop = new AbortController();
        heard = new Map();
        lead();
      },
    });
    stop.abort();
    await judging;
  } finally {
    await application.close();
  }
}

/** A worker that has a token and runs a task. */
async function runningWorker(application: TestApplication, worker: string, pool: string | null): Promise<void> {
  const { workers, clock, context } = application;
  const at = clock.nowText();
  const architectures = ['amd64'] as const;
  const activationSha256 = 'a'.repeat(64);
  const run = pool === null ? null : 'run-1';
  const tell = async (command: Parameters<typeof workers.handle>[1]): Promise<void> => {
    accepted(await workers.handle(worker, command, context));
  };
  const alone = run === null ? { activationSha256 } : {};
  await tell({ type: 'RegisterWorker', data: { worker, pool, architectures, ...alone, at } });
  if (run !== null) {
    const asked = { run, providerAccount: 'hcloud', architectures, activationSha256, because: 'asked', at };
    await tell({ type: 'RequestLaunch', data: asked });
    await tell({ type: 'StartCreation', data: { run, at } });
    await tell({ type: 'RecordInstanceCreated', data: { run, instanceCreatedAt: at, workerPoolData: {} } });
  }
  await tell({ type: 'ActivateWorker', data: { activationSha256, tokenSha256: 'b'.repeat(64), at } });
  await tell({ type: 'RecordWorkerConnected', data: { run, dynamicMetadata: {}, at } });
  await tell({ type: 'StartTask', data: { task: `task-of-${worker}`, scope: 'debian', expectedSeconds: 600, at } });
}

async function seen({ views }: TestApplication, worker: string) {
  const view = await views.workers.get(worker);
  return { isSilent: view?.silentSince !== null, task: view?.task?.task ?? null, ending: view?.ending?.code ?? null };
}

async function say(
  { workers, context }: TestApplication,
  worker: string,
  command: Parameters<TestApplication['workers']['handle']>[1],
): Promise<void> {
  accepted(await workers.handle(worker, command, context));
}

/** Lets time pass until something is so, at most so many seconds, and says how many it took. */
async function until(atMost: number, isSo: () => Promise<boolean>, pass: Scene['pass']): Promise<number> {
  let passed = 0;
  for (; passed < atMost && !(await isSo()); passed += 10) await pass(10);
  return passed;
}

test('after a minute a worker is suspect and its provider is asked, once; after five it is given up', () =>
  judged(async ({ application, pass, asked }) => {
    const [working, alone] = ['task-of-spot-001', 'task-of-builder'];
    await pass(50);
    assert.equal(await seen(application, 'spot-001'), { isSilent: false, task: working, ending: null });
    assert.is(asked(), 0);
    await pass(20);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: working, ending: null });
    assert.equal(await seen(application, 'builder'), { isSilent: true, task: alone, ending: null });
    await pass(220);
    assert.is(asked(), 2, 'once for each');
    assert.is((await seen(application, 'spot-001')).ending, null);
    assert.is((await seen(application, 'builder')).task, alone);
    await pass(30);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: working, ending: 'silent' });
    assert.equal(await seen(application, 'builder'), { isSilent: true, task: null, ending: null });
    const { instance } = (await application.workers.state('spot-001')).state;
    assert.equal(
      [instance?.termination?.forced, instance?.termination?.because],
      [true, 'nothing was heard of spot-001 for 5 min'],
    );
  }));

test('a worker that is heard again is suspect no more, and its silence counts from then', () =>
  judged(async ({ application, pass, hear }) => {
    await pass(70);
    assert.is((await seen(application, 'spot-001')).isSilent, true);
    hear('spot-001');
    await pass(20);
    assert.is((await seen(application, 'spot-001')).isSilent, false);
    await pass(250);
    const { isSilent, ending } = await seen(application, 'spot-001');
    assert.equal([isSilent, ending], [true, null]);
    await pass(60);
    assert.is((await seen(application, 'spot-001')).ending, 'silent');
  }));

test('who is silent stays so under a server that begins to lead, until it is heard or given up', () =>
  judged(async ({ application, pass, hear, takeOver }) => {
    await pass(70);
    takeOver();
    await pass(40);
    assert.is((await seen(application, 'spot-001')).isSilent, true);
    hear('builder');
    await pass(20);
    assert.is((await seen(application, 'builder')).isSilent, false);
    await pass(220);
    assert.is((await seen(application, 'spot-001')).ending, null);
    await pass(40);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: 'task-of-spot-001', ending: 'silent' });
  }));

test('a worker that reports every twenty seconds is left alone', () =>
  judged(async ({ application, pass, hear, asked }) => {
    for (let beats = 0; beats < 20; beats += 1) {
      for (const worker of ['spot-001', 'builder']) hear(worker);
      await pass(20);
    }
    assert.is(asked(), 0);
    assert.equal(await seen(application, 'builder'), { isSilent: false, task: 'task-of-builder', ending: null });
  }));

test('where other servers hear of workers too, one that none answers for is given up an hour after they were asked, and its provider before', () =>
  judged(async ({ application, pass, hear, asked }) => {
    hear('builder');
    await pass(1_790);
    assert.equal(await seen(application, 'spot-001'), { isSilent: false, task: 'task-of-spot-001', ending: null });
    assert.equal(await seen(application, 'builder'), { isSilent: true, task: 'task-of-builder', ending: null });
    assert.is(asked(), 1, 'of the one that this server has heard of');
    const asks = await until(1_820, async () => (await seen(application, 'spot-001')).isSilent, pass);
    assert.ok(asks < 1_820, 'of the other one it asks within an hour');
    await pass(40);
    assert.is(asked(), 1, 'whoever hears of it has a minute to say so');
    await pass(3_540);
    assert.is(asked(), 2);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: 'task-of-spot-001', ending: null });
    assert.equal(await seen(application, 'builder'), { isSilent: true, task: null, ending: null });
    await pass(50);
    assert.is((await seen(application, 'spot-001')).ending, 'silent', 'it is with no server');
    const again = { task: 'again', scope: 'debian', expectedSeconds: 600, at: application.clock.nowText() };
    await say(application, 'builder', { type: 'StartTask', data: again });
    await pass(20);
    assert.equal(await seen(application, 'builder'), { isSilent: false, task: 'again', ending: null });
  }, true));

test('a worker whose server does not answer, being away or of an older release, is left its task while it is restarted', () =>
  judged(async ({ application, pass, hear }) => {
    for (const worker of ['spot-001', 'builder']) hear(worker);
    await pass(1_900);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: 'task-of-spot-001', ending: null });
    assert.equal(await seen(application, 'builder'), { isSilent: true, task: 'task-of-builder', ending: null });
    await say(application, 'spot-001', { type: 'RecordHeard', data: { at: application.clock.nowText() } });
    // What it is told by a worker an older release records as well.
    const next = { task: 'next', scope: 'debian', expectedSeconds: 600, at: application.clock.nowText() };
    await say(application, 'builder', { type: 'FinishTask', data: { ...next, task: 'task-of-builder' } });
    await say(application, 'builder', { type: 'StartTask', data: next });
    await pass(1_790);
    assert.equal(await seen(application, 'spot-001'), { isSilent: false, task: 'task-of-spot-001', ending: null });
    assert.equal(await seen(application, 'builder'), { isSilent: false, task: 'next', ending: null });
  }, true));

test('other servers are not asked of all workers in one look', () =>
  judged(async ({ application, pass }) => {
    const silent = async (): Promise<number> =>
      [await seen(application, 'spot-001'), await seen(application, 'builder')].filter(({ isSilent }) => isSilent)
        .length;
    const first = await until(3_600, async () => (await silent()) > 0, pass);
    assert.ok(first < 3_600);
    await pass(20);
    assert.is(await silent(), 1);
  }, true));

test('a worker that reports to another server from some moment on is left its task, as often as it is asked for', () =>
  judged(async ({ application, pass, hear }) => {
    /** As a server does that is told something by a worker that the log takes for silent. */
    const answer = (): Promise<void> =>
      say(application, 'spot-001', { type: 'RecordHeard', data: { at: application.clock.nowText() } });
    hear('spot-001');
    await pass(70);
    assert.is((await seen(application, 'spot-001')).isSilent, true);
    await answer();
    await pass(1_790);
    assert.is((await seen(application, 'spot-001')).isSilent, false, 'it is not asked again and again');
    const asks = await until(1_830, async () => (await seen(application, 'spot-001')).isSilent, pass);
    assert.ok(asks < 1_830);
    await answer();
    hear('spot-001');
    // Who reports now to this server, now to another is not asked for each time.
    await pass(300);
    assert.equal(await seen(application, 'spot-001'), { isSilent: false, task: 'task-of-spot-001', ending: null });
  }, true));

test('a server that has slept gives up nobody before workers could report again', () =>
  judged(async ({ application, pass, hear }) => {
    hear('spot-001');
    await pass(20);
    await application.clock.advance({ minutes: 10 });
    await pass(20);
    assert.equal(await seen(application, 'spot-001'), { isSilent: true, task: 'task-of-spot-001', ending: null });
    hear('spot-001');
    await pass(40);
    assert.equal(await seen(application, 'spot-001'), { isSilent: false, task: 'task-of-spot-001', ending: null });
  }));

test.run();
