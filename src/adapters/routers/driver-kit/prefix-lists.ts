import { isAddressProblem } from '../../../addresses/address-problem.ts';
import { compareCidrs, type Cidr, formatCidr, parseCidr } from '../../../addresses/cidr.ts';
import { RouterFailure } from '../../../ports/routers.ts';

/** Our prefix, then at most 124 characters that no dialect gives a meaning to; so a name is a file name and one word, too. */
const LIST_NAME = /^Svc-[A-Za-z0-9_][A-Za-z0-9_.-]{0,123}$/;

/** Refuses a list that is not ours, before anything is done with its name. @throws RouterFailure `not-permitted` */
export function requireListName(list: string): void {
  if (LIST_NAME.test(list)) return;
  throw new RouterFailure(
    'not-permitted',
    `list ${JSON.stringify(list.slice(0, 140))} is not touched: ours are named Svc-… with letters, digits, "_", "." and "-", up to 128 characters`,
  );
}

/** Of all names that a router has, those of lists of ours, sorted. */
export function ourLists(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].filter((name) => LIST_NAME.test(name)).sort();
}

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
