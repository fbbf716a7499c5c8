import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../../src/adapters/ids.ts';
import { openAggregate } from '../../../src/commands/aggregate.ts';
import { commitNow, commitRegionsNow } from '../../../src/application/ip-control/commit-now.ts';
import { type CommitWatch, openCommitWatch } from '../../../src/application/ip-control/commit-watch.ts';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { commitKey, type OpenCommit } from '../../../src/commands/ip-control/customer-state.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { leavingOut, type LeavesOut } from '../../support/stores/leaving-out.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  assigned,
  disable,
  one,
  recordCompleted,
  recordFailed,
  recordSlice,
  registered,
} from '../../commands/ip-control/customer-examples.ts';

type Application = Awaited<ReturnType<typeof openApplication>>;

const test = suite<{ application: Application }>('a commit now');
const context = { actor: 'token:t1', requestId: 'request-1' };
const LOOKS_MAX = 100;

/** A customer with a change, and a deployment that happens when the test says so; what the watch is not given at once is left out. */
async function openApplication(isLeftOut: LeavesOut = () => false) {
  const log = await openEmbeddedLog();
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), assigned(2, '198.51.100.0/24', 2));
  const customers = openAggregate(customerDecider, log.dependencies());
  const watch = await openCommitWatch(leavingOut(log.store, isLeftOut), log.log);
  let looks = 0;
  // One that never rests would stand still with everything else: it is thrown out.
  const counted: CommitWatch = {
    ...watch,
    settledOrSlow: (...attempt) => {
      if ((looks += 1) > LOOKS_MAX) throw new Error('the same deployment is looked at again and again');
      return watch.settledOrSlow(...attempt);
    },
  };
  const stop = new AbortController();
  const watching = watch.run(stop.signal);
  const change = async (text: string): Promise<void> => {
    const answer = await customers.handle(7, disable(one(text)), context);
    if (isRefusal(answer)) throw new Error(answer.because);
  };
  const commitEnd = (regionId = 1) =>
    commitNow(
      { customerId: 7, regionId, list: 'BLACKHOLE', reason: 'synchronous', timeoutMilliseconds: 60_000 },
      context,
      { customers, watch: counted, clock: log.clock, ids: systemIds },
    );
  return {
    log,
    customers,
    watch,
    change,
    commitEnd,
    commit: async (regionId?: number) => (await commitEnd(regionId)).status,
    commitRegions: (...regionIds: readonly number[]) =>
      commitRegionsNow({ customerId: 7, regionIds, timeoutMilliseconds: 60_000 }, context, {
        customers,
        watch: counted,
        clock: log.clock,
        ids: systemIds,
      }),
    /** The commit that is being deployed, as soon as there is one. */
    deploying: (attempt = 1): Promise<OpenCommit> =>
      waitUntil('a commit is requested', async () => {
        const { state } = await customers.state(7);
        const open = state.phase === 'registered' ? state.commits.get(commitKey(1, 'BLACKHOLE')) : undefined;
        return open?.phase === 'deploying' && open.attempt === attempt && open;
      }),
    settle: async ({ commitSetId, attempt }: OpenCommit, isSuccess: boolean) => {
      await customers.handle(7, (isSuccess ? recordCompleted : recordFailed)({ commitSetId, attempt }), context);
    },
    close: async () => {
      stop.abort();
      await watching;
      await log.close();
    },
  };
}

/** Lets a commit that was asked for find the deployment that is under way. */
async function hasJoined(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

test.before.each(async (state) => {
  state.application = await openApplication();
});
test.after.each((state) => state.application.close());

test('where nothing is pending it is a success at once', async ({ application }) => {
  assert.is(await application.commit(), 'success');
  assert.is((await application.log.events('customer-7')).length, 3);
});

test('what is pending is requested at once, and waited for', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  const open = await application.deploying();
  await application.settle(open, true);
  assert.is(await committing, 'success');
  const [requested] = (await application.log.events('customer-7')).filter(({ type }) => type === 'CommitRequested');
  assert.is(Object(requested?.data).reason, 'synchronous');
  assert.is(requested?.metadata.actor, 'token:t1');
  assert.is(application.log.clock.waiting(), 0, 'no timer is left');
});

test('whether it was requested for that is told: not where nothing is pending, or one is under way', async ({
  application,
}) => {
  assert.equal(await application.commitEnd(), { status: 'success', isRequested: false });
  await application.change('192.0.2.1');
  const ends = [application.commitEnd(), application.commitEnd()];
  await application.settle(await application.deploying(), true);
  const told = (await Promise.all(ends)).map(({ status, isRequested }) => `${status} ${isRequested}`);
  assert.equal(told.toSorted(), ['success false', 'success true']);
});

test('a failure is told; what failed stays pending', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  await application.settle(await application.deploying(), false);
  assert.is(await committing, 'failed');
});

test('an end that following the log leaves out is told at the next event of the customer', async () => {
  const application = await openApplication(({ type }) => type === 'CommitCompleted');
  try {
    await application.change('192.0.2.1');
    const committing = application.commit();
    await application.settle(await application.deploying(), true);
    await application.change('192.0.2.2');
    assert.is(await committing, 'success');
    assert.equal(application.watch.ended(), [{ regionId: 1, list: 'BLACKHOLE', status: 'success', count: 1 }]);
  } finally {
    await application.close();
  }
});

test('when its time is up it is in progress, and goes on', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  await application.deploying();
  await application.log.clock.advance({ seconds: 59 });
  let status: string | undefined;
  void committing.then((answer) => (status = answer));
  await new Promise((resolve) => void setImmediate(resolve));
  assert.is(status, undefined);
  await application.log.clock.advance({ seconds: 1 });
  assert.is(await committing, 'in_progress');
  await application.settle(await application.deploying(), true);
  assert.is(await application.commit(), 'success');
});

test('a deployment that was under way before the change says nothing of it: the next one does', async ({
  application,
}) => {
  await application.change('192.0.2.1');
  const earlier = application.commit();
  const first = await application.deploying();
  await application.change('192.0.2.2');
  const later = application.commit();
  await hasJoined();
  await application.settle(first, true);
  assert.is(await earlier, 'success');
  const second = await application.deploying();
  assert.is.not(second.commitSetId, first.commitSetId);
  await application.settle(second, false);
  assert.is(await later, 'failed');
});

test('a deployment that carries the change already is joined', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = [application.commit(), application.commit(), application.commit()];
  await application.settle(await application.deploying(), true);
  assert.equal(await Promise.all(committing), ['success', 'success', 'success']);
  assert.is((await application.log.events('customer-7')).filter(({ type }) => type === 'CommitRequested').length, 1);
});

test('a commit that failed before is tried again at once', async ({ application }) => {
  await application.change('192.0.2.1');
  const failing = application.commit();
  await application.settle(await application.deploying(), false);
  await failing;
  const again = application.commit();
  await application.settle(await application.deploying(2), true);
  assert.is(await again, 'success');
});

test('it does not matter which process deploys', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  const open = await application.deploying();
  const there = openAggregate(customerDecider, application.log.dependencies({ store: application.log.another() }));
  await there.handle(7, recordCompleted(open), context);
  assert.is(await committing, 'success');
});

test('other regions, and other customers, are not waited for', async ({ application }) => {
  await application.change('198.51.100.1');
  assert.is(await application.commit(), 'success');
  assert.is((await application.log.events('customer-7')).filter(({ type }) => type === 'CommitRequested').length, 0);
});

// Several regions, until nothing is pending in them

test('regions in which nothing is pending are a success at once', async ({ application }) => {
  await application.change('198.51.100.1');
  assert.is((await application.commitRegions(1)).status, 'success');
  assert.is((await application.commitRegions()).status, 'success');
  assert.is((await application.log.events('customer-7')).filter(({ type }) => type === 'CommitRequested').length, 0);
});

test('what is changed while regions are deployed is waited for too', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commitRegions(1, 2);
  const first = await application.deploying();
  await application.change('192.0.2.2');
  await application.settle(first, true);
  const second = await waitUntil('the next commit', async () => {
    const open = await application.deploying();
    return open.commitSetId !== first.commitSetId && open;
  });
  await application.settle(second, true);
  const { status, state } = await committing;
  assert.is(status, 'success');
  assert.ok(state.phase === 'registered' && state.commits.size === 0);
  assert.is(application.log.clock.waiting(), 0, 'no timer is left');
});

test('a failure in one of the regions is the answer', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commitRegions(1, 2);
  await application.settle(await application.deploying(), false);
  assert.is((await committing).status, 'failed');
});

test('all commits of a request share its time', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commitRegions(1);
  const first = await application.deploying();
  await application.log.clock.advance({ seconds: 50 });
  await application.change('192.0.2.2');
  await application.settle(first, true);
  await waitUntil('the next commit', async () => (await application.deploying()).commitSetId !== first.commitSetId);
  await waitUntil('it is waited for', () => application.log.clock.waiting() > 0);
  await application.log.clock.advance({ seconds: 10 });
  assert.is((await committing).status, 'in_progress');
});

// The watch alone

test('the watch tells how an attempt ended, before or after it is asked', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  const open = await application.deploying();
  const never = new AbortController().signal;
  const asked = application.watch.settled(open.commitSetId, 1, never);
  await application.settle(open, true);
  assert.is(await asked, 'success');
  assert.is(await application.watch.settled(open.commitSetId, 1, never), 'success');
  await committing;
});

test('whoever stops waiting is told nothing', async ({ application }) => {
  const stop = new AbortController();
  const waiting = application.watch.settled('c9', 1, stop.signal);
  stop.abort();
  assert.is(await waiting, undefined);
  assert.is(await application.watch.settled('c9', 1, stop.signal), undefined);
});

test('two that wait for the same attempt are both told', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  const open = await application.deploying();
  const [one1, stopped] = [new AbortController(), new AbortController()];
  const waits: Promise<Awaited<ReturnType<CommitWatch['settled']>>>[] = [
    application.watch.settled(open.commitSetId, 1, one1.signal),
    application.watch.settled(open.commitSetId, 1, stopped.signal),
  ];
  stopped.abort();
  await application.settle(open, false);
  assert.equal(await Promise.all(waits), ['failed', undefined]);
  await committing;
});

test('a deployment that goes on in slices takes what came meanwhile along, and is waited for as a whole', async ({
  application,
}) => {
  await application.change('192.0.2.1');
  const first = application.commit();
  const open = await application.deploying();
  await application.change('192.0.2.2');
  const second = application.commit();
  await hasJoined();
  await application.customers.handle(7, recordSlice(1, 3, open), context);
  const next = await application.deploying(2);
  assert.is(next.commitSetId, open.commitSetId);
  await application.settle(next, true);
  assert.is(await first, 'success', 'the attempt that carried it was overtaken');
  assert.is(await second, 'success');
});

test('what is still coming in slices when the time is up is in progress', async ({ application }) => {
  await application.change('192.0.2.1');
  const committing = application.commit();
  await application.customers.handle(7, recordSlice(1, 3, await application.deploying()), context);
  await hasJoined();
  await application.log.clock.advance({ seconds: 60 });
  assert.is(await committing, 'in_progress');
});

test('one that is slow already, and carries all that is pending, is waited for to its end', async ({ application }) => {
  await application.change('192.0.2.1');
  const asked = application.commit();
  const open = await application.deploying();
  await application.customers.handle(7, recordSlice(1, 3, open), context);
  await hasJoined();
  const ends = Promise.allSettled([asked, application.commit()]);
  await hasJoined();
  await application.settle(open, true);
  assert.equal(await ends, [
    { status: 'fulfilled', value: 'success' },
    { status: 'fulfilled', value: 'success' },
  ]);
  assert.is((await application.log.events('customer-7')).filter(({ type }) => type === 'CommitRequested').length, 1);
});

test.run();
