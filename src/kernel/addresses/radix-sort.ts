import type { Words } from './limbs.ts';

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
