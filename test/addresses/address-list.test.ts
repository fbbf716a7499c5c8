import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { ipv4OfText } from '../../src/addresses/address-scanner.ts';
import { type Address, formatAddress, parseAddress } from '../../src/addresses/address.ts';
import { parseAddressList, RangeSet } from '../../src/addresses/range-set.ts';
import { rangeTexts } from '../../src/addresses/range-text.ts';

const ipv4 = fc.nat(0xffff_ffff).map((value) => formatAddress({ version: 4, value }));
const near = fc.nat(600).map((offset) => formatAddress({ version: 4, value: 0x0a00_0000 + offset }));
const ipv6 = fc.bigInt(0n, (1n << 128n) - 1n).map((value) => formatAddress({ version: 6, value }));
const nearIpv6 = fc.bigInt(0n, 300n).map((offset) => formatAddress({ version: 6, value: (1n << 48n) - 150n + offset }));
const anAddress = fc.oneof(
  ipv4,
  near,
  near,
  ipv6,
  nearIpv6,
  fc.constantFrom('2001:DB8::1', '::ffff:10.0.0.1', '::1.2.3.4'),
);

/** Nearly addresses: one with a character put in, taken away or put in place of another, or any short text of the characters. */
const nearly = fc
  .tuple(
    anAddress,
    fc.nat(40),
    fc.nat(1),
    fc.constantFrom('', '.', '0', '1', '9', '25', ':', '-', '/', ' ', 'é', '٣', '\0'),
  )
  .map(([text, at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed));
const any = fc.string({ unit: fc.constantFrom('0', '1', '2', '5', '6', '.', ':', 'f', '-'), maxLength: 18 });

function bothWays(texts: readonly string[]) {
  const outcomes = texts.map(parseAddress);
  const problems = outcomes.flatMap((outcome, at) =>
    isAddressProblem(outcome) ? [{ at, problem: outcome.problem }] : [],
  );
  const addresses = outcomes.filter((outcome): outcome is Address => !isAddressProblem(outcome));
  return { read: parseAddressList(texts), problems, addresses };
}

test('a dotted quad is read as the strict reader does, and no other text is', () => {
  fc.assert(
    fc.property(fc.oneof(anAddress, nearly, nearly, any, any), (text) => {
      const outcome = parseAddress(text);
      assert.is(ipv4OfText(text), isAddressProblem(outcome) || outcome.version === 6 ? -1 : outcome.value, text);
    }),
    { numRuns: 20_000 },
  );
  for (const text of [
    '',
    '.',
    '1.2.3',
    '1.2.3.',
    '.1.2.3',
    '1.2.3.4.',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.00',
    '1.2.3.256',
  ]) {
    assert.is(ipv4OfText(text), -1, text);
  }
  assert.is(ipv4OfText('0.0.0.0'), 0);
  assert.is(ipv4OfText('255.255.255.255'), 2 ** 32 - 1);
});

test('a list of addresses is the set of what each of them is', () => {
  fc.assert(
    fc.property(fc.array(anAddress, { maxLength: 300, size: 'max' }), (texts) => {
      const { read, addresses } = bothWays(texts);
      assert.ok('set' in read);
      assert.ok(read.set.equals(RangeSet.ofAddresses(addresses)));
      assert.equal(rangeTexts(read.set), rangeTexts(RangeSet.ofAddresses(addresses)));
    }),
    { numRuns: 200 },
  );
});

test('every text of a list that is no address is named by its place, with what is wrong with it', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anAddress, nearly), { maxLength: 40 }), (texts) => {
      const { read, problems } = bothWays(texts);
      if ('problems' in read) assert.equal(read.problems, problems);
      else assert.equal(problems, []);
    }),
    { numRuns: 500 },
  );
});

test.run();
