/** A position has at most 19 digits: 2^63 - 1. */
const DIGITS = 19;
const LAST = 10n ** BigInt(DIGITS) - 1n;

/** A part of a key by which a later event of the log comes before an earlier one. */
export function newestFirst(position: bigint): string {
  return String(LAST - position).padStart(DIGITS, '0');
}
