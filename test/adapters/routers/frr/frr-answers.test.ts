import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  complaintsIn,
  entriesIn,
  entryTexts,
  majorVersionIn,
  namesIn,
} from '../../../../src/adapters/routers/frr/frr-answers.ts';
import { RouterFailure } from '../../../../src/ports/routers.ts';

const LIST = 'Svc-ACME-BLACKHOLE';

const OF_8_4 = `{
  "BGP":{
    "Svc-ACME-BLACKHOLE":{
      "addressFamily":"IPv4",
      "entries":[
        {
          "sequenceNumber":5,
          "type":"permit",
          "prefix":"198.51.100.0/24"
        },
        {
          "sequenceNumber":10,
          "type":"permit",
          "prefix":"10.0.0.0/8",
          "maximumPrefixLength":8
        },
        {
          "sequenceNumber":15,
          "type":"deny",
          "prefix":"192.0.2.0/24",
          "minimumPrefixLength":25,
          "maximumPrefixLength":30
        }
      ],
      "description":"hello world"
    }
  }
}
`;

const OF_10_3 = `{"bgpd":{
  "Svc-ACME-BLACKHOLE":{
    "addressFamily":"IPv6",
    "entries":[
      {
        "sequenceNumber":5,
        "type":"permit",
        "prefix":"::ffff:10.0.0.0/104"
      }
    ]
  }
}
}
`;

test('the entries as FRR 8.4 and FRR 10.3 show them', () => {
  const entries = entriesIn(OF_8_4, LIST) ?? [];
  assert.equal(
    entries.map(({ sequence, permits, plain, text }) => ({ sequence, permits, plain, text })),
    [
      { sequence: 5, permits: true, plain: true, text: '198.51.100.0/24' },
      { sequence: 10, permits: true, plain: false, text: '10.0.0.0/8 le 8' },
      { sequence: 15, permits: false, plain: false, text: 'deny 192.0.2.0/24 ge 25 le 30' },
    ],
  );
  assert.equal(entryTexts(entries), ['10.0.0.0/8 le 8', 'deny 192.0.2.0/24 ge 25 le 30', '198.51.100.0/24']);
  assert.equal(entryTexts(entriesIn(OF_10_3, LIST) ?? []), ['::ffff:10.0.0.0/104']);
});

test('IPv6 prefixes are canonical, however a version writes them', () => {
  const text = OF_10_3.replace('::ffff:10.0.0.0/104', '::ffff:a00:0/104');
  assert.equal(entryTexts(entriesIn(text, LIST) ?? []), ['::ffff:10.0.0.0/104']);
});

for (const [version, answer] of [
  ['8.4', ''],
  ['8.4, with a line end', '\n'],
  ['10.3', '{"bgpd":}\n'],
  ['10.3, mgmtd', '{}\n'],
  ['one that will print JSON', '{"bgpd": {}}'],
] as const) {
  test(`a list that is missing, as FRR ${version} says it`, () => {
    assert.is(entriesIn(answer, LIST), undefined);
  });
}

test('the names of all lists, in the summaries of both versions', () => {
  const lists = '{"Svc-A":{"addressFamily":"IPv4","count":1},"OTHER":{"addressFamily":"IPv4","count":2}}';
  assert.equal(namesIn(`{"BGP":${lists}}`), ['Svc-A', 'OTHER']);
  assert.equal(namesIn(`{"bgpd":${lists}}`), ['Svc-A', 'OTHER']);
  for (const none of ['', '{}', '{"BGP":{}}', '{"bgpd":}']) assert.equal(namesIn(none), [], none);
  assert.throws(() => namesIn('% Unknown command'), /no JSON/);
});

test('a list without entries is there', () => {
  assert.equal(entriesIn(`{"bgpd":{"${LIST}":{"addressFamily":"IPv4","entries":[]}}}`, LIST), []);
});

test('an answer about another list is not taken for this one', () => {
  assert.is(entriesIn(OF_8_4, 'Svc-OTHER'), undefined);
});

for (const [what, answer] of [
  ['half of an answer', OF_8_4.slice(0, 200)],
  ['an error in words', '% Unknown command'],
  ['two daemons', `{"zebra":{"${LIST}":{"addressFamily":"IPv4","entries":[]}},"bgpd":{}}`],
  ['an entry with something new in it', OF_8_4.replace('"sequenceNumber":5,', '"sequenceNumber":5,"inverted":true,')],
  ['an entry of another type', OF_8_4.replace('"permit"', '"maybe"')],
  ['a prefix that is none', OF_8_4.replace('198.51.100.0/24', '198.51.100.1/24')],
] as const) {
  test(`not guessed at: ${what}`, () => {
    const failure = failureOf(() => entriesIn(answer, LIST));
    assert.is(failure.code, 'unreadable-answer');
    assert.ok(failure.message.includes(LIST));
  });
}

test('what vtysh complains about, whatever its exit code says', () => {
  const rejected = `% Configuration failed.

Error type: validation
Error description: Invalid prefix range for 1.1.2.0/24: Make sure that mask length <= ge <= le`;
  assert.is(complaintsIn(rejected)[0], '% Configuration failed.');
  assert.equal(complaintsIn('line 2: % Unknown command[4]: ip prefix-list A seq 0 permit 1.2.3.4/33'), [
    'line 2: % Unknown command[4]: ip prefix-list A seq 0 permit 1.2.3.4/33',
  ]);
  const [upload] = complaintsIn("% Can't open configuration file /tmp/x/change due to 'No such file or directory'.");
  assert.ok(upload);
});

test('what vtysh says while all is well is no complaint', () => {
  const said = `[11045|mgmtd] sending configuration
[11052|bgpd] sending configuration
Waiting for children to finish applying config...
[11052|bgpd] done
% Can't enter config; candidate datastore locked by another session
% Can't open configuration file /etc/frr/vtysh.conf due to 'No such file or directory'.
`;
  assert.equal(complaintsIn(said), []);
});

test('the version', () => {
  assert.is(majorVersionIn('FRRouting 8.4.4 (vm) on Linux(6.1).\nCopyright 1996-2005 Kunihiro Ishiguro, et al.'), 8);
  assert.is(majorVersionIn('FRRouting 10.3 (edge1) on Linux(6.12).'), 10);
  assert.is(failureOf(() => majorVersionIn('Quagga 1.2.4')).code, 'unreadable-answer');
});

function failureOf(work: () => unknown): RouterFailure {
  try {
    work();
  } catch (failure) {
    if (failure instanceof RouterFailure) return failure;
    throw failure;
  }
  throw new Error('expected a failure');
}

test.run();
