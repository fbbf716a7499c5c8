import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { deployCommit } from '../../../src/processes/ip-control/deploy-commit.ts';
import { dutiesAfter, recordedInOrder, specifyProcess } from '../../specification.ts';
import {
  commitCompleted,
  commitFailed,
  commitHeldUp,
  commitRequested,
  commitSliceDeployed,
} from '../../commands/ip-control/customer-examples.ts';

const NOW = '2026-11-27T12:00:00Z';
const handles = new Set<string>(deployCommit.handles);
type Watched = Parameters<typeof deployCommit.keysOf>[0];

function watched(events: readonly CustomerEvent[], stream = 'customer-7'): readonly Watched[] {
  const all: readonly RecordedEvent[] = recordedInOrder(events, NOW, 0, stream);
  return all.filter((event): event is Watched => isHandled(handles, event));
}

function given(...events: readonly CustomerEvent[]) {
  return specifyProcess(deployCommit).given(...watched(events));
}

const deployment = (regionId = 1, commitSetId = 'c1', attempt = 1, step = 0) =>
  ({ type: 'DeployCommit', data: { customerId: 7, regionId, list: 'BLACKHOLE', commitSetId, attempt, step } }) as const;

test('a requested commit owes its deployment at once, for as long as its outcome is not recorded', () => {
  given(commitRequested()).at(NOW).owes(deployment());
  given(commitRequested()).at('2027-11-27T12:00:00Z').owes(deployment());
  given(commitRequested()).wakesAt('never');
});

test('a recorded outcome pays it', () => {
  given(commitRequested(), commitCompleted()).isOver();
  given(commitRequested(), commitFailed()).isOver();
});

test('each attempt is a debt of its own', () => {
  const again = [commitRequested(), commitFailed(), commitRequested({ attempt: 2 })];
  given(...again)
    .at(NOW)
    .owes(deployment(1, 'c1', 2));
  const [first] = dutiesAfter(deployCommit, watched([commitRequested()]), NOW);
  const [second] = dutiesAfter(deployCommit, watched(again), NOW);
  assert.is.not(first?.id, second?.id);
});

test('the outcome of another attempt pays nothing', () => {
  given(commitRequested({ attempt: 2 }), commitFailed({ attempt: 1 }))
    .at(NOW)
    .owes(deployment(1, 'c1', 2));
  given(commitRequested({ commitSetId: 'c2' }), commitCompleted({ commitSetId: 'c1' }))
    .at(NOW)
    .owes(deployment(1, 'c2'));
});

test('regions are deployed to independently of each other', () => {
  given(commitRequested(), commitRequested({ commitSetId: 'c2', regionId: 2 }))
    .at(NOW)
    .owes(deployment(), deployment(2, 'c2'));
  given(commitRequested(), commitRequested({ commitSetId: 'c2', regionId: 2 }), commitCompleted())
    .at(NOW)
    .owes(deployment(2, 'c2'));
});

test('an attempt that goes on slowly is a debt of its own for each step, and none once another goes on with it', () => {
  given(commitRequested(), commitSliceDeployed(1, 3))
    .at(NOW)
    .owes(deployment(1, 'c1', 1, 1));
  given(commitRequested(), commitSliceDeployed(1, 3), commitHeldUp(['core2']))
    .at(NOW)
    .owes(deployment(1, 'c1', 1, 2));
  given(commitRequested(), commitSliceDeployed(1, 3), commitRequested({ attempt: 2 }))
    .at(NOW)
    .owes(deployment(1, 'c1', 2));
  given(commitRequested(), commitSliceDeployed(1, 3), commitCompleted()).isOver();
  const ids = [1, 2, 3].map(
    (slices) =>
      dutiesAfter(
        deployCommit,
        watched([commitRequested(), ...Array.from({ length: slices }, () => commitSliceDeployed(1, 3))]),
        NOW,
      )[0]?.id,
  );
  assert.is(new Set(ids).size, 3);
});

test.run();
