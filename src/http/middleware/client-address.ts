import { isAddressProblem } from '../../addresses/address-problem.ts';
import { type Address, formatAddress, parseAddress } from '../../addresses/address.ts';

/** Clients whose address can't be read count as one client. */
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
  const address = clientAddress(text);
  if (address === undefined) return UNKNOWN;
  if (address.version === 4) return formatAddress(address);
  return `${formatAddress({ version: 6, value: (address.value >> HOST_BITS) << HOST_BITS })}/${HOST_BITS}`;
}

/** The address that a request comes from; an IPv4-mapped one is the IPv4 address. `undefined` where the text is none. */
export function clientAddress(text: string | undefined): Address | undefined {
  const address = parseAddress(bareAddress(text ?? ''));
  if (isAddressProblem(address)) return undefined;
  if (address.version === 6 && address.value >> 32n === MAPPED)
    return { version: 4, value: Number(address.value & 0xffff_ffffn) };
  return address;
}
