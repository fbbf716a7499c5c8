/**
 * IPv6 values in limbs: their upper 32, middle 48 and lower 48 bits as plain numbers, because arithmetic on numbers costs a
 * small part of that on bigints. The point behind the last address, 2^128, is [2^32, 0, 0].
 */
const LOW_32 = (1n << 32n) - 1n;
const LOW_48 = (1n << 48n) - 1n;
const LIMB = 2 ** 48;

/** Writes a 128-bit value (or 2^128) as three limbs. */
export function writeLimbs(value: bigint, into: number[], at: number): void {
  into[at] = Number(value >> 96n);
  into[at + 1] = Number((value >> 48n) & LOW_48);
  into[at + 2] = Number(value & LOW_48);
}

/** The value of three limbs. */
export function bigintOf(high: number, middle: number, low: number): bigint {
  if (high === 0 && middle < 32) return BigInt(middle * LIMB + low);
  return (BigInt(high) << 96n) | (BigInt(middle) << 48n) | BigInt(low);
}

/** IPv6 values in four words, upper word first: how text is read and large lists are sorted. */
export type Words = Uint32Array<ArrayBuffer>;

/** Writes a 128-bit value as four words. */
export function writeWords(value: bigint, into: Words): void {
  for (let word = 0; word < 4; word++) into[word] = Number((value >> BigInt(96 - 32 * word)) & LOW_32);
}

/** The value of four words. */
export function bigintOfWords(words: Words): bigint {
  const upper = (BigInt(words[0] ?? 0) << 32n) | BigInt(words[1] ?? 0);
  const lower = (BigInt(words[2] ?? 0) << 32n) | BigInt(words[3] ?? 0);
  return (upper << 64n) | lower;
}

/** Writes the address in four words as limbs. */
export function wordsToLimbs(words: Words, at: number, into: number[], intoAt: number): void {
  const third = words[at + 2] ?? 0;
  into[intoAt] = words[at] ?? 0;
  into[intoAt + 1] = (words[at + 1] ?? 0) * 2 ** 16 + (third >>> 16);
  into[intoAt + 2] = (third & 0xffff) * 2 ** 32 + (words[at + 3] ?? 0);
}

/** Makes the address in three limbs the point behind it: adds one. */
export function incrementLimbs(limbs: number[], at: number): void {
  const low = (limbs[at + 2] ?? 0) + 1;
  limbs[at + 2] = low === LIMB ? 0 : low;
  if (low < LIMB) return;
  const middle = (limbs[at + 1] ?? 0) + 1;
  limbs[at + 1] = middle === LIMB ? 0 : middle;
  if (middle === LIMB) limbs[at] = (limbs[at] ?? 0) + 1;
}

/** Makes the point in three limbs the address before it: takes one away. */
export function decrementLimbs(limbs: number[], at: number): void {
  const low = limbs[at + 2] ?? 0;
  limbs[at + 2] = low === 0 ? LIMB - 1 : low - 1;
  if (low > 0) return;
  const middle = limbs[at + 1] ?? 0;
  limbs[at + 1] = middle === 0 ? LIMB - 1 : middle - 1;
  if (middle === 0) limbs[at] = (limbs[at] ?? 0) - 1;
}
