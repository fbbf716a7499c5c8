// The lists of addresses that the benchmarks aggregate, the same ones in every run.
import { formatAddress } from '../../src/addresses/address.ts';
import { seededRandom } from '../measure.ts';

const TEN_SLASH_8 = 0x0a00_0000;

/** Distinct addresses of 10.0.0.0/8, in random order. */
export function scatteredIpv4(count: number): Uint32Array {
  return distinct(count, 2 ** 24).map((offset) => TEN_SLASH_8 + offset);
}

/** Addresses from 10.0.0.0 on, in order, every tenth or so missing. */
export function denseIpv4(count: number): Uint32Array {
  return dense(count).map((offset) => TEN_SLASH_8 + offset);
}

/** Distinct addresses of a /104, in random order, as texts. */
export function scatteredIpv6Texts(count: number): string[] {
  return Array.from(distinct(count, 2 ** 24), ipv6Text);
}

/** Addresses in order, every tenth or so missing, as texts. */
export function denseIpv6Texts(count: number): string[] {
  return Array.from(dense(count), ipv6Text);
}

export function ipv4Texts(addresses: Uint32Array): string[] {
  return Array.from(addresses, (value) => formatAddress({ version: 4, value }));
}

function ipv6Text(offset: number): string {
  return formatAddress({ version: 6, value: (0x2001_0db8_0000_0001n << 64n) + BigInt(offset) });
}

function distinct(count: number, space: number): Uint32Array {
  const random = seededRandom(count + 7);
  const isTaken = new Uint8Array(space);
  const offsets = new Uint32Array(count);
  for (let taken = 0; taken < count;) {
    const offset = random() % space;
    if (isTaken[offset] === 1) continue;
    isTaken[offset] = 1;
    offsets[taken++] = offset;
  }
  return offsets;
}

function dense(count: number): Uint32Array {
  const random = seededRandom(count + 9);
  const offsets = new Uint32Array(count);
  for (let taken = 0, offset = 0; taken < count; offset++) {
    if (random() % 10 > 0) offsets[taken++] = offset;
  }
  return offsets;
}
