import { type AddressProblem, quoted } from './address-problem.ts';
import { textCursor } from './text-cursor.ts';

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

const cursor = textCursor();
