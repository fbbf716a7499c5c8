import { Netmask } from 'netmask';
import type { AddressRange } from './range.ts';

/** One row of a registry: a block, what it is for, and whether the registry says that it is globally reachable (not when it says nothing). */
export type SpecialPurposeBlock = Readonly<{ block: string; name: string; isReachable: boolean }>;

const row = (block: string, name: string, isReachable = false): SpecialPurposeBlock => ({ block, name, isReachable });

/**
 * The IANA IPv4 Special-Purpose Address Registry (RFC 6890, section 2.2.2, updated by RFC 8190;
 * https://www.iana.org/assignments/iana-ipv4-special-registry), as of its entries of 2020-09.
 */
export const SPECIAL_PURPOSE_IPV4: readonly SpecialPurposeBlock[] = [
  row('0.0.0.0/8', 'this network'), // RFC 791
  row('0.0.0.0/32', 'this host on this network'), // RFC 1122
  row('10.0.0.0/8', 'private use'), // RFC 1918
  row('100.64.0.0/10', 'shared address space'), // RFC 6598
  row('127.0.0.0/8', 'loopback'), // RFC 1122
  row('169.254.0.0/16', 'link local'), // RFC 3927
  row('172.16.0.0/12', 'private use'), // RFC 1918
  row('192.0.0.0/24', 'IETF protocol assignments'), // RFC 6890
  row('192.0.0.0/29', 'IPv4 service continuity'), // RFC 7335
  row('192.0.0.8/32', 'IPv4 dummy address'), // RFC 7600
  row('192.0.0.9/32', 'port control protocol anycast', true), // RFC 7723
  row('192.0.0.10/32', 'TURN anycast', true), // RFC 8155
  row('192.0.0.170/32', 'NAT64/DNS64 discovery'), // RFC 8880
  row('192.0.0.171/32', 'NAT64/DNS64 discovery'), // RFC 8880
  row('192.0.2.0/24', 'documentation'), // RFC 5737
  row('192.31.196.0/24', 'AS112-v4', true), // RFC 7535
  row('192.52.193.0/24', 'AMT', true), // RFC 7450
  row('192.88.99.0/24', 'deprecated 6to4 relay anycast'), // RFC 7526: the registry says nothing of its reach
  row('192.88.99.2/32', '6a44 relay anycast'), // RFC 6751
  row('192.168.0.0/16', 'private use'), // RFC 1918
  row('192.175.48.0/24', 'direct delegation AS112 service', true), // RFC 7534
  row('198.18.0.0/15', 'benchmarking'), // RFC 2544
  row('198.51.100.0/24', 'documentation'), // RFC 5737
  row('203.0.113.0/24', 'documentation'), // RFC 5737
  row('240.0.0.0/4', 'reserved'), // once class E, RFC 1112
  row('255.255.255.255/32', 'limited broadcast'), // RFC 8190 and RFC 919
];

/**
 * The IANA IPv6 Special-Purpose Address Registry (https://www.iana.org/assignments/iana-ipv6-special-registry), as of its entries
 * of 2024-10.
 */
export const SPECIAL_PURPOSE_IPV6: readonly SpecialPurposeBlock[] = [
  row('::1/128', 'loopback'), // RFC 4291
  row('::/128', 'unspecified'), // RFC 4291
  row('::ffff:0:0/96', 'IPv4-mapped'), // RFC 4291
  row('64:ff9b::/96', 'IPv4-IPv6 translation', true), // RFC 6052
  row('64:ff9b:1::/48', 'IPv4-IPv6 translation for local use'), // RFC 8215
  row('100::/64', 'discard only'), // RFC 6666
  row('100:0:0:1::/64', 'dummy prefix'), // RFC 9780
  row('2001::/23', 'IETF protocol assignments'), // RFC 2928
  row('2001::/32', 'Teredo'), // RFC 4380: the registry says that its reach does not apply
  row('2001:1::1/128', 'port control protocol anycast', true), // RFC 7723
  row('2001:1::2/128', 'TURN anycast', true), // RFC 8155
  row('2001:1::3/128', 'DNS-SD SRP anycast', true), // RFC 9665
  row('2001:2::/48', 'benchmarking'), // RFC 5180
  row('2001:3::/32', 'AMT', true), // RFC 7450
  row('2001:4:112::/48', 'AS112-v6', true), // RFC 7535
  row('2001:10::/28', 'deprecated ORCHID'), // RFC 4843
  row('2001:20::/28', 'ORCHIDv2', true), // RFC 7343
  row('2001:30::/28', 'drone remote id', true), // RFC 9374
  row('2001:db8::/32', 'documentation'), // RFC 3849
  row('2002::/16', '6to4'), // RFC 3056: the registry says that its reach does not apply
  row('2620:4f:8000::/48', 'direct delegation AS112 service', true), // RFC 7534
  row('3fff::/20', 'documentation'), // RFC 9637
  row('5f00::/16', 'segment routing SIDs'), // RFC 9602
  row('fc00::/7', 'unique local'), // RFC 4193
  row('fe80::/10', 'link local'), // RFC 4291
];

/** Multicast has registries of its own (RFC 5771, RFC 4291). */
export const MULTICAST_IPV4 = '224.0.0.0/4';
export const MULTICAST_IPV6 = 'ff00::/8';

/** The addresses of an IPv4 block of the registry. */
export function rangeOfIpv4Block(block: string): AddressRange {
  const { netLong, size } = new Netmask(block);
  return { version: 4, first: netLong, last: netLong + size - 1 };
}
