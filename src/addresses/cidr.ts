import { Netmask } from 'netmask';
import { type AddressProblem, isAddressProblem, quoted } from './address-problem.ts';
import type { AddressRange } from './range.ts';
import { type Address, formatAddress, parseAddress } from './address.ts';

/** An aligned block of addresses: `network` has no bit set below the prefix of `length` bits. */
export type Cidr =
  | Readonly<{ version: 4; network: number; length: number }>
  | Readonly<{ version: 6; network: bigint; length: number }>;

/**
 * Reads `<address>/<prefix length>`; the length is decimal without leading zeros.
 * Bits set below the prefix are a problem that names the network that was probably meant.
 */
export function parseCidr(text: string): Cidr | AddressProblem {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (isAddressProblem(address)) return { problem: `${quoted(text)} is not a CIDR: ${address.problem}` };
  const bits = address.version === 4 ? 32 : 128;
  if (slash < 0) {
    const single = `${formatAddress(address)}/${bits}`;
    return { problem: `${quoted(text)} is not a CIDR: it has no prefix length, a single address is ${single}` };
  }
  const lengthText = text.slice(slash + 1);
  const length = Number(lengthText);
  if (!STRICT_LENGTH.test(lengthText) || length > bits) {
    const allowed = `the prefix length of IPv${address.version} is a number from 0 to ${bits} without leading zeros`;
    return { problem: `${quoted(text)} is not a CIDR: ${allowed}` };
  }
  const cidr = cidrAround(address, length);
  if (cidr.network !== address.value) {
    return { problem: `${quoted(text)} has host bits set: the network is probably ${networkMeant(cidr, text)}` };
  }
  return cidr;
}

/** What was probably meant by a text with host bits; that it is a CIDR otherwise is known by now, so netmask reads it as it is meant. */
function networkMeant(cidr: Cidr, text: string): string {
  return cidr.version === 4 ? new Netmask(text).toString() : formatCidr(cidr);
}

/** The canonical text, the prefix length always shown: `192.0.2.1/32`, `2001:db8::/48`. */
export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(networkAddress(cidr))}/${cidr.length}`;
}

/** The block of the given prefix length that holds an address. */
export function cidrAround(address: Address, length: number): Cidr {
  if (address.version === 4) {
    const size = 2 ** (32 - length);
    return { version: 4, network: address.value - (address.value % size), length };
  }
  const hostBits = BigInt(128 - length);
  return { version: 6, network: (address.value >> hostBits) << hostBits, length };
}

/** The first address of a block. */
export function networkAddress(cidr: Cidr): Address {
  return cidr.version === 4 ? { version: 4, value: cidr.network } : { version: 6, value: cidr.network };
}

/** All addresses of a block; network and broadcast address are ordinary ones here. */
export function rangeOfCidr(cidr: Cidr): AddressRange {
  if (cidr.version === 4) {
    return { version: 4, first: cidr.network, last: cidr.network + 2 ** (32 - cidr.length) - 1 };
  }
  return { version: 6, first: cidr.network, last: cidr.network + (1n << BigInt(128 - cidr.length)) - 1n };
}

/** Orders blocks: IPv4 before IPv6, then by network, a wider block before the narrower ones in it. */
export function compareCidrs(a: Cidr, b: Cidr): number {
  if (a.version !== b.version) return a.version - b.version;
  if (a.network !== b.network) return a.network < b.network ? -1 : 1;
  return a.length - b.length;
}

const STRICT_LENGTH = /^(?:0|[1-9][0-9]{0,2})$/;
