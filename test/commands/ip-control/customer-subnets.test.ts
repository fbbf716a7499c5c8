import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { pendingAddresses, regionAddresses } from '../../../src/domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { specify, stateAfter } from '../../specification.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitRequested,
  disable,
  disabled,
  enable,
  enabled,
  one,
  registered,
  released,
  requestCommit,
} from './customer-examples.ts';

const { given } = specify(customerDecider);

const subnet = (subnetId: number, cidr: string, regionId = 1) => ({
  subnetId,
  cidr,
  regionId,
  asn: 64_500,
  metro: 'AMS',
});

function region(events: readonly CustomerEvent[], regionId = 1) {
  const state = stateAfter(customerDecider, ...events);
  if (state.phase === 'unregistered') throw new Error('the customer is registered');
  const { owned, disabled: off, touched, inDeployment } = regionAddresses(state.ledger, regionId);
  const pending = pendingAddresses(regionAddresses(state.ledger, regionId));
  return {
    owned: owned.toJSON(),
    disabled: off.toJSON(),
    touched: touched.toJSON(),
    pending: pending.toJSON(),
    captured: inDeployment?.captured.toJSON(),
    content: inDeployment?.content.toJSON(),
  };
}

test('a subnet is assigned with all addresses enabled and none pending', () => {
  given(registered())
    .when({ type: 'AssignSubnet', data: subnet(1, '192.0.2.0/24') })
    .yields(assigned(1, '192.0.2.0/24'));
  const { owned, disabled: off, pending } = region([registered(), assigned(1, '192.0.2.0/24')]);
  assert.equal({ owned, off, pending }, { owned: ['192.0.2.0-192.0.2.255'], off: [], pending: [] });
});

test('a subnet of any size is held as one range', () => {
  const { owned } = region([
    registered(),
    assigned(1, '2001:db8::/32'),
    assigned(2, '10.0.0.0/8'),
    assigned(3, '::/0', 2),
  ]);
  assert.equal(owned, ['10.0.0.0-10.255.255.255', '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff']);
});

test('assigning it again, as a restart may, says nothing new', () => {
  given(registered(), assigned(1, '192.0.2.0/24'))
    .when({ type: 'AssignSubnet', data: subnet(1, '192.0.2.0/24') })
    .yieldsNothing();
});

test('a late repetition does not bring back a subnet that was released meanwhile', () => {
  given(registered(), assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24'))
    .when({ type: 'AssignSubnet', data: subnet(1, '192.0.2.0/24') })
    .yieldsNothing();
});

test('the same block may come back under a new number', () => {
  given(registered(), assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24'))
    .when({ type: 'AssignSubnet', data: subnet(2, '192.0.2.0/24') })
    .yields(assigned(2, '192.0.2.0/24'));
});

test('a release says what was disabled in the subnet, and nothing of its neighbours', () => {
  given(registered(), assigned(1, '192.0.2.0/25'), assigned(2, '192.0.2.128/25'), disabled(['192.0.2.100-192.0.2.130']))
    .when({ type: 'ReleaseSubnet', data: { subnetId: 1 } })
    .yields(released(1, '192.0.2.0/25', ['192.0.2.100-192.0.2.127']));
});

test('releasing a subnet with nothing disabled changes nothing on routers', () => {
  given(registered(), assigned(1, '192.0.2.0/24'))
    .when({ type: 'ReleaseSubnet', data: { subnetId: 1 } })
    .yields(released(1, '192.0.2.0/24', []));
  given(registered(), assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24')).when(requestCommit()).yieldsNothing();
});

test('releasing what is not there, or no longer, says nothing new', () => {
  given(registered())
    .when({ type: 'ReleaseSubnet', data: { subnetId: 9 } })
    .yieldsNothing();
  given(registered(), assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24'))
    .when({ type: 'ReleaseSubnet', data: { subnetId: 1 } })
    .yieldsNothing();
});

test('what was disabled in a released subnet still has to leave the routers', () => {
  const events = [
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.7']),
    commitRequested(),
    commitCompleted(),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
  ];
  const { owned, disabled: off, touched } = region(events);
  assert.equal({ owned, off, touched }, { owned: [], off: [], touched: ['192.0.2.7'] });
  given(...events)
    .when(requestCommit('c2'))
    .yields(commitRequested({ commitSetId: 'c2' }));
  assert.equal(region([...events, commitRequested({ commitSetId: 'c2' })]).content, []);
});

test('a subnet released during a deployment goes with the next one', () => {
  const events = [
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.7']),
    commitRequested(),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
  ];
  assert.equal(region(events).content, ['192.0.2.7']);
  assert.equal(region([...events, commitCompleted()]).pending, ['192.0.2.7']);
  assert.equal(region([...events, commitFailed()]).touched, ['192.0.2.7']);
  given(...events, commitCompleted())
    .when(requestCommit('c2'))
    .yields(commitRequested({ commitSetId: 'c2' }));
});

test('a released subnet can be changed no more', () => {
  const events = [
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.7']),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
  ];
  given(...events)
    .when(enable(one('192.0.2.7')))
    .isRefused('address-not-found');
  given(...events)
    .when(disable(one('192.0.2.8')))
    .isRefused('address-not-found');
});

test('a subnet that comes back begins enabled; what is still on the routers is pending until it has left them', () => {
  const events = [
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.7', '192.0.2.9']),
    enabled(['192.0.2.9']),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
    assigned(2, '192.0.2.0/24'),
  ];
  const { owned, disabled: off, touched } = region(events);
  assert.equal(
    { owned, off, touched },
    { owned: ['192.0.2.0-192.0.2.255'], off: [], touched: ['192.0.2.7', '192.0.2.9'] },
  );
  given(...events)
    .when(disable(one('192.0.2.7')))
    .yields(disabled(['192.0.2.7']));
});

test.run();
