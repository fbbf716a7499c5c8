import { Chunk, comparePoints, type Edges, type EdgeSpace, IPV4_SPACE, IPV6_SPACE, type PackedEdges } from './chunk.ts';
import { EdgeList } from './list.ts';
import { PackedDamage, VarintReader, VarintWriter } from './varints.ts';

/**
 * A run of chunks of a list that is stored as one piece. Immutable; lists that have the very same chunks there share it, so that what was
 * stored of one list need not be stored again of the next one.
 *
 * Bytes: the form, the width of a point, how many chunks; of each chunk how many ranges, how many bytes, and of IPv4 how many addresses; then
 * the chunks, one after the other. Of IPv4 each point is written as its distance from the one before, of IPv6 as its limbs.
 */
export class Page {
  readonly space: EdgeSpace;
  readonly chunks: readonly Chunk[];

  constructor(space: EdgeSpace, chunks: readonly Chunk[]) {
    this.space = space;
    this.chunks = chunks;
  }

  /** What `pageOf` makes this page of again; the same for the same ranges in the same chunks. */
  bytes(): Uint8Array {
    const { width } = this.space;
    const [head, bodies] = [HEAD, BODIES];
    head.begin();
    bodies.begin();
    head.write(FORM);
    head.write(width);
    head.write(this.chunks.length);
    for (const chunk of this.chunks) {
      const from = bodies.length;
      const packed = chunk.packedBytes;
      if (packed !== undefined) bodies.writeBytes(packed);
      else if (width === 1) writeIpv4(chunk.edges, bodies);
      else writeIpv6(chunk.edges, bodies);
      head.write(chunk.rangeCount);
      head.write(bodies.length - from);
      if (width === 1) head.write(Number(chunk.size(width)));
    }
    head.writeBytes(bodies.written());
    return head.finish();
  }
}

const FORM = 1;
/** Writing is synchronous and never nested. */
const [HEAD, BODIES] = [new VarintWriter(), new VarintWriter()];

/** A page that is made has so many chunks, and between the fewest and the most of them where others border on it. */
const CHUNKS = 16;
const CHUNKS_FEWEST = CHUNKS / 2;
const CHUNKS_MOST = 2 * CHUNKS;
/** Lists may share a chunk and differ behind it: as many pages that begin with it are remembered. */
const CANDIDATES_MAX = 4;

const begunBy = new WeakMap<Chunk, Page[]>();

/** The pages of a list, in order: those of earlier lists wherever their chunks are here too, and new ones in between. */
export function pagesOf({ space, chunks }: EdgeList): readonly Page[] {
  const pages: Page[] = [];
  // The first chunk that is on no page yet.
  let from = 0;
  const take = (to: number): void => {
    if (to > from) pages.push(remembered(new Page(space, chunks.slice(from, to))));
    from = to;
  };
  for (let at = 0; at < chunks.length;) {
    const known = at === from || at - from >= CHUNKS_FEWEST ? knownPage(chunks, at) : undefined;
    if (known === undefined) {
      at += 1;
      // What is left is enough for the next page, so that the known ones behind it stay as they are.
      if (at - from === CHUNKS_MOST) take(at - CHUNKS);
      continue;
    }
    take(at);
    pages.push(known);
    at += known.chunks.length;
    from = at;
  }
  while (chunks.length - from > CHUNKS_MOST) take(from + CHUNKS);
  take(chunks.length);
  return pages;
}

/** A page of just these chunks; a small one only where the list ends, so that there are never many of them. */
function knownPage(chunks: readonly Chunk[], at: number): Page | undefined {
  const first = chunks[at];
  const candidates = first === undefined ? undefined : begunBy.get(first);
  return candidates?.find(({ chunks: those }) => {
    if (those.length < CHUNKS_FEWEST && at + those.length !== chunks.length) return false;
    for (let each = 0; each < those.length; each += 1) if (chunks[at + each] !== those[each]) return false;
    return true;
  });
}

function remembered(page: Page): Page {
  const [first] = page.chunks;
  if (first !== undefined) {
    const others = begunBy.get(first) ?? [];
    begunBy.set(first, [page, ...others.slice(0, CANDIDATES_MAX - 1)]);
  }
  return page;
}

/** The page that was stored as these bytes; its chunks are looked into when they are asked for. @throws PackedDamage */
export function pageOf(bytes: Uint8Array): Page {
  const head = new VarintReader(bytes);
  if (head.read() !== FORM) throw new PackedDamage('they have another form');
  const space = spaceOf(head.read());
  const count = head.read();
  if (count > CHUNKS_MOST) throw new PackedDamage(`${count} chunks are too many`);
  const chunks: Chunk[] = [];
  const packs: PackedRanges[] = [];
  for (let each = 0; each < count; each += 1) {
    const rangeCount = head.read();
    if (rangeCount === 0 || rangeCount > 2 * space.chunkRanges)
      throw new PackedDamage('a chunk is empty, or too large');
    const packed = new PackedRanges(space, bytes, rangeCount, head.read());
    const size = space.width === 1 ? head.read() : undefined;
    packs.push(packed);
    chunks.push(Chunk.packed(packed, space.width, rangeCount, size));
  }
  let at = head.at;
  for (const packed of packs) at = packed.beginAt(at);
  if (at !== bytes.length) throw new PackedDamage(`there are ${bytes.length} bytes of ${at}`);
  return remembered(new Page(space, chunks));
}

/** The list on these pages, which are of its version. @throws PackedDamage */
export function listOfPages(space: EdgeSpace, pages: readonly Page[]): EdgeList {
  if (pages.some((page) => page.space !== space)) throw new PackedDamage('a page is of another version');
  const chunks: Chunk[] = [];
  for (const page of pages) for (const chunk of page.chunks) chunks.push(chunk);
  return new EdgeList(space, chunks);
}

function spaceOf(width: number): EdgeSpace {
  if (width === IPV4_SPACE.width) return IPV4_SPACE;
  if (width === IPV6_SPACE.width) return IPV6_SPACE;
  throw new PackedDamage('they are of no version');
}

function writeIpv4(edges: Edges, into: VarintWriter): void {
  let before = 0;
  for (const point of edges) {
    into.write(point - before);
    before = point;
  }
}

function writeIpv6(edges: Edges, into: VarintWriter): void {
  for (const limb of edges) into.write(limb);
}

/** One chunk of a page that was stored. There are very many: each is one small object. */
class PackedRanges implements PackedEdges {
  readonly #space: EdgeSpace;
  readonly #page: Uint8Array;
  readonly #rangeCount: number;
  readonly #length: number;
  #at = 0;

  constructor(space: EdgeSpace, page: Uint8Array, rangeCount: number, length: number) {
    this.#space = space;
    this.#page = page;
    this.#rangeCount = rangeCount;
    this.#length = length;
  }

  /** Says where in the page it begins; gives where it ends. */
  beginAt(at: number): number {
    this.#at = at;
    return at + this.#length;
  }

  bytes(): Uint8Array {
    return this.#page.subarray(this.#at, this.#at + this.#length);
  }

  unpack(): Edges {
    const { width, scratch } = this.#space;
    const reader = new VarintReader(this.#page, this.#at);
    // A copy of an array of unboxed numbers is one.
    const edges = scratch.slice(0, 2 * width * this.#rangeCount);
    let before = 0;
    for (let at = 0; at < edges.length; at += 1) {
      before = width === 1 ? before + reader.read() : reader.read();
      edges[at] = before;
    }
    requireRising(edges, width);
    if (reader.at !== this.#at + this.#length) throw new PackedDamage('there is more or less than there should be');
    return edges;
  }
}

function requireRising(edges: Edges, width: number): void {
  for (let at = width; at < edges.length; at += width) {
    if (comparePoints(edges, at - width, edges, at, width) >= 0) throw new PackedDamage('points do not rise');
  }
}
