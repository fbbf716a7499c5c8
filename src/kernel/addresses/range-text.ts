import { type AddressProblem, isAddressProblem, quoted } from './address-problem.ts';
import { type AddressRange, parseRange } from './address-range.ts';
import { parseAddress } from './address.ts';
import { IPV4_SPACE } from './edge-space.ts';
import { readEntry } from './entry-reader.ts';
import { invariant } from '../invariant.ts';
import { RangeIntake } from './range-intake.ts';
import { RangeSet } from './range-set.ts';
import { textCursor } from './text-cursor.ts';

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
  if (texts.length === 1) return parseOnly(only);
  const intake = new RangeIntake(texts.length);
  for (const text of texts) {
    if (text.includes('/') || !cursor.load(text) || !readEntry(cursor, intake) || !cursor.isAtEnd) {
      const outcome = parseRangeText(text);
      invariant(isAddressProblem(outcome), `both readers of ${text} agree`);
      throw new RangeTextError(text, outcome.problem);
    }
  }
  return RangeSet.fromIntake(intake);
}

/** Reads one range text: `"a"`, or `"a-b"` with a below b. */
export function parseRangeText(text: string): AddressRange | AddressProblem {
  const dash = text.indexOf('-');
  if (dash < 0) {
    const address = parseAddress(text);
    if (isAddressProblem(address)) return address;
    return address.version === 4
      ? { version: 4, first: address.value, last: address.value }
      : { version: 6, first: address.value, last: address.value };
  }
  const range = parseRange(text.slice(0, dash), text.slice(dash + 1));
  if (isAddressProblem(range)) return { problem: `${quoted(text)} is not a range: ${range.problem}` };
  return range;
}

/** Most events hold one range, most often one address, and a rebuild reads millions of them. */
function parseOnly(text: string): RangeSet {
  if (cursor.load(text)) {
    const address = cursor.ipv4();
    if (address >= 0 && cursor.isAtEnd) {
      const edges = IPV4_SPACE.whole.slice();
      edges[0] = address;
      edges[1] = address + 1;
      return RangeSet.ofEdges(4, edges);
    }
  }
  const range = parseRangeText(text);
  if (isAddressProblem(range)) throw new RangeTextError(text, range.problem);
  return RangeSet.of(range);
}

const cursor = textCursor();
