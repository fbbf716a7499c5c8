import { isAddressProblem } from '../../../addresses/address-problem.ts';
import { compareAddresses } from '../../../addresses/address.ts';
import { type Cidr, formatCidr, networkAddress, parseCidr } from '../../../addresses/cidr.ts';
import { RouterFailure } from '../../../ports/routers.ts';

/** A CIDR in its canonical text, or undefined for any other text, however close. */
export function canonicalCidr(text: string): Cidr | undefined {
  const cidr = parseCidr(text);
  return isAddressProblem(cidr) || formatCidr(cidr) !== text ? undefined : cidr;
}

/**
 * What a list shall hold: every prefix once, IPv4 first, in numeric order.
 * @throws RouterFailure `rejected` for what is no CIDR; a router might read something else in it.
 */
export function wantedPrefixes(prefixes: readonly string[]): readonly Cidr[] {
  const wanted = prefixes.map((text) => {
    const cidr = parseCidr(text);
    if (isAddressProblem(cidr)) throw new RouterFailure('rejected', `nothing was sent: ${cidr.problem}`);
    return cidr;
  });
  return wanted.sort(compareCidrs).filter((cidr, at) => {
    const before = wanted[at - 1];
    return before === undefined || compareCidrs(before, cidr) !== 0;
  });
}

/** Negative, zero or positive, as sorting wants it: by first address, the larger block first. */
export function compareCidrs(a: Cidr, b: Cidr): number {
  return compareAddresses(networkAddress(a), networkAddress(b)) || a.length - b.length;
}
