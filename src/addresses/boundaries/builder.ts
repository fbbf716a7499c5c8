import { Chunk, comparePoints, type Edges, type EdgeSpace } from './chunk.ts';
import { type EdgeCursor, EdgeList } from './list.ts';

/** Builds a list from left to right, out of single ranges and of parts of other lists, whose whole chunks it shares. */
export class EdgeBuilder {
  readonly #space: EdgeSpace;
  readonly #width: number;
  readonly #fewest: number;
  readonly #pending: number[];
  /** How many numbers of `#pending` are filled. */
  #length = 0;
  #chunks: Chunk[] = [];

  constructor(space: EdgeSpace) {
    this.#space = space;
    this.#width = space.width;
    this.#pending = space.scratch;
    this.#fewest = (space.chunkRanges >>> 1) * 2 * space.width;
  }

  /** Adds the range from the point at `starts[i…]` to the one at `ends[j…]`; not below what was added before. */
  append(starts: Edges, i: number, ends: Edges, j: number): void {
    const width = this.#width;
    const pending = this.#pending;
    if (this.#length > 0 && comparePoints(pending, this.#length - width, starts, i, width) === 0) {
      for (let limb = 0; limb < width; limb++) pending[this.#length - width + limb] = ends[j + limb] ?? 0;
      return;
    }
    if (this.#length === pending.length) this.#emit(pending.length / 2);
    const at = this.#length;
    for (let limb = 0; limb < width; limb++) {
      pending[at + limb] = starts[i + limb] ?? 0;
      pending[at + width + limb] = ends[j + limb] ?? 0;
    }
    this.#length = at + 2 * width;
  }

  /** Adds a range of IPv4 above all that was added before, and not next to it. */
  appendIpv4(start: number, end: number): void {
    const pending = this.#pending;
    if (this.#length === pending.length) this.#emit(pending.length / 2);
    pending[this.#length++] = start;
    pending[this.#length++] = end;
  }

  /** Adds what the cursor's list holds between two points, and moves the cursor there. */
  appendBetween(cursor: EdgeCursor, from: Edges, i: number, to: Edges, j: number): void {
    const width = this.#width;
    cursor.seek(from, i, 1);
    if (cursor.isAtEnd) return;
    if (cursor.isInside) {
      if (comparePoints(cursor.edges, cursor.at, to, j, width) >= 0) {
        this.append(from, i, to, j);
        return;
      }
      this.append(from, i, cursor.edges, cursor.at);
      cursor.step();
    }
    const { chunk, edge } = cursor;
    cursor.seek(to, j, 0);
    this.#appendEdges(cursor.list, chunk, edge, cursor.chunk, cursor.edge & ~1);
    if (cursor.isInside) this.append(cursor.edges, cursor.at - width, to, j);
  }

  /** The list of all that was added. */
  finish(): EdgeList {
    if (this.#length > 0 && this.#length < this.#fewest && this.#chunks.length > 0) {
      const tail = this.#pending.slice(0, this.#length);
      this.#length = 0;
      this.#reopen();
      this.#copyRanges(tail, 0, tail.length);
    }
    this.#flush();
    return new EdgeList(this.#space, this.#chunks);
  }

  /** Adds whole ranges of a list, from one edge to before another. */
  #appendEdges(list: EdgeList, chunk: number, edge: number, endChunk: number, endEdge: number): void {
    const width = this.#width;
    let next = chunk;
    const part = list.chunks[chunk];
    if (part === undefined) return;
    if (chunk === endChunk) {
      this.#copyRanges(part.edges, edge * width, endEdge * width);
      return;
    }
    if (edge > 0) {
      this.#copyRanges(part.edges, edge * width, part.edges.length);
      next++;
    }
    // Too little for a chunk of its own is filled up from the next one.
    const filler = this.#length > 0 && this.#length < this.#fewest && next < endChunk ? list.chunks[next] : undefined;
    if (filler !== undefined) {
      this.#copyRanges(filler.edges, 0, filler.edges.length);
      next++;
    }
    if (next < endChunk) this.#share(list, next, endChunk);
    const last = list.chunks[endChunk];
    if (last !== undefined) this.#copyRanges(last.edges, 0, endEdge * width);
  }

  /** Takes chunks over as they are. They touch nothing that was added: `appendBetween` has cut off what does. */
  #share(list: EdgeList, from: number, to: number): void {
    this.#flush();
    if (to - from > FEW_CHUNKS) {
      this.#chunks = this.#chunks.concat(list.chunks.slice(from, to));
      return;
    }
    for (let i = from; i < to; i++) {
      const chunk = list.chunks[i];
      if (chunk !== undefined) this.#chunks.push(chunk);
    }
  }

  /** Adds the ranges at `edges[from…]` to before `edges[to]`. */
  #copyRanges(edges: Edges, from: number, to: number): void {
    if (from === to) return;
    const width = this.#width;
    const pending = this.#pending;
    // Only the first one can touch what is there.
    this.append(edges, from, edges, from + width);
    let next = from + 2 * width;
    while (next < to) {
      if (this.#length === pending.length) this.#emit(pending.length / 2);
      const end = Math.min(to, next + pending.length - this.#length);
      let at = this.#length;
      while (next < end) pending[at++] = edges[next++] ?? 0;
      this.#length = at;
    }
  }

  /** Takes the last chunk back, to add to it. */
  #reopen(): void {
    const chunk = this.#chunks.pop();
    if (chunk === undefined) return;
    const { edges } = chunk;
    for (let at = 0; at < edges.length; at++) this.#pending[at] = edges[at] ?? 0;
    this.#length = edges.length;
  }

  #flush(): void {
    if (this.#length > 0) this.#emit(this.#length);
  }

  /** Makes a chunk of the first numbers that are pending. */
  #emit(length: number): void {
    const pending = this.#pending;
    this.#chunks.push(new Chunk(pending.slice(0, length), this.#width));
    for (let at = length; at < this.#length; at++) pending[at - length] = pending[at] ?? 0;
    this.#length -= length;
  }
}

/** From here on, copying the whole list of chunks at once is quicker than adding chunk by chunk. */
const FEW_CHUNKS = 64;
