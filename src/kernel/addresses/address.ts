import type { AddressProblem } from './address-problem.ts';
import { addressProblem } from './address-problems.ts';
import { ipv4Text, ipv6Text } from './address-text.ts';
import { bigintOfWords, writeLimbs } from './limbs.ts';
import { unboxedNumbers } from './edges.ts';
import { textCursor } from './text-cursor.ts';

/** An IPv4 address as an unsigned 32-bit number. */
export type Ipv4Address = Readonly<{ version: 4; value: number }>;

/** An IPv6 address as an unsigned 128-bit number. */
export type Ipv6Address = Readonly<{ version: 6; value: bigint }>;

export type Address = Ipv4Address | Ipv6Address;

/**
 * Reads one address: a strict dotted quad (no leading zeros, no short or hexadecimal forms), or any RFC 4291 text form of
 * IPv6 without a zone id. `::ffff:a.b.c.d` is an IPv6 address.
 */
export function parseAddress(text: string): Address | AddressProblem {
  if (!cursor.load(text)) return addressProblem(text);
  const ipv4 = cursor.ipv4();
  if (ipv4 >= 0 && cursor.isAtEnd) return { version: 4, value: ipv4 };
  cursor.at = 0;
  if (!cursor.ipv6() || !cursor.isAtEnd) return addressProblem(text);
  return { version: 6, value: bigintOfWords(cursor.words) };
}

/** The canonical text: a dotted quad, or RFC 5952 with IPv4-mapped addresses in mixed notation (`::ffff:192.0.2.1`). */
export function formatAddress(address: Address): string {
  if (address.version === 4) return ipv4Text(address.value);
  writeLimbs(address.value, limbs, 0);
  return ipv6Text(limbs[0] ?? 0, limbs[1] ?? 0, limbs[2] ?? 0);
}

/** Negative, zero or positive, as sorting wants it: IPv4 before IPv6, then by number. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.value < b.value ? -1 : Number(a.value > b.value);
}

const cursor = textCursor();
const limbs = unboxedNumbers(3);
