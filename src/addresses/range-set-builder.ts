import { comparePoints, IPV6_SPACE } from './boundaries/chunk.ts';
import { incrementLimbs, type Words, wordsToLimbs, writeWords } from './boundaries/limbs.ts';
import type { AddressRange } from './range.ts';

/** Takes merged ranges in order, each as its two points. */
export type RangeSink = {
  ipv4(start: number, end: number): void;
  /** The limbs of both points; the array is filled again for the next range. */
  ipv6(edges: readonly number[]): void;
};

/** Takes ranges in any order, overlapping or not, and gives them back sorted and merged. Made for millions of them. */
export class RangeSetBuilder {
  #ipv4Count = 0;
  #ipv4Firsts: Words;
  /** Absent while every range is a single address, as is most often so. */
  #ipv4Lasts: Words | undefined;
  #ipv6Count = 0;
  #ipv6Firsts: Words = new Uint32Array(4);
  #ipv6Lasts: Words | undefined;

  /** `expected` is a guess; there may be more ranges. */
  constructor(expected: number) {
    this.#ipv4Firsts = new Uint32Array(Math.max(1, expected));
  }

  add(range: AddressRange): void {
    if (range.version === 4) {
      this.addIpv4(range.first, range.last);
      return;
    }
    writeWords(range.first, wordsOfFirst);
    writeWords(range.last, wordsOfLast);
    this.addIpv6(wordsOfFirst, wordsOfLast);
  }

  addIpv4(first: number, last: number): void {
    const at = this.#ipv4Count;
    if (at === this.#ipv4Firsts.length) {
      this.#ipv4Firsts = enlarged(this.#ipv4Firsts, 2 * at);
      if (this.#ipv4Lasts !== undefined) this.#ipv4Lasts = enlarged(this.#ipv4Lasts, 2 * at);
    }
    if (first !== last) this.#ipv4Lasts ??= this.#ipv4Firsts.slice();
    this.#ipv4Firsts[at] = first;
    if (this.#ipv4Lasts !== undefined) this.#ipv4Lasts[at] = last;
    this.#ipv4Count = at + 1;
  }

  /** Adds a range whose ends are four words each; a single address is given twice. */
  addIpv6(first: Words, last: Words): void {
    const at = 4 * this.#ipv6Count;
    if (at === this.#ipv6Firsts.length) {
      const capacity = Math.max(2 * at, 4 * Math.min(this.#ipv4Firsts.length - this.#ipv4Count, FIRST_IPV6_GUESS));
      this.#ipv6Firsts = enlarged(this.#ipv6Firsts, capacity);
      if (this.#ipv6Lasts !== undefined) this.#ipv6Lasts = enlarged(this.#ipv6Lasts, capacity);
    }
    if (first !== last) this.#ipv6Lasts ??= this.#ipv6Firsts.slice();
    copyWords(first, this.#ipv6Firsts, at);
    if (this.#ipv6Lasts !== undefined) copyWords(last, this.#ipv6Lasts, at);
    this.#ipv6Count++;
  }

  /** Hands over what was added, IPv4 first; the intake is used up then. */
  mergeInto(sink: RangeSink): void {
    if (this.#ipv4Count > 0) {
      const { keys, payload } = sortedByKey(this.#ipv4Firsts, this.#ipv4Lasts, this.#ipv4Count);
      mergeIpv4(keys, payload ?? keys, this.#ipv4Count, sink);
    }
    if (this.#ipv6Count > 0) mergeIpv6(this.#ipv6Firsts, this.#ipv6Lasts ?? this.#ipv6Firsts, this.#ipv6Count, sink);
  }
}

function mergeIpv4(firsts: Words, lasts: Words, count: number, sink: RangeSink): void {
  let start = firsts[0] ?? 0;
  let end = (lasts[0] ?? 0) + 1;
  for (let i = 1; i < count; i++) {
    const first = firsts[i] ?? 0;
    const last = lasts[i] ?? 0;
    if (first > end) {
      sink.ipv4(start, end);
      start = first;
      end = last + 1;
    } else if (last >= end) {
      end = last + 1;
    }
  }
  sink.ipv4(start, end);
}

function mergeIpv6(firsts: Words, lasts: Words, count: number, sink: RangeSink): void {
  const order = orderOfWords(firsts, count);
  let current = IPV6_SPACE.whole.slice();
  let next = IPV6_SPACE.whole.slice();
  readEdges(firsts, lasts, order?.[0] ?? 0, current);
  for (let i = 1; i < count; i++) {
    readEdges(firsts, lasts, order?.[i] ?? i, next);
    if (comparePoints(next, 0, current, 3, 3) > 0) {
      sink.ipv6(current);
      [current, next] = [next, current];
    } else if (comparePoints(next, 3, current, 3, 3) > 0) {
      for (let limb = 3; limb < 6; limb++) current[limb] = next[limb] ?? 0;
    }
  }
  sink.ipv6(current);
}

function readEdges(firsts: Words, lasts: Words, range: number, into: number[]): void {
  wordsToLimbs(firsts, 4 * range, into, 0);
  wordsToLimbs(lasts, 4 * range, into, 3);
  incrementLimbs(into, 3);
}

function copyWords(from: Words, to: Words, at: number): void {
  to[at] = from[0] ?? 0;
  to[at + 1] = from[1] ?? 0;
  to[at + 2] = from[2] ?? 0;
  to[at + 3] = from[3] ?? 0;
}

function enlarged(words: Words, length: number): Words {
  const larger = new Uint32Array(length);
  larger.set(words);
  return larger;
}

const FIRST_IPV6_GUESS = 65_536;
const wordsOfFirst = new Uint32Array(4);
const wordsOfLast = new Uint32Array(4);

/** Which of two neighbouring words is the upper one of the number that they make here. */
const UPPER = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

/**
 * Sorts the first `count` unsigned 32-bit keys, and a payload along with them when there is one. The arrays given may be
 * overwritten.
 */
export function sortedByKey(keys: Words, payload: Words | undefined, count: number): Sorted {
  // What was stored comes in order.
  if (areInOrder(keys, count)) return { keys, payload };
  if (payload === undefined) {
    keys.subarray(0, count).sort();
    return { keys, payload };
  }
  sortPairs(keys, payload, count);
  return { keys, payload };
}

type Sorted = Readonly<{ keys: Words; payload: Words | undefined }>;

/** Sorts keys with their loads, in place; of equal keys the one with the smaller load comes first. */
function sortPairs(keys: Words, loads: Words, count: number): void {
  const pairs = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) {
    pairs[2 * i + UPPER] = keys[i] ?? 0;
    pairs[2 * i + 1 - UPPER] = loads[i] ?? 0;
  }
  new BigUint64Array(pairs.buffer).sort();
  for (let i = 0; i < count; i++) {
    keys[i] = pairs[2 * i + UPPER] ?? 0;
    loads[i] = pairs[2 * i + 1 - UPPER] ?? 0;
  }
}

function areInOrder(keys: Words, count: number): boolean {
  for (let i = 1; i < count; i++) if ((keys[i] ?? 0) < (keys[i - 1] ?? 0)) return false;
  return true;
}

/** The order of keys of four words each (upper word first): their numbers, sorted; undefined when they are in order already. */
export function orderOfWords(words: Words, count: number): Words | undefined {
  if (isInOrder(words, count)) return undefined;
  // By the first word that tells any two of them apart; what that leaves side by side is then compared whole.
  const word = firstDifferingWord(words, count);
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const firstWords = order.map((i) => words[4 * i + word] ?? 0);
  sortPairs(firstWords, order, count);
  for (let from = 0, to = 1; from < count; from = to, to++) {
    while (to < count && firstWords[to] === firstWords[from]) to++;
    if (to - from > 1) order.subarray(from, to).sort((a, b) => compareWords(words, a, b));
  }
  return order;
}

function firstDifferingWord(words: Words, count: number): number {
  for (let word = 0; word < 3; word++) {
    for (let i = 1; i < count; i++) if (words[4 * i + word] !== words[word]) return word;
  }
  return 3;
}

function isInOrder(words: Words, count: number): boolean {
  for (let i = 1; i < count; i++) if (compareWords(words, i - 1, i) > 0) return false;
  return true;
}

/** Orders two keys of four words. */
function compareWords(words: Words, a: number, b: number): number {
  const [i, j] = [4 * a, 4 * b];
  return (
    (words[i] ?? 0) - (words[j] ?? 0) ||
    (words[i + 1] ?? 0) - (words[j + 1] ?? 0) ||
    (words[i + 2] ?? 0) - (words[j + 2] ?? 0) ||
    (words[i + 3] ?? 0) - (words[j + 3] ?? 0)
  );
}
