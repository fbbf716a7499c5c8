import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reservedBlock } from '../../../src/domain/ip-control/reserved-space.ts';
import { firstAddress, lastAddress, rangeOfAddress } from '../../../src/addresses/range.ts';
import { formatAddress } from '../../../src/addresses/address.ts';
import { rangeOf } from '../../commands/ip-control/source-whitelist-examples.ts';

/**
 * The IANA IPv4 Special-Purpose Address Registry (https://www.iana.org/assignments/iana-ipv4-special-registry, RFC 6890 and RFC 8190),
 * row by row as the registry has it: address block, name, RFC, allocated, and what stands under "Globally Reachable".
 */
const REGISTRY = [
  ['0.0.0.0/8', '"This network"', 'RFC 791', '1981-09', 'False'],
  ['0.0.0.0/32', '"This host on this network"', 'RFC 1122', '1981-09', 'False'],
  ['10.0.0.0/8', 'Private-Use', 'RFC 1918', '1996-02', 'False'],
  ['100.64.0.0/10', 'Shared Address Space', 'RFC 6598', '2012-04', 'False'],
  ['127.0.0.0/8', 'Loopback', 'RFC 1122', '1981-09', 'False [1]'],
  ['169.254.0.0/16', 'Link Local', 'RFC 3927', '2005-05', 'False'],
  ['172.16.0.0/12', 'Private-Use', 'RFC 1918', '1996-02', 'False'],
  ['192.0.0.0/24', 'IETF Protocol Assignments', 'RFC 6890', '2010-01', 'False [2]'],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix', 'RFC 7335', '2011-06', 'False'],
  ['192.0.0.8/32', 'IPv4 dummy address', 'RFC 7600', '2015-03', 'False'],
  ['192.0.0.9/32', 'Port Control Protocol Anycast', 'RFC 7723', '2015-10', 'True'],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast', 'RFC 8155', '2017-02', 'True'],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050', '2013-02', 'False'],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050', '2013-02', 'False'],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1)', 'RFC 5737', '2010-01', 'False'],
  ['192.31.196.0/24', 'AS112-v4', 'RFC 7535', '2014-12', 'True'],
  ['192.52.193.0/24', 'AMT', 'RFC 7450', '2014-12', 'True'],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)', 'RFC 7526', '2001-06', ''],
  ['192.88.99.2/32', '6a44-relay anycast address', 'RFC 6751', '2012-10', 'False'],
  ['192.168.0.0/16', 'Private-Use', 'RFC 1918', '1996-02', 'False'],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service', 'RFC 7534', '1996-01', 'True'],
  ['198.18.0.0/15', 'Benchmarking', 'RFC 2544', '1999-03', 'False'],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2)', 'RFC 5737', '2010-01', 'False'],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3)', 'RFC 5737', '2010-01', 'False'],
  ['240.0.0.0/4', 'Reserved', 'RFC 1112', '1989-08', 'False'],
  ['255.255.255.255/32', 'Limited Broadcast', 'RFC 8190, RFC 919', '1984-10', 'False'],
] as const;

for (const [block, name, , , reachable] of REGISTRY) {
  const isReachable = reachable.startsWith('True');
  test(`${block} (${name}) is ${isReachable ? 'not ' : ''}reserved`, () => {
    const range = rangeOf(block);
    if (isReachable) {
      assert.is(reservedBlock(range), undefined);
      return;
    }
    assert.is(reservedBlock(range), block, 'the whole block is named by itself');
    for (const edge of [firstAddress(range), lastAddress(range)]) {
      const named = reservedBlock(rangeOfAddress(edge));
      assert.ok(named, formatAddress(edge));
      const around = rangeOf(named);
      assert.ok(around.first <= edge.value && edge.value <= around.last, `${named} holds ${formatAddress(edge)}`);
    }
  });
}

test('multicast (RFC 5771) and class E (RFC 1112) are reserved', () => {
  assert.is(reservedBlock(rangeOf('224.0.0.0')), '224.0.0.0/4');
  assert.is(reservedBlock(rangeOf('239.255.255.255')), '224.0.0.0/4');
  assert.is(reservedBlock(rangeOf('240.0.0.0')), '240.0.0.0/4');
  assert.is(reservedBlock(rangeOf('255.255.255.254')), '240.0.0.0/4');
  assert.is(reservedBlock(rangeOf('239.255.255.250-240.0.0.5')), '224.0.0.0/4');
});

const isSpecial = (value: number | bigint): boolean =>
  [...REGISTRY, ['224.0.0.0/4', '', '', '', 'False'] as const]
    .filter(([, , , , reachable]) => !reachable.startsWith('True'))
    .some(([block]) => rangeOf(block).first <= value && value <= rangeOf(block).last);

test('the neighbours of every reserved block are free, unless they are reserved themselves', () => {
  let free = 0;
  for (const [block] of REGISTRY) {
    const { first, last } = rangeOf(block);
    for (const value of [Number(first) - 1, Number(last) + 1]) {
      if (value < 0 || value > 0xff_ff_ff_ff || isSpecial(value)) continue;
      assert.is(
        reservedBlock({ version: 4, first: value, last: value }),
        undefined,
        formatAddress({ version: 4, value }),
      );
      free += 1;
    }
  }
  assert.ok(free > 20, `${free} neighbours are free`);
});

test('of nested blocks the smallest that holds what is hit is named', () => {
  for (const [input, block] of [
    ['0.0.0.0', '0.0.0.0/32'],
    ['0.0.0.1', '0.0.0.0/8'],
    ['192.0.0.7', '192.0.0.0/29'],
    ['192.0.0.8', '192.0.0.8/32'],
    ['192.0.0.11', '192.0.0.0/24'],
    ['192.0.0.170', '192.0.0.170/32'],
    ['192.0.0.0/24', '192.0.0.0/24'],
    ['192.88.99.2', '192.88.99.2/32'],
    ['192.88.99.3', '192.88.99.0/24'],
    ['255.255.255.255', '255.255.255.255/32'],
    ['255.255.255.0/24', '240.0.0.0/4'],
  ] as const) {
    assert.is(reservedBlock(rangeOf(input)), block, input);
  }
});

test('a range that only touches a reserved block is reserved; a reachable exception alone is not', () => {
  assert.is(reservedBlock(rangeOf('9.255.255.254-10.0.0.0')), '10.0.0.0/8');
  assert.is(reservedBlock(rangeOf('10.255.255.255-11.0.0.4')), '10.0.0.0/8');
  assert.is(reservedBlock(rangeOf('192.0.0.9-192.0.0.10')), undefined);
  assert.is(reservedBlock(rangeOf('192.0.0.8-192.0.0.10')), '192.0.0.8/32');
  assert.is(reservedBlock(rangeOf('192.0.0.9-192.0.0.11')), '192.0.0.0/24');
});

test('ordinary addresses are free', () => {
  for (const input of [
    '1.0.0.0/24',
    '8.8.8.8',
    '11.0.0.0/24',
    '100.63.255.255',
    '100.128.0.0',
    '172.32.0.0/24',
    '223.255.255.255',
  ])
    assert.is(reservedBlock(rangeOf(input)), undefined, input);
});

test.run();
