import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { type Address, formatAddress, parseAddress } from '../../src/addresses/address.ts';

const ipv4Value = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1));

/** IPv6 numbers with runs of zero groups in all places, and with full 48-bit limbs. */
const ipv6Groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff), fc.constantFrom(1, 0xff, 0x100, 0xffff)), {
  minLength: 8,
  maxLength: 8,
});

const numberOf = (groups: readonly number[]): bigint =>
  groups.reduce((sum, group) => sum * 65_536n + BigInt(group), 0n);

/** RFC 5952 by its rules, one after the other. */
function rfc5952(groups: readonly number[]): string {
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [, , , , , , upper = 0, lower = 0] = groups;
    return `::ffff:${upper >>> 8}.${upper & 255}.${lower >>> 8}.${lower & 255}`;
  }
  const texts = groups.map((group) => group.toString(16));
  for (let length = 8; length >= 2; length--) {
    for (let start = 0; start + length <= 8; start++) {
      if (groups.slice(start, start + length).some((group) => group !== 0)) continue;
      return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
    }
  }
  return texts.join(':');
}

const parsed = (text: string): Address => {
  const address = parseAddress(text);
  if (isAddressProblem(address)) throw new Error(address.problem);
  return address;
};

const problemOf = (text: string): string => {
  const address = parseAddress(text);
  return isAddressProblem(address) ? address.problem : `no problem: ${formatAddress(address)}`;
};

test('every IPv4 number has one text, and comes back from it', () => {
  fc.assert(
    fc.property(ipv4Value, (value) => {
      const text = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');
      assert.is(formatAddress({ version: 4, value }), text);
      assert.equal(parseAddress(text), { version: 4, value });
    }),
    { numRuns: 1_000 },
  );
});

test('IPv6 is written after RFC 5952 and comes back from it', () => {
  fc.assert(
    fc.property(ipv6Groups, (groups) => {
      const address: Address = { version: 6, value: numberOf(groups) };
      const text = formatAddress(address);
      assert.is(text, rfc5952(groups));
      assert.equal(parseAddress(text), address);
    }),
    { numRuns: 3_000 },
  );
});

test('every RFC 4291 text form of an IPv6 address is read', () => {
  fc.assert(
    fc.property(
      ipv6Groups,
      fc.boolean(),
      fc.nat(4),
      fc.nat(8),
      fc.nat(8),
      fc.boolean(),
      (groups, isUpper, pad, i, j, isMixed) => {
        const [start, end] = [Math.min(i, j), Math.max(i, j)];
        const cleared = groups.map((group, at) => (at >= start && at < end ? 0 : group));
        const words = cleared
          .map((group) => group.toString(16).padStart(pad, '0'))
          .map((word) => (isUpper ? word.toUpperCase() : word));
        const [, , , , , , upper = 0, lower = 0] = cleared;
        const quad = `${upper >>> 8}.${upper & 255}.${lower >>> 8}.${lower & 255}`;
        const tail = isMixed && end <= 6 ? [...words.slice(0, 6), quad] : words;
        const text = start === end ? tail.join(':') : `${tail.slice(0, start).join(':')}::${tail.slice(end).join(':')}`;
        assert.equal(parseAddress(text), { version: 6, value: numberOf(cleared) }, text);
      },
    ),
    { numRuns: 3_000 },
  );
});

test('an IPv4-mapped address stays an IPv6 one, and ends in a dotted quad', () => {
  assert.equal(parseAddress('::ffff:10.0.0.1'), { version: 6, value: 0xffff_0a00_0001n });
  assert.is(formatAddress(parsed('::FFFF:a00:1')), '::ffff:10.0.0.1');
  assert.is(formatAddress(parsed('0:0:0:0:0:ffff:255.255.255.255')), '::ffff:255.255.255.255');
  assert.is(formatAddress(parsed('::10.0.0.1')), '::a00:1');
  assert.is(formatAddress(parsed('64:ff9b::10.0.0.1')), '64:ff9b::a00:1');
  assert.is(formatAddress(parsed('::1:ffff:0:0')), '::1:ffff:0:0');
});

for (const text of [
  ['an empty text', ''],
  ['a blank', ' '],
  ['a space before', ' 10.0.0.1'],
  ['a space behind', '10.0.0.1 '],
  ['a line feed behind', '10.0.0.1\n'],
  ['a NUL behind', '10.0.0.1\0'],
  ['a NUL before', '\u000010.0.0.1'],
  ['a leading zero', '10.0.0.01'],
  ['an octal look', '010.8.8.8'],
  ['a double zero', '00.0.0.0'],
  ['three numbers', '10.0.1'],
  ['one number', '167772161'],
  ['five numbers', '10.0.0.0.1'],
  ['a dot behind', '10.0.0.1.'],
  ['a dot before', '.10.0.0.1'],
  ['an empty number', '10..0.1'],
  ['a number above 255', '10.0.0.256'],
  ['a four-digit number', '10.0.0.1000'],
  ['a hexadecimal number', '0x0a.0.0.1'],
  ['a hexadecimal IPv4', '0x0a000001'],
  ['a sign', '+10.0.0.1'],
  ['a minus', '10.0.0.-1'],
  ['an exponent', '1e1.0.0.1'],
  ['full-width digits', '１０.0.0.1'],
  ['Arabic digits', '١٠.0.0.1'],
  ['a prefix length', '10.0.0.1/32'],
  ['a port', '10.0.0.1:80'],
  ['a name', 'localhost'],
  ['seven groups', '1:2:3:4:5:6:7'],
  ['nine groups', '1:2:3:4:5:6:7:8:9'],
  ['eight groups and a gap', '1:2:3:4:5:6:7::8'],
  ['eight groups before a gap', '1:2:3:4:5:6:7:8::'],
  ['eight groups behind a gap', '::1:2:3:4:5:6:7:8'],
  ['two gaps', '1::2::3'],
  ['three colons', ':::'],
  ['a triple colon within', '1:::2'],
  ['one colon', ':'],
  ['a colon before', ':1:2:3:4:5:6:7'],
  ['a colon behind', '1:2:3:4:5:6:7:'],
  ['a colon behind eight groups', '1:2:3:4:5:6:7:8:'],
  ['a five-digit group', '2001:0db80::1'],
  ['a group that is no hexadecimal number', '2001:db8::g'],
  ['a zone id', 'fe80::1%eth0'],
  ['an empty zone id', 'fe80::1%'],
  ['brackets', '[2001:db8::1]'],
  ['an IPv6 prefix length', '2001:db8::/32'],
  ['a quad too early', '1.2.3.4::'],
  ['a quad in the middle', '::1.2.3.4:5'],
  ['a quad behind seven groups', '1:2:3:4:5:6:7:1.2.3.4'],
  ['a quad with a leading zero', '::ffff:10.0.0.01'],
  ['a short quad', '::ffff:10.0.1'],
  ['a hexadecimal quad', '::ffff:a.0.0.1'],
  ['a range', '10.0.0.1-10.0.0.2'],
  ['a kilobyte of digits', '1'.repeat(1_024)],
  ['a megabyte of colons', ':'.repeat(1_048_576)],
  ['a look-alike colon', '2001：db8::1'],
] as const) {
  const [name, hostile] = text;
  test(`is no address: ${name}`, () => {
    const problem = problemOf(hostile);
    assert.match(problem, /is not an IP address: ./);
    assert.ok(problem.length < 400, problem);
    // oxlint-disable-next-line no-control-regex
    assert.not.match(problem, /[\u0000-\u001f]/);
  });
}

test('a problem names what would be right', () => {
  assert.match(problemOf('010.8.8.8'), 'without leading zeros, 10.8.8.8');
  assert.match(problemOf('fe80::1%eth0'), 'leave the zone id away, write fe80::1');
  assert.match(problemOf('[2001:db8::1]'), 'leave the brackets away, write 2001:db8::1');
  assert.match(problemOf('10.0.0.1/32'), 'no prefix length, write 10.0.0.1');
  assert.match(problemOf(' 10.0.0.1'), 'leave the spaces around 10.0.0.1 away');
  assert.match(problemOf('10.1'), 'four decimal numbers');
});

test('any text at all is an address or a problem, and an address is canonical the second time', () => {
  const look = fc.string({ unit: fc.constantFrom(...'0123456789abcdfF:.%/-[] x'.split('')), maxLength: 45 });
  fc.assert(
    fc.property(fc.oneof(look, fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
      const address = parseAddress(text);
      if (isAddressProblem(address)) return;
      assert.equal(parsed(formatAddress(address)), address);
    }),
    { numRuns: 5_000 },
  );
});

test.run();
