import { type AddressProblem, quoted } from './address-problem.ts';
import { textCursor } from './address-scanner.ts';
import { ipv4Text, ipv6Text } from './address-text.ts';
import { unboxedNumbers } from './boundaries/chunk.ts';
import { bigintOfWords, writeLimbs } from './boundaries/limbs.ts';

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

const cursor = textCursor();
const limbs = unboxedNumbers(3);

/** Says why a text is not an address. Only called once reading it has failed, so it may take its time. */
export function addressProblem(text: string): AddressProblem {
  return { problem: `${quoted(text)} is not an IP address: ${advice(text)}` };
}

function advice(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return 'write an IPv4 address such as 192.0.2.1 or an IPv6 address such as 2001:db8::1';
  if (trimmed !== text && isAddress(trimmed)) return `leave the spaces around ${trimmed} away`;
  const [beforeSlash = ''] = text.split('/');
  if (beforeSlash !== text && isAddress(beforeSlash)) {
    return `a single address has no prefix length, write ${beforeSlash}`;
  }
  if (!text.includes(':')) return ipv4Advice(text);
  const [beforeZone = ''] = text.split('%');
  if (beforeZone !== text && isAddress(beforeZone)) return `leave the zone id away, write ${beforeZone}`;
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (bare !== text && isAddress(bare)) return `leave the brackets away, write ${bare}`;
  return 'IPv6 is eight groups of one to four hexadecimal digits, with "::" at most once in place of zero groups, such as 2001:db8::1';
}

function ipv4Advice(text: string): string {
  const decimal = text.replace(/(^|\.)0+(?=\d)/g, '$1');
  if (decimal !== text && isAddress(decimal)) return `write the numbers without leading zeros, ${decimal}`;
  return 'IPv4 is four decimal numbers from 0 to 255 with dots between, such as 192.0.2.1';
}

function isAddress(text: string): boolean {
  if (!cursor.load(text)) return false;
  if (cursor.ipv4() >= 0 && cursor.isAtEnd) return true;
  cursor.at = 0;
  return cursor.ipv6() && cursor.isAtEnd;
}
