import { test } from 'uvu';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { specify } from '../../specification.ts';
import {
  assigned,
  block,
  commitCompleted,
  commitRequested,
  disable,
  disabled,
  enable,
  enabled,
  list,
  one,
  ranges,
  registered,
} from './customer-examples.ts';

const { given } = specify(customerDecider);

const owner = [registered(), assigned(1, '192.0.2.0/24'), assigned(2, '2001:db8::/48')] as const;
const inTwoRegions = [...owner, assigned(3, '198.51.100.0/24', 2), assigned(4, '203.0.113.0/24', 3)] as const;

// Single addresses

test('disabling an enabled address records it', () => {
  given(...owner)
    .when(disable(one('192.0.2.7')))
    .yields(disabled(['192.0.2.7']));
  given(...owner)
    .when(disable(one('2001:DB8:0:0::7')))
    .yields(disabled(['2001:db8::7']));
});

test('enabling a disabled address records it', () => {
  given(...owner, disabled(['192.0.2.0-192.0.2.9']))
    .when(enable(one('192.0.2.7')))
    .yields(enabled(['192.0.2.7']));
});

test('an address already in the target status is no change, pending or not', () => {
  given(...owner)
    .when(enable(one('192.0.2.7')))
    .yieldsNothing();
  given(...owner, disabled(['192.0.2.7']))
    .when(disable(one('192.0.2.7')))
    .yieldsNothing();
  given(...owner, disabled(['192.0.2.7']), commitRequested(), commitCompleted())
    .when(disable(one('192.0.2.7')))
    .yieldsNothing();
});

test('network and broadcast address are ordinary ones', () => {
  given(...owner)
    .when(disable(one('192.0.2.0')))
    .yields(disabled(['192.0.2.0']));
  given(...owner)
    .when(disable(one('192.0.2.255')))
    .yields(disabled(['192.0.2.255']));
});

test('an address outside the account is not found, and named as it was sent', () => {
  given(...owner)
    .when(disable(one('192.0.3.0')))
    .isRefused('address-not-found', 'IP 192.0.3.0 not found in your account.');
  given(...owner)
    .when(enable(one('2001:DB8:1::0:1')))
    .isRefused('address-not-found', 'IP 2001:DB8:1::0:1 not found in your account.');
  given(registered())
    .when(disable(one('192.0.2.7')))
    .isRefused('address-not-found');
});

test('an IPv4-mapped IPv6 address is not the IPv4 address in it', () => {
  given(...owner)
    .when(disable(one('::ffff:192.0.2.7')))
    .isRefused('address-not-found');
});

test('a change says nothing of the other addresses, nor of the other regions', () => {
  given(...inTwoRegions, disabled(['192.0.2.1']), disabled(['198.51.100.1'], 2))
    .when(disable(one('198.51.100.2')))
    .yields(disabled(['198.51.100.2'], 2));
});

// Synchronous mode

test('synchronous mode needs the flag of the account, whatever is asked', () => {
  const because = 'synchronous mode is not enabled for your account';
  given(...owner)
    .when(disable(one('192.0.2.7'), true))
    .isRefused('synchronous-not-allowed', because);
  given(...owner)
    .when(disable(one('203.0.113.1'), true))
    .isRefused('synchronous-not-allowed', because);
  given(...owner)
    .when(enable(block('0.0.0.0/0'), true))
    .isRefused('synchronous-not-allowed', because);
});

test('with the flag, a synchronous change is recorded like any other', () => {
  given(registered({ allowSynchronous: true }), assigned(1, '192.0.2.0/24'))
    .when(disable(one('192.0.2.7'), true))
    .yields(disabled(['192.0.2.7']));
});

test('the flag counts from the moment it is set', () => {
  given(...owner, { type: 'CustomerSettingsChanged', data: { changes: { allowSynchronous: true } } })
    .when(disable(one('192.0.2.7'), true))
    .yields(disabled(['192.0.2.7']));
});

// Lists

test('a list changes only what is not in the target status yet', () => {
  given(...owner, disabled(['192.0.2.2']))
    .when(disable(list('192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1')))
    .yields(disabled(['192.0.2.1', '192.0.2.3', '2001:db8::1']));
});

test('an address that is named twice counts once', () => {
  given(...owner)
    .when(disable(list('192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8:0::1')))
    .yields(disabled(['192.0.2.1', '2001:db8::1']));
});

test('neighbours are recorded as one range', () => {
  given(...owner)
    .when(disable(list('192.0.2.3', '192.0.2.1', '192.0.2.2')))
    .yields(disabled(['192.0.2.1-192.0.2.3']));
});

test('one foreign address fails the whole list; the first one is named as it was sent', () => {
  given(...owner)
    .when(disable(list('192.0.2.1', '2001:DB8:ffff::0:1', '203.0.113.1')))
    .isRefused('address-not-owned', 'IP 2001:DB8:ffff::0:1 does not belong to your account.');
  given(...owner)
    .when(enable(list('203.0.113.1', '192.0.2.1')))
    .isRefused('address-not-owned', 'IP 203.0.113.1 does not belong to your account.');
});

test('a list may span regions: one event for each region that changes', () => {
  given(...inTwoRegions, disabled(['203.0.113.5'], 3))
    .when(disable(list('203.0.113.5', '198.51.100.5', '192.0.2.5')))
    .yields(disabled(['192.0.2.5']), disabled(['198.51.100.5'], 2));
});

// Blocks and ranges

test('of a block, what the account does not own is passed over', () => {
  given(...owner)
    .when(disable(block('192.0.0.0/16')))
    .yields(disabled(['192.0.2.0-192.0.2.255']));
  given(...owner)
    .when(disable(block('203.0.113.0/24')))
    .yieldsNothing();
  given(registered())
    .when(disable(block('0.0.0.0/0')))
    .yieldsNothing();
});

test('a block within a subnet changes that block', () => {
  given(...owner)
    .when(disable(block('192.0.2.64/26')))
    .yields(disabled(['192.0.2.64-192.0.2.127']));
});

test('a whole IPv6 subnet is one range, however large', () => {
  given(...owner)
    .when(disable(block('2001:db8::/32')))
    .yields(disabled(['2001:db8::-2001:db8:0:ffff:ffff:ffff:ffff:ffff']));
});

test('of a range, what the account does not own is passed over', () => {
  given(...owner)
    .when(disable(ranges('192.0.1.250-192.0.2.5')))
    .yields(disabled(['192.0.2.0-192.0.2.5']));
  given(...owner)
    .when(disable(ranges('192.0.2.250-192.0.3.5')))
    .yields(disabled(['192.0.2.250-192.0.2.255']));
});

test('a range across the gap between two subnets changes both of them only', () => {
  given(registered(), assigned(1, '192.0.2.0/26'), assigned(2, '192.0.2.128/26'))
    .when(disable(ranges('192.0.2.60-192.0.2.130')))
    .yields(disabled(['192.0.2.60-192.0.2.63', '192.0.2.128-192.0.2.130']));
});

test('a block over several regions is recorded in all of them together', () => {
  given(...inTwoRegions, disabled(['198.51.100.0-198.51.100.255'], 2))
    .when(disable(block('0.0.0.0/0')))
    .yields(disabled(['192.0.2.0-192.0.2.255']), disabled(['203.0.113.0-203.0.113.255'], 3));
  given(...inTwoRegions, disabled(['198.51.100.9'], 2), disabled(['192.0.2.1', '192.0.2.3']))
    .when(enable(block('0.0.0.0/0')))
    .yields(enabled(['192.0.2.1', '192.0.2.3']), enabled(['198.51.100.9'], 2));
});

test('enabling a block names only what was disabled in it', () => {
  given(...owner, disabled(['192.0.2.10-192.0.2.20', '2001:db8::5']))
    .when(enable(block('192.0.2.0/28')))
    .yields(enabled(['192.0.2.10-192.0.2.15']));
});

test.run();
