import { type AddressProblem, isAddressProblem, quoted } from './address-problem.ts';
import { type Address, formatAddress, parseAddress } from './address.ts';

export type Ipv4Range = Readonly<{ version: 4; first: number; last: number }>;
export type Ipv6Range = Readonly<{ version: 6; first: bigint; last: bigint }>;

/** All addresses from `first` to `last`, both included; `first` is never above `last`. */
export type AddressRange = Ipv4Range | Ipv6Range;

/** Reads the two ends of a range; a problem when one is no address, when the versions differ, or when start is above end. */
export function parseRange(start: string, end: string): AddressRange | AddressProblem {
  const first = parseAddress(start);
  if (isAddressProblem(first)) return first;
  const last = parseAddress(end);
  if (isAddressProblem(last)) return last;
  return rangeBetween(first, last);
}

/** Reads one range text: `"a"`, or `"a-b"` with a below b. */
export function parseRangeText(text: string): AddressRange | AddressProblem {
  const dash = text.indexOf('-');
  if (dash < 0) {
    const address = parseAddress(text);
    if (isAddressProblem(address)) return address;
    return rangeOfAddress(address);
  }
  const range = parseRange(text.slice(0, dash), text.slice(dash + 1));
  if (isAddressProblem(range)) return { problem: `${quoted(text)} is not a range: ${range.problem}` };
  return range;
}

/** The range from one address to another; a problem when the versions differ or the first is above the last. */
export function rangeBetween(first: Address, last: Address): AddressRange | AddressProblem {
  if (first.version === 4 && last.version === 4 && first.value <= last.value) {
    return { version: 4, first: first.value, last: last.value };
  }
  if (first.version === 6 && last.version === 6 && first.value <= last.value) {
    return { version: 6, first: first.value, last: last.value };
  }
  const texts = `${formatAddress(first)} and ${formatAddress(last)}`;
  return first.version === last.version
    ? { problem: `the start of a range must not be above its end: ${texts} are probably swapped` }
    : { problem: `a range has one IP version: ${texts} are of different ones` };
}

/** The range that holds one address. */
export function rangeOfAddress(address: Address): AddressRange {
  return address.version === 4
    ? { version: 4, first: address.value, last: address.value }
    : { version: 6, first: address.value, last: address.value };
}

/** The first address of a range. */
export function firstAddress(range: AddressRange): Address {
  return range.version === 4 ? { version: 4, value: range.first } : { version: 6, value: range.first };
}

/** The last address of a range. */
export function lastAddress(range: AddressRange): Address {
  return range.version === 4 ? { version: 4, value: range.last } : { version: 6, value: range.last };
}

/** How many addresses a range holds, exactly. */
export function rangeSize(range: AddressRange): bigint {
  return BigInt(range.last) - BigInt(range.first) + 1n;
}

/** Whether the address lies in the range. */
export function rangeContains(range: AddressRange, address: Address): boolean {
  return range.version === address.version && range.first <= address.value && address.value <= range.last;
}

/** Whether two ranges have an address in common. */
export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}
