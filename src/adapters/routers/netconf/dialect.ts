import { compareCidrs, type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import { isAddressProblem } from '../../../addresses/address-problem.ts';
import { parseCidr } from '../../../addresses/cidr.ts';
import type { XmlElement } from '../../xml.ts';

/** How a kind of router writes prefix lists in its configuration. */
export type Dialect = Readonly<{
  /** Picks one list out of a datastore, by a subtree filter. */
  filterFor: (list: string) => XmlElement;
  /** Picks the names of all lists out of a datastore. */
  namesFilter: XmlElement;
  /** The names in what was answered to `namesFilter`. */
  namesIn: (data: XmlElement | undefined) => readonly string[];
  /** Configuration that takes a list away that is there. */
  removalOf: (list: string) => XmlElement;
  /** Configuration that makes a list hold exactly these prefixes; none leave a list that is there and matches nothing. */
  replacementFor: (list: string, prefixes: readonly Cidr[]) => XmlElement;
  /** The entries of a list in what a `<get-config>` has answered; what is more than a prefix in the dialect's words, last. */
  entriesIn: (data: XmlElement | undefined, list: string) => readonly string[] | 'absent';
  /** What a router may warn of although it has done what it was asked. */
  harmlessWarnings: readonly RegExp[];
}>;

/** Entries as the port wants them: the prefixes in numeric order, and all else behind them. */
export function orderedEntries(prefixes: readonly string[], foreign: readonly string[]): readonly string[] {
  const cidrs: Cidr[] = [];
  const others = [...foreign];
  for (const text of prefixes) {
    const cidr = parseCidr(text);
    if (isAddressProblem(cidr)) others.push(text);
    else cidrs.push(cidr);
  }
  return [...cidrs.sort(compareCidrs).map(formatCidr), ...others];
}
