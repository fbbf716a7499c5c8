import { comparePoints, IPV6_SPACE } from './boundaries/chunk.ts';
import { incrementLimbs, type Words, wordsToLimbs, writeWords } from './boundaries/limbs.ts';
import type { AddressRange } from './range.ts';

/** Takes merged ranges in order, each as its two points. */
export type RangeSink = {
  ipv4(start: number, end: number): void;
  /** The limbs of both points; the array is filled anew for the next range. */
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

/** Up to this many keys, moving them one by one into place is quickest. */
const FEW = 48;

/** Up to this many keys, the counters of wide digits cost more than the passes that they save. */
const MANY = 8_192;
const NARROW_DIGIT_BITS = 8;
const WIDE_DIGIT_BITS = 12;

/**
 * Sorts the first `count` unsigned 32-bit keys, and a payload along with them when there is one. The arrays given may be
 * overwritten. Least digit first, over those bits only in which the keys differ.
 */
export function sortedByKey(keys: Words, payload: Words | undefined, count: number): Sorted {
  if (count <= FEW) {
    insertInPlace(keys, payload, count);
    return { keys, payload };
  }
  const differing = differingBits(keys, count);
  if (differing === undefined) return { keys, payload };
  const digitBits = digitBitsFor(differing, count);
  const mask = 2 ** digitBits - 1;
  let from: Sorted = { keys, payload };
  let to: Sorted = { keys: new Uint32Array(count), payload: payload && new Uint32Array(count) };
  for (let shift = lowestBit(differing); shift < 32 && differing >>> shift !== 0; shift += digitBits) {
    if (((differing >>> shift) & mask) === 0) continue;
    const places = placesOf(from.keys, count, shift, mask);
    if (from.payload === undefined || to.payload === undefined) scatter(from.keys, to.keys, count, places, shift);
    else scatterPairs(from.keys, from.payload, to.keys, to.payload, count, places, shift);
    [from, to] = [to, from];
  }
  return from;
}

type Sorted = Readonly<{ keys: Words; payload: Words | undefined }>;

function insertInPlace(keys: Words, payload: Words | undefined, count: number): void {
  for (let i = 1; i < count; i++) {
    const key = keys[i] ?? 0;
    const load = payload?.[i] ?? 0;
    let at = i;
    for (; at > 0 && (keys[at - 1] ?? 0) > key; at--) {
      keys[at] = keys[at - 1] ?? 0;
      if (payload !== undefined) payload[at] = payload[at - 1] ?? 0;
    }
    keys[at] = key;
    if (payload !== undefined) payload[at] = load;
  }
}

/** The bits in which any two keys differ; undefined when the keys are in order already. */
function differingBits(keys: Words, count: number): number | undefined {
  const first = keys[0] ?? 0;
  let differing = 0;
  let previous = first;
  let isSorted = true;
  for (let i = 1; i < count; i++) {
    const key = keys[i] ?? 0;
    differing |= key ^ first;
    if (key < previous) isSorted = false;
    previous = key;
  }
  return isSorted ? undefined : differing;
}

function lowestBit(value: number): number {
  return 31 - Math.clz32(value & -value);
}

/** Digits as narrow as they may be without one more pass over all keys. */
function digitBitsFor(differing: number, count: number): number {
  const bits = 32 - Math.clz32(differing) - lowestBit(differing);
  const passes = Math.ceil(bits / (count <= MANY ? NARROW_DIGIT_BITS : WIDE_DIGIT_BITS));
  return Math.ceil(bits / passes);
}

/** Where the first key of every digit goes. */
function placesOf(keys: Words, count: number, shift: number, mask: number): Words {
  const places = new Uint32Array(mask + 1);
  for (let i = 0; i < count; i++) {
    const digit = ((keys[i] ?? 0) >>> shift) & mask;
    places[digit] = (places[digit] ?? 0) + 1;
  }
  return summedUp(places);
}

/** Turns counts into the sums of all counts before. */
function summedUp(counts: Words): Words {
  let sum = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit] ?? 0;
    counts[digit] = sum;
    sum += count;
  }
  return counts;
}

function scatter(from: Words, to: Words, count: number, places: Words, shift: number): void {
  const mask = places.length - 1;
  for (let i = 0; i < count; i++) {
    const key = from[i] ?? 0;
    const digit = (key >>> shift) & mask;
    const place = places[digit] ?? 0;
    places[digit] = place + 1;
    to[place] = key;
  }
}

function scatterPairs(
  fromKeys: Words,
  fromPayload: Words,
  toKeys: Words,
  toPayload: Words,
  count: number,
  places: Words,
  shift: number,
): void {
  const mask = places.length - 1;
  for (let i = 0; i < count; i++) {
    const key = fromKeys[i] ?? 0;
    const digit = (key >>> shift) & mask;
    const place = places[digit] ?? 0;
    places[digit] = place + 1;
    toKeys[place] = key;
    toPayload[place] = fromPayload[i] ?? 0;
  }
}

/** The order of keys of four words each (upper word first): their numbers, sorted; undefined when they are in order already. */
export function orderOfWords(words: Words, count: number): Words | undefined {
  if (isInOrder(words, count)) return undefined;
  let from = new Uint32Array(count);
  for (let i = 0; i < count; i++) from[i] = i;
  if (count <= FEW) return from.sort((a, b) => compareWords(words, a, b));
  let to = new Uint32Array(count);
  for (let word = 3; word >= 0; word--) {
    let differing = 0;
    for (let i = 0; i < count; i++) differing |= (words[4 * i + word] ?? 0) ^ (words[word] ?? 0);
    if (differing === 0) continue;
    const digitBits = digitBitsFor(differing, count);
    const mask = 2 ** digitBits - 1;
    for (let shift = lowestBit(differing); shift < 32 && differing >>> shift !== 0; shift += digitBits) {
      if (((differing >>> shift) & mask) === 0) continue;
      scatterOrder(words, word, shift, mask, from, to);
      [from, to] = [to, from];
    }
  }
  return from;
}

function scatterOrder(words: Words, word: number, shift: number, mask: number, from: Words, to: Words): void {
  const places = new Uint32Array(mask + 1);
  for (let i = 0; i < from.length; i++) {
    const digit = ((words[4 * i + word] ?? 0) >>> shift) & mask;
    places[digit] = (places[digit] ?? 0) + 1;
  }
  summedUp(places);
  for (let i = 0; i < from.length; i++) {
    const key = from[i] ?? 0;
    const digit = ((words[4 * key + word] ?? 0) >>> shift) & mask;
    const place = places[digit] ?? 0;
    places[digit] = place + 1;
    to[place] = key;
  }
}

function isInOrder(words: Words, count: number): boolean {
  for (let i = 1; i < count; i++) if (compareWords(words, i - 1, i) > 0) return false;
  return true;
}

/** Orders two keys of four words. */
function compareWords(words: Words, a: number, b: number): number {
  for (let word = 0; word < 4; word++) {
    const difference = (words[4 * a + word] ?? 0) - (words[4 * b + word] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
