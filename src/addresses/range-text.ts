import { isAddressProblem } from './address-problem.ts';
import { textCursor } from './address-scanner.ts';
import { comparePoints, type Edges, IPV4_SPACE, IPV6_SPACE } from './boundaries/chunk.ts';
import { incrementLimbs, wordsToLimbs } from './boundaries/limbs.ts';
import { readRange } from './entry-reader.ts';
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
