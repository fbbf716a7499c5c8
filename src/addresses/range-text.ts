import { isAddressProblem } from './address-problem.ts';
import { type TextCursor, textCursor } from './address-scanner.ts';
import { comparePoints, type Edges, IPV4_SPACE, IPV6_SPACE } from './boundaries/chunk.ts';
import { incrementLimbs, type Words, wordsToLimbs } from './boundaries/limbs.ts';
import { RangeSetBuilder } from './range-set-builder.ts';
import { RangeSet } from './range-set.ts';
import { parseRangeText } from './range.ts';

export { parseRangeText };

/** Thrown when a stored text is not a range text; `text` is the one that is wrong. */
export class RangeTextError extends Error {
  readonly code = 'range-text-invalid';
  readonly text: string;

  constructor(text: string, problem: string) {
    super(problem);
    this.name = 'RangeTextError';
    this.text = text;
  }
}

/** The ranges of a set as texts in order, canonical: `"a"` for a single address, `"a-b"` otherwise. */
export function rangeTexts(set: RangeSet): string[] {
  return set.toJSON();
}

/** The set that range texts spell, in any order. Throws `RangeTextError`: these texts are our own, a wrong one is damage. */
export function parseRangeTexts(texts: readonly string[]): RangeSet {
  const [only] = texts;
  if (only === undefined) return RangeSet.empty;
  // Most events hold one range, and a rebuild reads millions of them.
  if (texts.length === 1) {
    const edges = edgesOfText(only);
    return RangeSet.ofEdges(edges.length === 2 ? 4 : 6, edges);
  }
  const intake = new RangeSetBuilder(texts.length);
  for (const text of texts) {
    if (!cursor.load(text) || !readRange(cursor, intake) || !cursor.isAtEnd) throw rangeTextError(text);
  }
  return RangeSet.fromIntake(intake);
}

/** Reads one `address` or `address-address` at the cursor into the intake. False when there is none, or the range is upside down; what must follow is for the caller to check. */
function readRange(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const ipv4 = cursor.ipv4();
  if (ipv4 >= 0) return addIpv4Range(ipv4, cursor, intake);
  return cursor.ipv6() && addIpv6Range(cursor, intake);
}

function addIpv4Range(first: number, cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const last = cursor.takes(DASH) ? cursor.ipv4() : first;
  if (last < first) return false;
  intake.addIpv4(first, last);
  return true;
}

function addIpv6Range(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const { words } = cursor;
  if (!cursor.takes(DASH)) {
    intake.addIpv6(words, words);
    return true;
  }
  firstWords.set(words);
  if (!cursor.ipv6() || isBelow(words, firstWords)) return false;
  intake.addIpv6(firstWords, words);
  return true;
}

function isBelow(a: Words, b: Words): boolean {
  for (let word = 0; word < 4; word++) {
    const difference = (a[word] ?? 0) - (b[word] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function edgesOfText(text: string): Edges {
  if (!cursor.load(text)) throw rangeTextError(text);
  const first = cursor.ipv4();
  if (first >= 0) {
    const last = cursor.takes(DASH) ? cursor.ipv4() : first;
    if (last < first || !cursor.isAtEnd) throw rangeTextError(text);
    const edges = IPV4_SPACE.whole.slice();
    edges[0] = first;
    edges[1] = last + 1;
    return edges;
  }
  const edges = IPV6_SPACE.whole.slice();
  if (!cursor.ipv6()) throw rangeTextError(text);
  wordsToLimbs(cursor.words, 0, edges, 0);
  if (cursor.takes(DASH) && !cursor.ipv6()) throw rangeTextError(text);
  wordsToLimbs(cursor.words, 0, edges, 3);
  incrementLimbs(edges, 3);
  if (!cursor.isAtEnd || comparePoints(edges, 0, edges, 3, 3) >= 0) throw rangeTextError(text);
  return edges;
}

function rangeTextError(text: string): RangeTextError {
  const outcome = parseRangeText(text);
  if (!isAddressProblem(outcome)) throw new Error(`broken invariant: both readers of ${text} agree`);
  return new RangeTextError(text, outcome.problem);
}

const DASH = '-'.charCodeAt(0);
const cursor = textCursor();
const firstWords = new Uint32Array(4);
