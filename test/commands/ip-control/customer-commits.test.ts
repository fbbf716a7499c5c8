import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { commitKey } from '../../../src/commands/ip-control/customer-state.ts';
import { pendingAddresses, regionAddresses } from '../../../src/domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { specify, stateAfter } from '../../specification.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitHeldUp,
  commitRequested,
  commitSliceDeployed,
  disabled,
  enabled,
  recordCompleted,
  recordFailed,
  recordHeldUp,
  recordSlice,
  registered,
  requestCommit,
} from './customer-examples.ts';

const { given } = specify(customerDecider);

const owner = [registered(), assigned(1, '192.0.2.0/24'), assigned(2, '198.51.100.0/24', 2)] as const;
const told = [registered({ webhookUrl: 'https://hooks.example/' }), assigned(1, '192.0.2.0/24')] as const;
const one = disabled(['192.0.2.1']);
const another = disabled(['192.0.2.9']);

function registeredAfter(events: readonly CustomerEvent[]) {
  const state = stateAfter(customerDecider, ...events);
  if (state.phase === 'unregistered') throw new Error('the customer is registered');
  return state;
}

function pending(...events: readonly CustomerEvent[]): readonly string[] {
  return pendingAddresses(regionAddresses(registeredAfter(events).ledger, 1)).toJSON();
}

function content(...events: readonly CustomerEvent[]): readonly string[] | undefined {
  return regionAddresses(registeredAfter(events).ledger, 1).inDeployment?.content.toJSON();
}

// Requesting

test('a commit is requested where something was touched', () => {
  given(...owner, one)
    .when(requestCommit('c1'))
    .yields(commitRequested({ commitSetId: 'c1' }));
});

test('the reason is told', () => {
  given(...owner, one)
    .when(requestCommit('c1', 1, 'synchronous'))
    .yields(commitRequested({ commitSetId: 'c1' }, 'synchronous'));
});

test('where nothing is pending there is nothing to deploy', () => {
  given(...owner)
    .when(requestCommit())
    .yieldsNothing();
  given(...owner, one)
    .when(requestCommit('c1', 2))
    .yieldsNothing();
  given(...owner, one)
    .when(requestCommit('c1', 99))
    .yieldsNothing();
  given(...owner, one, commitRequested(), commitCompleted())
    .when(requestCommit('c2'))
    .yieldsNothing();
});

test('an address that was disabled and enabled again is pending, and worth a commit', () => {
  const events = [...owner, one, enabled(['192.0.2.1'])];
  assert.equal(pending(...events), ['192.0.2.1']);
  given(...events)
    .when(requestCommit())
    .yields(commitRequested());
  assert.equal(content(...events, commitRequested()), []);
});

test('one commit of a region runs at a time', () => {
  given(...owner, one, commitRequested())
    .when(requestCommit('c2'))
    .yieldsNothing();
  given(...owner, one, commitRequested(), another)
    .when(requestCommit('c2'))
    .yieldsNothing();
});

test('regions are deployed independently of each other', () => {
  given(...owner, one, commitRequested(), disabled(['198.51.100.1'], 2))
    .when(requestCommit('c2', 2))
    .yields(commitRequested({ commitSetId: 'c2', regionId: 2 }));
});

test('the two lists are deployed independently of each other: a commit of the one says nothing of the other', () => {
  given(...owner, one)
    .when({ type: 'RequestCommit', data: { regionId: 1, list: 'SRC_WHITELIST', commitSetId: 'c1', reason: 'quiet' } })
    .yieldsNothing();
});

// What a commit carries

test('a commit carries every disabled address, and all that was touched until it was requested', () => {
  const events = [...owner, disabled(['192.0.2.1-192.0.2.3']), commitRequested(), commitCompleted(), another];
  assert.equal(content(...events, commitRequested({ commitSetId: 'c2' })), ['192.0.2.1-192.0.2.3', '192.0.2.9']);
  assert.equal(pending(...events, commitRequested({ commitSetId: 'c2' })), ['192.0.2.9']);
});

test('what changes during a deployment is not in it, and stays pending for the next one', () => {
  const events = [...owner, one, commitRequested(), another];
  assert.equal(content(...events), ['192.0.2.1']);
  assert.equal(pending(...events), ['192.0.2.1', '192.0.2.9']);
  assert.equal(pending(...events, commitCompleted()), ['192.0.2.9']);
  given(...events, commitCompleted())
    .when(requestCommit('c2'))
    .yields(commitRequested({ commitSetId: 'c2' }));
});

test('an address changed back during its own deployment is pending after it', () => {
  const events = [...owner, one, commitRequested(), enabled(['192.0.2.1'])];
  assert.equal(content(...events), ['192.0.2.1']);
  assert.equal(pending(...events, commitCompleted()), ['192.0.2.1']);
});

// How a commit ends

test('a success is recorded, and clears what the commit carried', () => {
  given(...owner, one, commitRequested())
    .when(recordCompleted())
    .yields(commitCompleted());
  assert.equal(pending(...owner, one, commitRequested(), commitCompleted()), []);
});

test('a failure is recorded, and what the commit carried is pending again', () => {
  given(...owner, one, commitRequested())
    .when(recordFailed())
    .yields(commitFailed());
  assert.equal(pending(...owner, one, commitRequested(), another, commitFailed()), ['192.0.2.1', '192.0.2.9']);
});

test('a failed commit set is tried again under its own name, and newer changes travel with it', () => {
  const events = [...owner, one, commitRequested(), commitFailed(), another];
  given(...events)
    .when(requestCommit('c2', 1, 'retry'))
    .yields(commitRequested({ commitSetId: 'c1', attempt: 2 }, 'retry'));
  const retried = [...events, commitRequested({ attempt: 2 }, 'retry')];
  assert.equal(content(...retried), ['192.0.2.1', '192.0.2.9']);
  assert.equal(pending(...retried, commitCompleted({ attempt: 2 })), []);
});

test('each failure raises the attempt; after a success the next commit set has its own name', () => {
  const failedTwice = [
    ...owner,
    one,
    commitRequested(),
    commitFailed(),
    commitRequested({ attempt: 2 }),
    commitFailed({ attempt: 2 }),
  ];
  given(...failedTwice)
    .when(requestCommit('c9'))
    .yields(commitRequested({ attempt: 3 }));
  given(...failedTwice, commitRequested({ attempt: 3 }), commitCompleted({ attempt: 3 }), another)
    .when(requestCommit('c9'))
    .yields(commitRequested({ commitSetId: 'c9' }));
});

test('an outcome that comes late, or twice, says nothing', () => {
  given(...owner, one)
    .when(recordCompleted())
    .yieldsNothing();
  given(...owner, one, commitRequested(), commitCompleted())
    .when(recordCompleted())
    .yieldsNothing();
  given(...owner, one, commitRequested(), commitCompleted())
    .when(recordFailed())
    .yieldsNothing();
  given(...owner, one, commitRequested(), commitFailed())
    .when(recordCompleted())
    .yieldsNothing();
  given(...owner, one, commitRequested(), commitFailed(), commitRequested({ attempt: 2 }))
    .when(recordCompleted({ attempt: 1 }))
    .yieldsNothing();
  given(...owner, one, commitRequested({ commitSetId: 'c2' }))
    .when(recordFailed({ commitSetId: 'c1' }))
    .yieldsNothing();
  given(...owner, one, commitRequested())
    .when(recordCompleted({ regionId: 2 }))
    .yieldsNothing();
});

test('a commit knows the revision of the event that requested it', () => {
  const events = [...owner, one, commitRequested()];
  const commit = registeredAfter(events).commits.get(commitKey(1, 'BLACKHOLE'));
  assert.is(commit?.revision, BigInt(events.length - 1));
});

// Who is told

test('without a webhook URL nobody is told', () => {
  given(...owner, one, commitRequested())
    .when(recordCompleted())
    .yields(commitCompleted({}, false));
  given(...owner, one, commitRequested())
    .when(recordFailed())
    .yields(commitFailed({}, false));
});

test('with a webhook URL a success is told', () => {
  given(...told, one, commitRequested())
    .when(recordCompleted())
    .yields(commitCompleted({}, true));
});

test('a failure is told once for each commit set, then its success', () => {
  const failed = [...told, one, commitRequested(), commitFailed({}, true)];
  given(...told, one, commitRequested())
    .when(recordFailed())
    .yields(commitFailed({}, true));
  given(...failed, commitRequested({ attempt: 2 }))
    .when(recordFailed({ attempt: 2 }))
    .yields(commitFailed({ attempt: 2 }, false));
  const failedTwice = [
    ...failed,
    commitRequested({ attempt: 2 }),
    commitFailed({ attempt: 2 }),
    commitRequested({ attempt: 3 }),
  ];
  given(...failedTwice)
    .when(recordFailed({ attempt: 3 }))
    .yields(commitFailed({ attempt: 3 }, false));
  given(...failedTwice)
    .when(recordCompleted({ attempt: 3 }))
    .yields(commitCompleted({ attempt: 3 }, true));
});

test('the next commit set tells its own first failure', () => {
  given(
    ...told,
    one,
    commitRequested(),
    commitFailed({}, true),
    commitRequested({ attempt: 2 }),
    commitCompleted({ attempt: 2 }, true),
    another,
    commitRequested({ commitSetId: 'c2' }),
  )
    .when(recordFailed({ commitSetId: 'c2' }))
    .yields(commitFailed({ commitSetId: 'c2' }, true));
});

test('whether somebody is told is decided by the URL at the moment of the outcome', () => {
  given(...told, one, commitRequested(), { type: 'CustomerSettingsChanged', data: { changes: { webhookUrl: null } } })
    .when(recordCompleted())
    .yields(commitCompleted({}, false));
});

// Going on slowly

test('how far an attempt has come is recorded as long as it is the one under way', () => {
  given(...owner, one, commitRequested())
    .when(recordSlice(1, 3))
    .yields(commitSliceDeployed(1, 3));
  given(...owner, one, commitRequested())
    .when(recordHeldUp(['core2']))
    .yields(commitHeldUp(['core2']));
  for (const settled of [commitCompleted(), commitFailed(), commitRequested({ attempt: 2 })]) {
    given(...owner, one, commitRequested(), settled)
      .when(recordSlice(1, 3))
      .yieldsNothing();
    given(...owner, one, commitRequested(), settled)
      .when(recordHeldUp(['core2']))
      .yieldsNothing();
  }
});

for (const [how, slow] of [
  ['comes in slices', commitSliceDeployed(1, 3)],
  ['waits for a router', commitHeldUp(['core2'])],
] as const) {
  test(`an attempt that ${how} is gone on with by the next one where something new was touched, and only there`, () => {
    given(...owner, one, commitRequested(), another)
      .when(requestCommit('c9'))
      .yieldsNothing();
    given(...owner, one, commitRequested(), slow)
      .when(requestCommit('c9'))
      .yieldsNothing();
    const under = [...owner, one, commitRequested(), slow, another];
    given(...under)
      .when(requestCommit('c9'))
      .yields(commitRequested({ attempt: 2 }));
    const overtaken = [...under, commitRequested({ attempt: 2 })];
    assert.equal(pending(...overtaken), ['192.0.2.1', '192.0.2.9']);
    assert.equal(content(...overtaken), ['192.0.2.1', '192.0.2.9']);
    // The attempt that was overtaken settles nothing, and tells nobody.
    given(...overtaken)
      .when(recordFailed())
      .yieldsNothing();
    given(...overtaken)
      .when(recordCompleted())
      .yieldsNothing();
    // The next one has to be seen slow itself.
    given(...overtaken, disabled(['192.0.2.77']))
      .when(requestCommit('c9'))
      .yieldsNothing();
    assert.equal(pending(...overtaken, commitCompleted({ attempt: 2 })), []);
  });
}

test.run();
