import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { editionIfOurs, editionOf, parseFile, renderFile } from '../../../../src/adapters/routers/bird/bird-file.ts';
import { symbolsOf } from '../../../../src/adapters/routers/bird/bird-symbols.ts';
import { wantedPrefixes } from '../../../../src/adapters/routers/driver-kit/prefix-lists.ts';
import { formatCidr } from '../../../../src/addresses/cidr.ts';
import { ipv4Hosts, ipv6Sites } from '../../../contracts/router-driver.ts';

const LIST = 'Svc-ACME-BLACKHOLE';
const PREFIXES = wantedPrefixes(['192.0.2.0/24', '198.51.100.7/32', '2001:db8::/48']);
const EDITION = editionOf('9a7f', PREFIXES);
const FILE = renderFile(LIST, PREFIXES, EDITION);

test('a file: a set for each IP version, one prefix a line, and the edition', () => {
  assert.is(
    renderFile(LIST, PREFIXES, 'abc'),
    `# Svc-ACME-BLACKHOLE: 3 prefixes. edgeward writes this file anew with every change.
define 'Svc-ACME-BLACKHOLE:4' = [
192.0.2.0/24,
198.51.100.7/32
];
define 'Svc-ACME-BLACKHOLE:6' = [
2001:db8::/48
];
define 'Svc-ACME-BLACKHOLE:id' = "abc";
`,
  );
});

test('an empty list is two sets that match nothing', () => {
  const file = renderFile(LIST, [], 'abc');
  assert.match(file, "define 'Svc-ACME-BLACKHOLE:4' = [];\ndefine 'Svc-ACME-BLACKHOLE:6' = [];");
});

test('editions differ by change and by content', () => {
  const editions = [
    editionOf('a', PREFIXES),
    editionOf('b', PREFIXES),
    editionOf('a', PREFIXES.slice(1)),
    editionOf('a', []),
  ];
  assert.is(new Set(editions).size, 4);
});

test('whatever is written is read again', () => {
  const pool = [...ipv4Hosts(30), '0.0.0.0/0', ...ipv6Sites(30), '::/0', '::ffff:10.0.0.0/104'];
  fc.assert(
    fc.property(fc.subarray(pool), (texts) => {
      const cidrs = wantedPrefixes(texts);
      const edition = editionOf('x', cidrs);
      const file = renderFile(LIST, cidrs, edition);
      assert.equal(parseFile(file, LIST), { cidrs, foreign: [], edition });
      assert.is(editionIfOurs(file, LIST, cidrs), edition);
    }),
  );
});

test('a file is ours for its own content only', () => {
  assert.is(editionIfOurs(FILE, LIST, PREFIXES), EDITION);
  assert.is(editionIfOurs(FILE, LIST, PREFIXES.slice(1)), undefined);
  assert.is(editionIfOurs(FILE, 'Svc-OTHER', PREFIXES), undefined);
});

for (const [what, edited] of [
  ['a prefix removed', FILE.replace('198.51.100.7/32', '198.51.100.8/32')],
  ['a prefix removed, and its count', FILE.replace('192.0.2.0/24,\n', '').replace('3 prefixes', '2 prefixes')],
  ['a line added', `${FILE}# by hand\n`],
  ['another digest', FILE.replace(/[0-9a-f]{8}";/, '00000000";')],
  ['no edition', FILE.replace(/^.*:id.*$/m, '')],
  ['nothing', ''],
] as const) {
  test(`a file that was edited is no edition of ours: ${what}`, () => {
    assert.is(parseFile(edited, LIST).edition, undefined);
  });
}

test('what is more than a prefix is given in BIRD’s words, and comments are none of them', () => {
  const text = `define 'Svc-ACME-BLACKHOLE:4' = [ 10.0.0.0/8+, 192.0.2.0/24{25,28}, # 9.0.0.0/8
    198.51.100.0/24, 192.0.2.0/24 /* 8.0.0.0/8, */ ];
    define 'Svc-ACME-BLACKHOLE:6'=[];`;
  const { cidrs, foreign } = parseFile(text, LIST);
  assert.equal(cidrs.map(formatCidr), ['192.0.2.0/24', '198.51.100.0/24']);
  assert.equal(foreign, ['10.0.0.0/8+', '192.0.2.0/24{25,28}']);
});

for (const text of [
  '',
  'nonsense',
  "define 'Svc-ACME-BLACKHOLE:4' = other;",
  "define 'Svc-OTHER:4' = [ 10.0.0.0/8 ];",
  "define 'Svc-ACME-BLACKHOLE:4' = [ 10.0.0.0/8",
]) {
  test(`a file without the sets differs from every list of ours: ${JSON.stringify(text)}`, () => {
    assert.equal(parseFile(text, LIST), {
      cidrs: [],
      foreign: ["# no set 'Svc-ACME-BLACKHOLE:4' in the file", "# no set 'Svc-ACME-BLACKHOLE:6' in the file"],
      edition: undefined,
    });
  });
}

test('the names in BIRD: at most 64 characters, whatever the list is named, and never the same for two lists', () => {
  const beginning = `Svc-${'A'.repeat(100)}`;
  const lists = ['Svc-A', `Svc-${'A'.repeat(56)}`, `Svc-${'A'.repeat(57)}`, `${beginning}-1`, `${beginning}-2`];
  const names = lists.flatMap((list) => Object.values<string>(symbolsOf(list)));
  for (const name of names) assert.match(name, /^'[A-Za-z0-9_.:-]{1,64}'$/);
  assert.is(new Set(names).size, names.length);
  assert.equal(symbolsOf('Svc-A'), { ipv4: "'Svc-A:4'", ipv6: "'Svc-A:6'", edition: "'Svc-A:id'" });
});

test.run();
