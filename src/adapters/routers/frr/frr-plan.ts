import { type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import type { Entry } from './frr-answers.ts';

export type Family = 'ip' | 'ipv6';

/** A list of one family as it is, or undefined when it is missing, and the prefixes that it shall permit. */
export type Wish = Readonly<{
  family: Family;
  list: string;
  held: readonly Entry[] | undefined;
  wanted: readonly Cidr[];
}>;

/**
 * The configuration lines of a change, and what they cost the router. `head` must be committed together, `tail` follows.
 *
 * Every plan keeps the list, at every step of the way, to what its old or its new content permits, so that nothing else is
 * ever permitted even where a router shows the steps (FRR 9 and newer commit every 5,000 lines; a vtysh that is killed
 * commits what it has sent):
 * - A new entry gets a sequence number that the old list does not use. Otherwise FRR would change the old entry's parts one
 *   after the other, and a `deny 0.0.0.0/0` that becomes `permit 192.0.2.0/24` is `permit 0.0.0.0/0` in between.
 * - Permits that go, go before denies that go: what a deny covers may be permitted by an entry behind it.
 */
export type Plan = Readonly<{
  head: readonly string[];
  tail: readonly string[];
  adds: number;
  deletes: number;
  entriesBefore: number;
}>;

type Difference = Readonly<{ kept: readonly Cidr[]; added: readonly Cidr[]; removed: readonly Entry[] }>;

/** Whether the list permits exactly what is wanted, and nothing is odd about it. */
export function isFulfilled({ held, wanted }: Wish): boolean {
  if ((held?.length ?? 0) !== wanted.length) return false;
  const texts = new Set(held?.filter((entry) => entry.plain).map((entry) => entry.text));
  return texts.size === wanted.length && wanted.every((cidr) => texts.has(formatCidr(cidr)));
}

/** The smallest change: entries that stay are not touched. `addFirst`: nothing goes before its successor is there. */
export function smallestPlan(wish: Wish, addFirst: boolean): Plan {
  const { added, removed } = differenceOf(wish);
  const adds = permitLines(wish, added);
  const deletes = removalsInOrder(removed).map(
    ({ sequence }) => `no ${wish.family} prefix-list ${wish.list} seq ${sequence}`,
  );
  return {
    head: [],
    tail: addFirst ? [...adds, ...deletes] : [...deletes, ...adds],
    adds: adds.length,
    deletes: deletes.length,
    entriesBefore: wish.held?.length ?? 0,
  };
}

/** The whole list, written again, which takes leftovers of it in any other daemon along. What stays is never gone. */
export function wholePlan(wish: Wish): Plan {
  const { kept, added } = differenceOf(wish);
  const permits = permitLines(wish, [...kept, ...added]);
  return {
    head: [`no ${wish.family} prefix-list ${wish.list}`, ...permits.slice(0, kept.length)],
    tail: permits.slice(kept.length),
    adds: permits.length,
    deletes: 0,
    entriesBefore: 0,
  };
}

function differenceOf({ held = [], wanted }: Wish): Difference {
  const missing = new Map(wanted.map((cidr) => [formatCidr(cidr), cidr]));
  const kept: Cidr[] = [];
  const removed: Entry[] = [];
  for (const entry of held) {
    if (entry.plain && missing.delete(entry.text)) kept.push(entry.cidr);
    else removed.push(entry);
  }
  return { kept, removed, added: [...missing.values()] };
}

function removalsInOrder(removed: readonly Entry[]): readonly Entry[] {
  return [...removed.filter((entry) => entry.permits), ...removed.filter((entry) => !entry.permits)];
}

function permitLines({ family, list, held = [] }: Wish, cidrs: readonly Cidr[]): readonly string[] {
  const used = new Set(held.map((entry) => entry.sequence));
  let sequence = 0;
  return cidrs.map((cidr) => {
    do sequence += SEQUENCE_STEP;
    while (used.has(sequence));
    return `${family} prefix-list ${list} seq ${sequence} permit ${formatCidr(cidr)}`;
  });
}

/** FRR's own step. Half the numbers up to the last one that exists are far more than any list has entries. */
const SEQUENCE_STEP = 5;
