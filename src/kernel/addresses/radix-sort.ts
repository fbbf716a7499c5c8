import type { Words } from './limbs.ts';

/** Digits of this many bits: their counters stay in the nearest cache, and 24 differing bits take two passes. */
const DIGIT_BITS = 12;
const DIGITS = 2 ** DIGIT_BITS;

/** Below this, the counters cost more than they save. */
const FEW = 512;

/**
 * Sorts unsigned 32-bit keys, and a payload along with them when there is one. The arrays given may be overwritten.
 * Least digit first, over those bits only in which the keys differ.
 */
export function sortedByKey(
  keys: Words,
  payload: Words | undefined,
): Readonly<{ keys: Words; payload: Words | undefined }> {
  const differing = differingBits(keys);
  if (differing === undefined) return { keys, payload };
  if (payload === undefined && keys.length < FEW) return { keys: keys.sort(), payload };
  let from = { keys, payload };
  let to = { keys: new Uint32Array(keys.length), payload: payload && new Uint32Array(keys.length) };
  for (let shift = lowestBit(differing); shift < 32 && differing >>> shift !== 0; shift += DIGIT_BITS) {
    if (((differing >>> shift) & (DIGITS - 1)) === 0) continue;
    const places = placesOf(from.keys, shift);
    if (from.payload === undefined || to.payload === undefined) scatter(from.keys, to.keys, places, shift);
    else scatterPairs(from.keys, from.payload, to.keys, to.payload, places, shift);
    [from, to] = [to, from];
  }
  return from;
}

/** The bits in which any two keys differ; undefined when the keys are in order already. */
function differingBits(keys: Words): number | undefined {
  const first = keys[0] ?? 0;
  let differing = 0;
  let previous = first;
  let isSorted = true;
  for (const key of keys) {
    differing |= key ^ first;
    if (key < previous) isSorted = false;
    previous = key;
  }
  return isSorted ? undefined : differing;
}

function lowestBit(value: number): number {
  return 31 - Math.clz32(value & -value);
}

/** Where the first key of every digit goes. */
function placesOf(keys: Words, shift: number): Words {
  const places = new Uint32Array(DIGITS);
  for (let i = 0; i < keys.length; i++) {
    const digit = ((keys[i] ?? 0) >>> shift) & (DIGITS - 1);
    places[digit] = (places[digit] ?? 0) + 1;
  }
  let sum = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = places[digit] ?? 0;
    places[digit] = sum;
    sum += count;
  }
  return places;
}

function scatter(from: Words, to: Words, places: Words, shift: number): void {
  for (let i = 0; i < from.length; i++) {
    const key = from[i] ?? 0;
    const digit = (key >>> shift) & (DIGITS - 1);
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
  places: Words,
  shift: number,
): void {
  for (let i = 0; i < fromKeys.length; i++) {
    const key = fromKeys[i] ?? 0;
    const digit = (key >>> shift) & (DIGITS - 1);
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
  if (count < FEW) return from.sort((a, b) => compareWords(words, a, b));
  let to = new Uint32Array(count);
  for (let word = 3; word >= 0; word--) {
    let differing = 0;
    for (let i = 0; i < count; i++) differing |= (words[4 * i + word] ?? 0) ^ (words[word] ?? 0);
    if (differing === 0) continue;
    for (let shift = lowestBit(differing); shift < 32 && differing >>> shift !== 0; shift += DIGIT_BITS) {
      if (((differing >>> shift) & (DIGITS - 1)) === 0) continue;
      scatterOrder(words, word, shift, from, to);
      [from, to] = [to, from];
    }
  }
  return from;
}

function scatterOrder(words: Words, word: number, shift: number, from: Words, to: Words): void {
  const places = new Uint32Array(DIGITS);
  for (let i = 0; i < from.length; i++) {
    const digit = ((words[4 * i + word] ?? 0) >>> shift) & (DIGITS - 1);
    places[digit] = (places[digit] ?? 0) + 1;
  }
  let sum = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = places[digit] ?? 0;
    places[digit] = sum;
    sum += count;
  }
  for (let i = 0; i < from.length; i++) {
    const key = from[i] ?? 0;
    const digit = ((words[4 * key + word] ?? 0) >>> shift) & (DIGITS - 1);
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
