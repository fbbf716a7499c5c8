import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addScopeWorkerPool, removeScopeWorkerPool } from '../../../src/application/worker-pools/scopes.ts';
import type { ScopeEvent } from '../../../src/events/worker-pools/scope.ts';
import type { WorkerPoolEvent } from '../../../src/events/worker-pools/worker-pool.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { finishMemberships, performFinishMembership } from '../../../src/processes/worker-pools/finish-memberships.ts';
import { recordedInOrder, specifyProcess } from '../../specification.ts';
import { openTestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const limits = { target_max_seconds_per_month: null, target_latency_seconds: null };
const AT = '2026-11-27T20:50:00.000+00:00';
/** The one who began it has had time to finish it. */
const LATER = '2026-11-27T20:50:03.000+00:00';
const of = { scope: 'debian', pool: 'spot' };
const terms = { priority: 3, limits };

type Watched =
  | Extract<WorkerPoolEvent, { type: 'WorkerPoolScopeAdmitted' | 'WorkerPoolScopeReleased' | 'WorkerPoolDeleted' }>
  | Extract<ScopeEvent, { type: 'ScopeWorkerPoolAdded' | 'ScopeWorkerPoolRemoved' }>;

const admitted: Watched = { type: 'WorkerPoolScopeAdmitted', data: { ...of, ...terms } };
const added: Watched = { type: 'ScopeWorkerPoolAdded', data: { ...of, ...terms } };
const released: Watched = { type: 'WorkerPoolScopeReleased', data: of };
const removed: Watched = { type: 'ScopeWorkerPoolRemoved', data: of };
const deleted: Watched = { type: 'WorkerPoolDeleted', data: { pool: 'spot', scopes: ['debian'], running: [] } };

function given(...events: readonly Watched[]) {
  return specifyProcess(finishMemberships).given(...recordedInOrder(events, AT));
}

test('a scope that a pool admitted follows, once', () => {
  given(admitted)
    .at(LATER)
    .owes({ type: 'FollowIntoScope', data: { ...of, ...terms } });
  given(admitted, added).at(LATER).owesNothing();
});

test('the one who began it is left to finish it, for a moment', () => {
  given(admitted).at(AT).owesNothing();
  given(admitted).wakesAt(LATER);
});

test('a scope that a pool gave back, by itself or with its deletion, follows as well', () => {
  given(admitted, added, released).at(LATER).owes({ type: 'FollowOutOfScope', data: of });
  given(admitted, added, deleted).at(LATER).owes({ type: 'FollowOutOfScope', data: of });
  given(admitted, added, released, removed).isOver();
  given(admitted, released).isOver();
});

test('what a command left undone is finished, and a duty that is out of date does nothing', async () => {
  const application = await openTestApplication();
  try {
    await foundPool(application);
    accepted(
      await application.scopes.handle('kali', { type: 'CreateScope', data: { scope: 'kali' } }, application.context),
    );
    const perform = performFinishMembership(application);
    const signal = new AbortController().signal;
    accepted(
      await application.workerPools.handle(
        'spot',
        { type: 'AdmitScope', data: { scope: 'kali', ...terms } },
        application.context,
      ),
    );
    const into = { type: 'FollowIntoScope', id: 'x', data: { scope: 'kali', pool: 'spot', ...terms } } as const;
    const out = { type: 'FollowOutOfScope', id: 'y', data: { scope: 'kali', pool: 'spot' } } as const;
    await perform(out, signal);
    assert.equal((await application.scopes.state('kali')).state.pools, {});
    await perform(into, signal);
    assert.equal((await application.scopes.state('kali')).state.pools, { spot: terms });
    accepted(await removeScopeWorkerPool({ scope: 'kali', pool: 'spot' }, application.context, application));
    await perform(into, signal);
    assert.equal((await application.scopes.state('kali')).state.pools, {});
  } finally {
    await application.close();
  }
});

test('a scope that was deleted at the moment in which a pool admitted it is given back', async () => {
  const application = await openTestApplication();
  try {
    await foundPool(application);
    const admit = { type: 'AdmitScope', data: { scope: 'gone', ...terms } } as const;
    accepted(await application.workerPools.handle('spot', admit, application.context));
    const into = { type: 'FollowIntoScope', id: 'x', data: { scope: 'gone', pool: 'spot', ...terms } } as const;
    await performFinishMembership(application)(into, new AbortController().signal);
    assert.not((await application.workerPools.state('spot')).state.scopes.includes('gone'));
  } finally {
    await application.close();
  }
});

test('two scopes that want a pool for one at the same moment: one gets it, whichever process asks', async () => {
  const application = await openTestApplication();
  try {
    await foundPool(application, { instance_wide: false });
    accepted(await removeScopeWorkerPool(of, application.context, application));
    const names = ['s1', 's2', 's3', 's4'];
    for (const name of names) {
      accepted(
        await application.scopes.handle(name, { type: 'CreateScope', data: { scope: name } }, application.context),
      );
    }
    const answers = await Promise.all(
      names.map((scope) =>
        addScopeWorkerPool({ scope, pool: 'spot' }, {}, application.context, application.anotherProcess()),
      ),
    );
    assert.is(answers.filter((answer) => !isRefusal(answer)).length, 1);
    const states = await Promise.all(names.map((name) => application.scopes.state(name)));
    assert.is(states.filter(({ state }) => 'spot' in state.pools).length, 1);
  } finally {
    await application.close();
  }
});

test.run();
