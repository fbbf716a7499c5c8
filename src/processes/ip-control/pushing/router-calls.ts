import { withDeadline } from '../../../concurrency/deadline.ts';
import { contentOf } from '../../../domain/ip-control/commit-content.ts';
import type { Drift } from '../../../events/ip-control/router-upkeep.ts';
import type { ListContent } from '../../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';

/** What a router shows of a list. */
export type HeldList = readonly string[] | 'absent';

/** Calls a router, for so long at most. @throws RouterFailure `timed-out` where the driver gives up with its signal */
export function callRouter<T>(
  work: (within: AbortSignal) => Promise<T>,
  milliseconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  return withDeadline(work, milliseconds, timedOut, clock, signal);
}

function timedOut(milliseconds: number): RouterFailure {
  return new RouterFailure('timed-out', `no result within ${Math.round(milliseconds)} ms`);
}

/** Whether a list is these prefixes, in this order; an absent one is empty. */
export function isSameList(held: HeldList, prefixes: readonly string[]): boolean {
  const entries = entriesOf(held);
  return entries.length === prefixes.length && entries.every((entry, at) => entry === prefixes[at]);
}

/** Of a difference an event keeps so many blocks and entries, and of an entry in the words of a router so many characters. */
const KEPT_ENTRIES = 1000;
const KEPT_CHARACTERS = 200;

/** What a router has too much and too little of, in linear time: how many, and the first of them. */
export function differenceOf(
  held: HeldList,
  prefixes: readonly string[],
): Readonly<{ missing: number; extra: number; held: ListContent; difference: Drift }> {
  const entries = entriesOf(held);
  const [has, wants] = [new Set(entries), new Set(prefixes)];
  const missing = prefixes.filter((prefix) => !has.has(prefix));
  const extra = entries.filter((entry) => !wants.has(entry));
  const keptExtra = extra.slice(0, KEPT_ENTRIES).map((entry) => entry.slice(0, KEPT_CHARACTERS));
  const keptMissing = missing.slice(0, KEPT_ENTRIES - keptExtra.length);
  const more = missing.length + extra.length - keptMissing.length - keptExtra.length;
  const difference = { missing: keptMissing, extra: keptExtra, more };
  return { missing: missing.length, extra: extra.length, held: contentOf(entries), difference };
}

/** Whether a router answered, and what it holds can't be read as a list. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof RouterFailure && error.code === 'unreadable-answer';
}

/** Whether a change is in force, and lost after a restart of the router. */
export function isNotSaved(error: unknown): boolean {
  return error instanceof RouterFailure && error.code === 'not-saved';
}

/** A failure in a line, for an operator. */
export function describeFailure(error: unknown): string {
  if (error instanceof RouterFailure) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** The entries of a list; an absent one has none. */
export function entriesOf(held: HeldList): readonly string[] {
  return held === 'absent' ? [] : held;
}

/** How many of the prefixes are there. */
export function commonOf(held: readonly string[], prefixes: readonly string[]): number {
  const has = new Set(held);
  return prefixes.reduce((count, prefix) => count + (has.has(prefix) ? 1 : 0), 0);
}
