import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refuseUnlessPublic } from '../../../src/adapters/webhooks/address-guard.ts';
import { IANA_SPECIAL_PURPOSE } from './special-purpose-addresses.ts';

type Block = Readonly<{ version: 4 | 6; first: bigint; last: bigint }>;

const blocks = IANA_SPECIAL_PURPOSE.map(([cidr, name, reachable]) => ({ ...blockOf(cidr), cidr, name, reachable }));
/** Not in the registries, and no receiver either. */
const others = ['224.0.0.0/4', 'ff00::/8', 'fec0::/10'].map(blockOf);
const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'];

for (const { cidr, name, version, first, last } of blocks.filter((block) => !block.reachable)) {
  test(`${cidr} is refused: ${name}`, () => {
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (value) => {
        assert.type(refuseUnlessPublic(text(version, value)), 'string');
      }),
      { examples: [[first], [last]] },
    );
  });
}

test('at every border of every block, the guard agrees with the registries', () => {
  for (const { version, first, last } of [...blocks, ...others]) {
    for (const value of [first - 1n, first, last, last + 1n]) {
      if (value >= 0n && value < 1n << BigInt(version === 4 ? 32 : 128)) agrees(version, value);
    }
  }
});

test('everywhere, the guard agrees with the registries', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) => agrees(4, value)),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => agrees(6, value)),
    { numRuns: 2000 },
  );
  const globalUnicast = fc.bigInt({ min: 0x2n << 124n, max: (0x4n << 124n) - 1n });
  fc.assert(
    fc.property(globalUnicast, (value) => agrees(6, value)),
    { numRuns: 2000 },
  );
});

test('an IPv4 address is no better inside an IPv6 one', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) => {
      const plain = refuseUnlessPublic(text(4, value));
      assert.is(refuseUnlessPublic(text(6, (0x64ff9bn << 96n) | value)), plain, 'NAT64');
      assert.is(refuseUnlessPublic(`64:ff9b::${text(4, value)}`), plain, 'NAT64, dotted');
      assert.is(refuseUnlessPublic(`::ffff:${text(4, value)}`), plain ?? 'reserved', 'IPv4-mapped');
      assert.is.not(refuseUnlessPublic(text(6, (0x2002n << 112n) | (value << 80n))), undefined, '6to4');
    }),
    { numRuns: 2000, examples: [[0x0a000001n], [0x7f000001n], [0xa9fea9fen], [0x08080808n]] },
  );
});

for (const address of [...metadata, '::ffff:169.254.169.254', '64:ff9b::a83f:8110']) {
  test(`${address} is a metadata service`, () => assert.is(refuseUnlessPublic(address), 'a metadata service'));
}

for (const [address, kind] of [
  ['10.0.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['169.254.1.1', 'link-local'],
  ['100.64.0.1', 'shared by a carrier-grade NAT'],
  ['0.0.0.0', 'unspecified'],
  ['224.0.0.1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['203.0.113.9', 'for documentation'],
  ['::1', 'loopback'],
  ['::', 'unspecified'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fd12:3456::1', 'unique-local'],
  ['ff02::1', 'multicast'],
  ['2001:db8::1', 'for documentation'],
  ['::ffff:192.168.1.1', 'private'],
  ['::ffff:7f00:1', 'loopback'],
  ['receiver.test', 'not an address'],
  ['127.1', 'not an address'],
  ['', 'not an address'],
] as const) {
  test(`"${address}" is ${kind}`, () => assert.is(refuseUnlessPublic(address), kind));
}

for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001::1', '64:ff9b::808:808']) {
  test(`${address} is public`, () => assert.is(refuseUnlessPublic(address), undefined));
}

/** The guard's answer is the registries': public is what is global unicast, reachable where it is listed, and not listed otherwise. */
function agrees(version: 4 | 6, value: bigint): void {
  const address = text(version, value);
  if (metadata.map((one) => valueOf(one)).includes(value)) return;
  const listed = blocks.filter((block) => holds(block, version, value));
  const isPublic =
    !others.some((block) => holds(block, version, value)) &&
    listed.every((block) => block.reachable) &&
    (version === 4 ||
      value >> 125n === 1n ||
      (value >> 32n === 0x64ff9bn << 64n && isPublicVersion4(value & 0xffffffffn)));
  assert.is(refuseUnlessPublic(address) === undefined, isPublic, `${address} ${isPublic ? 'is public' : 'is not'}`);
}

function isPublicVersion4(value: bigint): boolean {
  return [...blocks.filter(({ reachable }) => !reachable), ...others].every((block) => !holds(block, 4, value));
}

function holds(block: Block, version: 4 | 6, value: bigint): boolean {
  return block.version === version && block.first <= value && value <= block.last;
}

function blockOf(cidr: string): Block {
  const [base = '', length] = cidr.split('/');
  const version = base.includes(':') ? 6 : 4;
  const size = 1n << BigInt((version === 4 ? 32 : 128) - Number(length));
  const first = valueOf(base);
  return { version, first, last: first + size - 1n };
}

function valueOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  const [head = '', tail = ''] = address.split('::');
  const [left, right] = [head, tail].map((half) => half.split(':').filter((group) => group !== ''));
  const gap = address.includes('::') ? 8 - left!.length - right!.length : 0;
  const groups = [...left!, ...Array.from({ length: gap }, () => '0'), ...right!];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function text(version: 4 | 6, value: bigint): string {
  const [parts, bits, base] = version === 4 ? [4, 8n, 10] : [8, 16n, 16];
  const mask = (1n << bits) - 1n;
  const groups = Array.from({ length: parts }, (_, index) => (value >> (bits * BigInt(parts - 1 - index))) & mask);
  return groups.map((group) => group.toString(base)).join(version === 4 ? '.' : ':');
}

test.run();
