import { test } from 'uvu';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { specify } from '../../specification.ts';
import {
  assigned,
  block,
  commitRequested,
  disable,
  disabled,
  disabledFor,
  enable,
  enabled,
  endTerm,
  list,
  MIDNIGHT,
  NOON,
  one,
  registered,
  released,
  termChanged,
  termEnded,
} from './customer-examples.ts';

const customer = [registered(), assigned(1, '192.0.2.0/24'), assigned(2, '2001:db8::/48', 1)];
const { given: known } = specify(customerDecider);

// Said when disabling

test('addresses are disabled until an instant', () => {
  known(...customer)
    .when(disable(one('192.0.2.1'), false, MIDNIGHT))
    .yields(disabledFor(MIDNIGHT, ['192.0.2.1']));
});

test('a /48 is disabled until an instant as one range', () => {
  known(...customer)
    .when(disable(block('2001:db8::/48'), false, MIDNIGHT))
    .yields(disabledFor(MIDNIGHT, ['2001:db8::-2001:db8:0:ffff:ffff:ffff:ffff:ffff']));
});

test('asked again until the same instant, there is nothing new', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']))
    .when(disable(one('192.0.2.1'), false, { ...MIDNIGHT, milliseconds: 7 }))
    .yieldsNothing();
});

// Said later

test('a later call without an instant makes it permanent, one with another replaces it', () => {
  const before = [...customer, disabledFor(MIDNIGHT, ['192.0.2.0-192.0.2.7'])];
  known(...before)
    .when(disable(one('192.0.2.1')))
    .yields(termChanged(undefined, ['192.0.2.1']));
  known(...before)
    .when(disable(one('192.0.2.1'), false, NOON))
    .yields(termChanged(NOON, ['192.0.2.1']));
});

test('what was disabled for good is disabled until an instant by a later call that says so', () => {
  known(...customer, disabled(['192.0.2.1']))
    .when(disable(one('192.0.2.1'), false, NOON))
    .yields(termChanged(NOON, ['192.0.2.1']));
});

test('one call disables some addresses and says of others, disabled before, until when they stay so', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']), disabled(['192.0.2.3']), disabledFor(NOON, ['192.0.2.4']))
    .when(disable(list('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'), false, NOON))
    .yields(disabledFor(NOON, ['192.0.2.2']), termChanged(NOON, ['192.0.2.1', '192.0.2.3']));
});

test('a change of the instant is no change for routers', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']), commitRequested({}), termChanged(NOON, ['192.0.2.1']))
    .when({ type: 'RequestCommit', data: { regionId: 1, list: 'BLACKHOLE', commitSetId: 'c2', reason: 'quiet' } })
    .yieldsNothing();
});

// Its end

test('at its end what is still disabled by that call is enabled', () => {
  known(
    ...customer,
    disabledFor(MIDNIGHT, ['192.0.2.0-192.0.2.7']),
    enabled(['192.0.2.2']),
    termChanged(NOON, ['192.0.2.7']),
  )
    .when(endTerm(MIDNIGHT, ['192.0.2.0-192.0.2.7']))
    .yields(termEnded(['192.0.2.0-192.0.2.1', '192.0.2.3-192.0.2.6']));
});

test('an enable ends it: what is disabled again for good stays so', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']), enabled(['192.0.2.1']), disabled(['192.0.2.1']))
    .when(endTerm(MIDNIGHT, ['192.0.2.1']))
    .yieldsNothing();
});

test('what is made permanent stays disabled, and what has left with its subnet is not enabled', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']), termChanged(undefined, ['192.0.2.1']))
    .when(endTerm(MIDNIGHT, ['192.0.2.1']))
    .yieldsNothing();
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.1']), released(1, '192.0.2.0/24', ['192.0.2.1']))
    .when(endTerm(MIDNIGHT, ['192.0.2.1']))
    .yieldsNothing();
});

test('enabling by hand before its end is an enable like any other', () => {
  known(...customer, disabledFor(MIDNIGHT, ['192.0.2.0-192.0.2.7']))
    .when(enable(one('192.0.2.3')))
    .yields(enabled(['192.0.2.3']));
});

const limits = (most: number) => new Map([[1, { name: 'ams', most }]]);

test('its end is held up by what the routers take, never by the limit of the customer', () => {
  const before = [
    registered({ prefixLimit: 1 }),
    ...customer.slice(1),
    disabledFor(MIDNIGHT, ['192.0.2.0-192.0.2.255']),
  ];
  const ended = known(...before, termChanged(undefined, ['192.0.2.0-192.0.2.1', '192.0.2.128-192.0.2.255']));
  const command = endTerm(MIDNIGHT, ['192.0.2.0-192.0.2.255']);
  if (command.type !== 'EndDisabledTerm') throw new Error('another command');
  ended.when({ ...command, data: { ...command.data, limits: limits(2) } }).yields(termEnded(['192.0.2.2-192.0.2.127']));
  ended.when({ ...command, data: { ...command.data, limits: limits(1) } }).isRefused('too-many-prefixes');
});

test.run();
