import { EdgeList } from './boundaries/list.ts';
import { type Page, pagesOf } from './boundaries/page.ts';
import { CidrTexts, coverIpv4List, coverIpv6List, coverTexts } from './cidr-cover.ts';
import type { RangeSet } from './range-set.ts';

/**
 * The minimal cover of a set as one text: canonical blocks in numeric order, IPv4 first, each followed by a newline. Immutable, and kept in
 * pieces, one for each page of the set: ranges of two pages never share a block, so that a piece follows from its page alone. A set that
 * came from another one shares its pages, and so its text shares the pieces.
 */
export class CoverText {
  /** How many blocks it has. */
  readonly count: number;
  readonly byteLength: number;
  readonly #set: RangeSet;
  readonly #pieces: readonly Piece[];

  private constructor(set: RangeSet, pieces: readonly Piece[]) {
    this.#set = set;
    this.#pieces = pieces;
    this.count = pieces.reduce((sum, { count }) => sum + count, 0);
    this.byteLength = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** The text of a set; what it has in common with an earlier one is taken from there. It is the same without. */
  static of(set: RangeSet, before?: CoverText): CoverText {
    const known = new Map((before === undefined ? [] : before.#pieces).map((piece) => [piece.page, piece]));
    const pages = [...pagesOf(set.ipv4), ...pagesOf(set.ipv6)];
    return new CoverText(
      set,
      pages.map((page) => known.get(page) ?? pieceOf(page)),
    );
  }

  /** The text in order, piece by piece; each ends with a newline. */
  get pieces(): readonly Uint8Array[] {
    return this.#pieces.map(({ bytes }) => bytes);
  }

  /** Each block for itself. */
  texts(): string[] {
    return coverTexts(this.#set);
  }

  /** Whether another text has the very same lines, in whatever order, each ended by a newline. Only where it differs is it read. */
  hasLinesOf(other: Uint8Array): boolean {
    if (other.length !== this.byteLength) return false;
    let [from, to, at] = [-1, 0, 0];
    for (const { bytes } of this.#pieces) {
      const end = at + bytes.length;
      if (Buffer.compare(bytes, other.subarray(at, end)) !== 0) {
        if (from < 0) from = at;
        to = end;
      }
      at = end;
    }
    if (from < 0) return true;
    // What is equal before and behind are whole lines, if the part between them ends with one.
    return endsLine(other, to) ? this.#hasLinesBetween(other, from, to) : this.#hasLinesBetween(other, from, at);
  }

  #hasLinesBetween(other: Uint8Array, from: number, to: number): boolean {
    if (!endsLine(other, to)) return false;
    const [own, others] = [linesOf(this.#part(from, to)), linesOf(other.subarray(from, to))];
    return own.length === others.length && own.every((line, at) => line === others[at]);
  }

  /** From the beginning of one piece to the end of another one. */
  #part(from: number, to: number): Uint8Array {
    const part = new Uint8Array(to - from);
    let at = 0;
    for (const { bytes } of this.#pieces) {
      if (at >= from && at < to) part.set(bytes, at - from);
      at += bytes.length;
    }
    return part;
  }
}

type Piece = Readonly<{ page: Page; bytes: Uint8Array; count: number }>;

const NEWLINE = 10;
const ENCODER = new TextEncoder();
/** Each byte is a character of its own: what differs as bytes differs as texts. */
const DECODER = new TextDecoder('latin1');

function pieceOf(page: Page): Piece {
  const { space, chunks } = page;
  const list = new EdgeList(space, chunks);
  const blocks = new CidrTexts();
  if (space.width === 1) coverIpv4List(list, blocks);
  else coverIpv6List(list, blocks);
  const bytes = ENCODER.encode(blocks.texts.map((text) => `${text}\n`).join(''));
  return { page, bytes, count: blocks.texts.length };
}

function endsLine(text: Uint8Array, end: number): boolean {
  return text[end - 1] === NEWLINE;
}

function linesOf(text: Uint8Array): string[] {
  return DECODER.decode(text).split('\n').sort();
}
