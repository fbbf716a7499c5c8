import { type AddressProblem, isAddressProblem, quoted } from './address-problem.ts';
import { type AddressRange, parseRange } from './address-range.ts';
import { parseAddress } from './address.ts';
import { RangeSet } from './range-set.ts';

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
  return RangeSet.from(
    texts.map((text) => {
      const range = parseRangeText(text);
      if (isAddressProblem(range)) throw new RangeTextError(text, range.problem);
      return range;
    }),
  );
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
