import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { overlaps, rangeSize } from '../../src/addresses/range.ts';
import { formatAddress, parseAddress } from '../../src/addresses/address.ts';
import {
  type Cidr,
  cidrAround,
  compareCidrs,
  formatCidr,
  networkAddress,
  parseCidr,
  rangeOfCidr,
} from '../../src/addresses/cidr.ts';

const address = fc.oneof(
  fc.nat(0xffff_ffff).map((value) => ({ version: 4 as const, value })),
  fc.bigInt(0n, 2n ** 128n - 1n).map((value) => ({ version: 6 as const, value })),
);

const cidr = fc
  .tuple(address, fc.nat(128))
  .map(([at, length]) => cidrAround(at, at.version === 4 ? length % 33 : length));

const parsed = (text: string): Cidr => {
  const outcome = parseCidr(text);
  if (isAddressProblem(outcome)) throw new Error(outcome.problem);
  return outcome;
};

const problemOf = (text: string): string => {
  const outcome = parseCidr(text);
  return isAddressProblem(outcome) ? outcome.problem : `no problem: ${formatCidr(outcome)}`;
};

const pair = (a: string, b: string): boolean => overlaps(rangeOfCidr(parsed(a)), rangeOfCidr(parsed(b)));

test('a block comes back from its text', () => {
  fc.assert(
    fc.property(cidr, (block) => {
      assert.equal(parsed(formatCidr(block)), block);
      const range = rangeOfCidr(block);
      assert.is(rangeSize(range), 2n ** BigInt((block.version === 4 ? 32 : 128) - block.length));
      assert.is(BigInt(range.first), BigInt(block.network));
    }),
    { numRuns: 1_000 },
  );
});

test('host bits are refused, and the network that was probably meant is named', () => {
  assert.is(problemOf('10.0.0.1/24'), '"10.0.0.1/24" has host bits set: the network is probably 10.0.0.0/24');
  assert.match(problemOf('255.255.255.255/0'), 'probably 0.0.0.0/0');
  assert.match(problemOf('2001:db8:0:1::/47'), 'probably 2001:db8::/47');
  assert.match(problemOf('::ffff:10.0.0.1/104'), 'probably ::ffff:10.0.0.0/104');
  fc.assert(
    fc.property(address, fc.nat(128), (at, any) => {
      const length = at.version === 4 ? any % 33 : any;
      const block = cidrAround(at, length);
      const text = `${formatAddress(at)}/${length}`;
      if (block.network === at.value) assert.equal(parsed(text), block);
      else assert.is(problemOf(text), `"${text}" has host bits set: the network is probably ${formatCidr(block)}`);
    }),
    { numRuns: 1_000 },
  );
});

for (const text of [
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/00',
  '10.0.0.0/+8',
  '10.0.0.0/-8',
  '10.0.0.0/8.0',
  '10.0.0.0/8e0',
  '10.0.0.0/0x8',
  '10.0.0.0/ 8',
  '10.0.0.0 /8',
  '10.0.0.0/8 ',
  '10.0.0.0/8/8',
  '10.0.0.0/8\n',
  '10.0.0.0/٨',
  '10.0.0.0/255.0.0.0',
  '10/8',
  '10.0/8',
  '010.0.0.0/8',
  '/8',
  '',
  '::/129',
  '::/064',
  '::',
  'fe80::%eth0/64',
  '[::]/0',
  '::/1e2',
]) {
  test(`is no CIDR: ${JSON.stringify(text)}`, () => assert.match(problemOf(text), /is not a CIDR: ./));
}

test('the whole spaces and single addresses are blocks', () => {
  for (const text of ['0.0.0.0/0', '128.0.0.0/1', '255.255.255.254/31', '255.255.255.255/32', '::/0', '8000::/1']) {
    assert.is(formatCidr(parsed(text)), text);
  }
  assert.equal(rangeOfCidr(parsed('0.0.0.0/0')), { version: 4, first: 0, last: 2 ** 32 - 1 });
  assert.equal(rangeOfCidr(parsed('255.255.255.254/31')), { version: 4, first: 2 ** 32 - 2, last: 2 ** 32 - 1 });
  assert.equal(rangeOfCidr(parsed('::/0')), { version: 6, first: 0n, last: 2n ** 128n - 1n });
  assert.is(
    formatCidr(parsed('ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127')),
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127',
  );
});

test('two blocks overlap when one holds the other', () => {
  assert.ok(pair('10.0.0.0/8', '10.255.255.255/32'));
  assert.ok(pair('10.255.255.255/32', '10.0.0.0/8'));
  assert.not.ok(pair('10.0.0.0/9', '10.128.0.0/9'));
  assert.not.ok(pair('0.0.0.0/0', '::/0'));
  const near = fc
    .tuple(fc.boolean(), fc.nat(63), fc.constantFrom(26, 27, 29, 30, 31, 32))
    .map(([isIpv4, offset, length]) =>
      isIpv4
        ? cidrAround({ version: 4, value: 2 ** 31 + offset }, length)
        : cidrAround({ version: 6, value: 2n ** 127n + BigInt(offset) }, length + 96),
    );
  fc.assert(
    fc.property(near, near, (a, b) => {
      const length = Math.min(a.length, b.length);
      const [wideA, wideB] = [cidrAround(networkAddress(a), length), cidrAround(networkAddress(b), length)];
      assert.is(overlaps(rangeOfCidr(a), rangeOfCidr(b)), compareCidrs(wideA, wideB) === 0);
    }),
    { numRuns: 1_000 },
  );
});

test('blocks are ordered by version, network, and width', () => {
  const texts = ['0.0.0.0/0', '0.0.0.0/1', '10.0.0.0/8', '128.0.0.0/1', '::/0', '::/128', '8000::/1'];
  assert.equal(texts.toReversed().map(parsed).toSorted(compareCidrs).map(formatCidr), texts);
});

test('an address text with a slash in its middle is no address', () => {
  assert.ok(isAddressProblem(parseAddress('10.0.0.0/8')));
});

test.run();
