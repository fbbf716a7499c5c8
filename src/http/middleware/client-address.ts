import { isAddressProblem } from '../../addresses/address-problem.ts';
import { formatAddress, parseAddress } from '../../addresses/address.ts';
import { ipv4Text } from '../../addresses/address-text.ts';

/** Whoever names an address that is none is one client with all others that do so. */
const UNKNOWN = 'unknown';
/** `::ffff:0:0/96` (RFC 4291, 2.5.5.2). */
const MAPPED = 0xffffn;
const HOST_BITS = 64n;

/** An address as a socket or an `X-Forwarded-For` header has it, without brackets, port and zone: `1.2.3.4:20001`, `[2001:db8::1]:20001`, `fe80::1%eth0`. */
export function bareAddress(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? plain ?? text).split('%');
  return address;
}

/** Whom a request without a token is counted for: an IPv4 address, an IPv6 address's /64. An IPv4-mapped address is the IPv4 address. */
export function clientOf(text: string | undefined): string {
  const address = parseAddress(bareAddress(text ?? ''));
  if (isAddressProblem(address)) return UNKNOWN;
  if (address.version === 4) return formatAddress(address);
  const { value } = address;
  if (value >> 32n === MAPPED) return ipv4Text(Number(value & 0xffff_ffffn));
  return `${formatAddress({ version: 6, value: (value >> HOST_BITS) << HOST_BITS })}/${HOST_BITS}`;
}
