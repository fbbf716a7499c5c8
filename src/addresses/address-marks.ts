import { ipv4OfText } from './address-scanner.ts';
import { EdgeBuilder } from './boundaries/builder.ts';
import { IPV4_SPACE } from './boundaries/chunk.ts';
import { RangeSet } from './range-set.ts';

/** What all marks together say. No address is in both of the first two sets. */
export type Marked = Readonly<{ set: RangeSet; cleared: RangeSet; either: RangeSet }>;

/** A mark and its turn must fit into a number beside 32 bits of address. */
const MARKS_MAX = 2 ** 20;

/**
 * IPv4 addresses that are set and cleared one by one, again and again; the last word on each of them counts. Many at once
 * go into a set for much less than one after the other.
 */
export class AddressMarks {
  /** The address, and in the lowest bit whether it is set. */
  #marks: number[] = [];

  /** Marks the address that a range text spells. `false`, and nothing done, when it is no single IPv4 address, or there are too many. */
  mark(text: string, isSet: boolean): boolean {
    const address = ipv4OfText(text);
    if (address < 0 || this.#marks.length === MARKS_MAX) return false;
    this.#marks.push(2 * address + (isSet ? 1 : 0));
    return true;
  }

  /** The addresses by their last marks. */
  marked(): Marked {
    const last = lastMarks(this.#marks);
    return {
      set: setOf(last, (mark) => mark % 2 === 1),
      cleared: setOf(last, (mark) => mark % 2 === 0),
      either: setOf(last, () => true),
    };
  }
}

/** The last mark of each address, in the order of addresses. */
function lastMarks(marks: readonly number[]): Float64Array {
  const turns = Float64Array.from(marks, (mark, turn) => {
    const address = Math.floor(mark / 2);
    return 2 * (address * MARKS_MAX + turn) + (mark % 2);
  }).sort();
  let count = 0;
  for (let at = 0; at < turns.length; at++) {
    const turn = turns[at] ?? 0;
    const address = Math.floor(turn / (2 * MARKS_MAX));
    if (address === Math.floor((turns[at + 1] ?? -1) / (2 * MARKS_MAX))) continue;
    turns[count++] = 2 * address + (turn % 2);
  }
  return turns.subarray(0, count);
}

function setOf(marks: Float64Array, isWanted: (mark: number) => boolean): RangeSet {
  const builder = new EdgeBuilder(IPV4_SPACE);
  const points = IPV4_SPACE.whole.slice();
  for (const mark of marks) {
    if (!isWanted(mark)) continue;
    points[0] = Math.floor(mark / 2);
    points[1] = points[0] + 1;
    builder.append(points, 0, points, 1);
  }
  const list = builder.finish();
  return list.isEmpty ? RangeSet.empty : new RangeSet(list, RangeSet.empty.ipv6);
}
