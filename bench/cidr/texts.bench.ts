// Lists of address texts, as events hold them, to the minimal list of CIDR texts, as routers get it, against `mergeCidr` of cidr-tools, in one process.
// usage: node --import tsx bench/cidr/texts.bench.ts   (ROUNDS from the environment)
import { deepStrictEqual } from 'node:assert/strict';
import { coverTexts } from '../../src/addresses/cidr-cover.ts';
import { parseRangeTexts } from '../../src/addresses/range-text.ts';
import { baselineFunction } from '../baselines.ts';
import { pairedRounds, reportSpeedUp } from '../measure.ts';
import { denseIpv4, denseIpv6Texts, ipv4Texts, scatteredIpv4, scatteredIpv6Texts } from './address-lists.ts';

const mergeCidr = await baselineFunction('cidr-tools', 'mergeCidr');

const lists = [
  { name: '1,000,000 random IPv4 addresses, text to text', texts: ipv4Texts(scatteredIpv4(1_000_000)), target: 2.5 },
  { name: '1,000,000 dense sorted IPv4 addresses, text to text', texts: ipv4Texts(denseIpv4(1_000_000)) },
  { name: '100,000 random IPv6 addresses, text to text', texts: scatteredIpv6Texts(100_000), target: 3 },
  { name: '100,000 dense sorted IPv6 addresses, text to text', texts: denseIpv6Texts(100_000), target: 3 },
];

for (const { name, texts, target } of lists) {
  deepStrictEqual(coverTexts(parseRangeTexts(texts)), mergeCidr(texts));
  const paired = pairedRounds({ ours: () => coverTexts(parseRangeTexts(texts)), baseline: () => mergeCidr(texts) });
  reportSpeedUp(`${name}, cidr-tools`, paired, target);
}
