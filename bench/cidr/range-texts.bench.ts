// What a rebuild does for every event: read its range texts, add them to a set. Against reading the same text with cidr-tools,
// and against JSON.parse of a whole event.
// usage: node --import tsx bench/cidr/range-texts.bench.ts   (ROUNDS from the environment)
import { RangeSet } from '../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../src/addresses/range-text.ts';
import { baselineFunction } from '../baselines.ts';
import { pairedRounds, reportShare, reportSpeedUp, type Paired } from '../measure.ts';
import { ipv4Texts, scatteredIpv4, scatteredIpv6Texts } from './address-lists.ts';

const COUNT = 100_000;
const parseCidr = await baselineFunction('cidr-tools', 'parseCidr');
const ipv4 = ipv4Texts(scatteredIpv4(COUNT)).map((text) => [text]);
const ipv6 = scatteredIpv6Texts(COUNT).map((text) => [text]);

for (const [version, lists] of [
  ['IPv4', ipv4],
  ['IPv6', ipv6],
] as const) {
  const paired = pairedRounds({
    ours: () => each(lists, parseRangeTexts),
    baseline: () => each(lists, ([text]) => parseCidr(text)),
  });
  reportSpeedUp(`range set of one ${version} address text, cidr-tools parseCidr`, perText(paired));
}

const event = (text: string): string =>
  JSON.stringify({
    type: 'AddressesDisabled',
    data: { regionId: 7, ranges: [text] },
    metadata: {
      actor: 'token:01890a5d-ac96-774b-bcce-b302099a8057',
      at: '2026-11-27T20:50:00.123+00:00',
      schema: 1,
      $correlationId: '8f0f3f6e-6b1c-4a3e-9a53-0d4a8d1f7c11',
      $causationId: '8f0f3f6e-6b1c-4a3e-9a53-0d4a8d1f7c11',
    },
  });
const events = ipv4.map(([text = '']) => event(text));
const fold = pairedRounds({
  ours: () => {
    let set = RangeSet.empty;
    // A customer's set stays small: it starts anew after some hundred events.
    for (let i = 0; i < COUNT; i++) set = (i % 200 === 0 ? RangeSet.empty : set).union(parseRangeTexts(ipv4[i] ?? []));
    return set;
  },
  baseline: () => each(events, (text): unknown => JSON.parse(text)),
});
reportShare('reading and adding one address per event, JSON.parse of the event', perText(fold));

function each<T>(items: readonly T[], run: (item: T) => unknown): unknown {
  let last: unknown;
  for (const item of items) last = run(item);
  return last;
}

function perText(paired: Paired): Paired {
  return { ...paired, ours: paired.ours / COUNT, baseline: paired.baseline / COUNT };
}
