// A range set, and plain numbers, to CIDR blocks as numbers, against `mergeCidr` of cidr-tools for the same addresses.
// usage: node --import tsx bench/cidr/blocks.bench.ts   (ROUNDS from the environment)
import { strictEqual } from 'node:assert/strict';
import type { BlockSink } from '../../src/addresses/cidr-cover.ts';
import { coverInto } from '../../src/addresses/cidr-cover.ts';
import { RangeSetBuilder } from '../../src/addresses/range-set-builder.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { baselineFunction } from '../baselines.ts';
import { pairedRounds, reportSpeedUp } from '../measure.ts';
import { denseIpv4, ipv4Texts, scatteredIpv4 } from './address-lists.ts';

/** Collects blocks as numbers. */
class Ipv4Blocks implements BlockSink {
  networks: Uint32Array;
  lengths: Uint8Array;
  count = 0;

  constructor(expected: number) {
    this.networks = new Uint32Array(expected);
    this.lengths = new Uint8Array(expected);
  }

  ipv4(network: number, length: number): void {
    if (this.count === this.networks.length) this.#enlarge();
    this.networks[this.count] = network;
    this.lengths[this.count++] = length;
  }

  ipv6(): void {
    throw new Error('these lists are IPv4');
  }

  #enlarge(): void {
    const [networks, lengths] = [new Uint32Array(2 * this.count), new Uint8Array(2 * this.count)];
    networks.set(this.networks);
    lengths.set(this.lengths);
    [this.networks, this.lengths] = [networks, lengths];
  }
}

const mergeCidr = await baselineFunction('cidr-tools', 'mergeCidr');

for (const [name, addresses] of [
  ['1,000,000 random IPv4 addresses', scatteredIpv4(1_000_000)],
  ['1,000,000 dense IPv4 addresses', denseIpv4(1_000_000)],
] as const) {
  const texts = ipv4Texts(addresses);
  const set = setOf(addresses);
  const baseline = (): unknown => mergeCidr(texts);
  const merged = baseline();
  strictEqual(Array.isArray(merged) ? merged.length : 0, blocksOf(set).count);
  reportSpeedUp(
    `range set of ${name} to blocks, cidr-tools`,
    pairedRounds({ ours: () => blocksOf(set), baseline }),
    20,
  );
  reportSpeedUp(
    `${name} as numbers to a range set to blocks, cidr-tools`,
    pairedRounds({ ours: () => blocksOf(setOf(addresses)), baseline }),
  );
}

function setOf(addresses: Uint32Array): RangeSet {
  const intake = new RangeSetBuilder(addresses.length);
  for (const address of addresses) intake.addIpv4(address, address);
  return RangeSet.fromIntake(intake);
}

function blocksOf(set: RangeSet): Ipv4Blocks {
  const blocks = new Ipv4Blocks(2 * set.rangeCount);
  coverInto(set, blocks);
  return blocks;
}
