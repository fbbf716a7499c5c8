import type { AddressRange } from './address-range.ts';
import { IPV6_SPACE } from './edge-space.ts';
import { comparePoints } from './edges.ts';
import { incrementLimbs, type Words, wordsToLimbs, writeWords } from './limbs.ts';
import { orderOfWords, sortedByKey } from './radix-sort.ts';

/** Takes merged ranges in order, each as its two points. */
export type RangeSink = {
  ipv4(start: number, end: number): void;
  /** The limbs of both points; the array is filled anew for the next range. */
  ipv6(edges: readonly number[]): void;
};

/** Takes ranges in any order, overlapping or not, and gives them back sorted and merged. Made for millions of them. */
export class RangeIntake {
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
