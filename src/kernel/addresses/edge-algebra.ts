import { comparePoints } from './edges.ts';
import { EdgeBuilder } from './edge-builder.ts';
import { EdgeCursor, type EdgeList } from './edge-list.ts';
import { withSpan } from './edge-splice.ts';
import { areComparable, IN_BOTH, IN_EITHER, IN_FIRST_ALONE, sweep } from './edge-sweep.ts';

/**
 * The addresses in either list. Costs the ranges of the smaller list, a search for each, and the chunks that change; where the lists are of
 * like length, one walk over both.
 */
export function unionOf(a: EdgeList, b: EdgeList): EdgeList {
  if (b.isEmpty || a === b) return a;
  if (a.isEmpty) return b;
  if (areComparable(a, b)) return sweep(a, b, IN_EITHER);
  const [small, big] = isSmaller(a, b) ? [a, b] : [b, a];
  const changed = withOnlyRange(big, small, true);
  if (changed !== undefined) return changed;
  const { width, start, end } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  let from = start;
  let fromAt = 0;
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      if (comparePoints(from, fromAt, edges, at, width) < 0) builder.appendBetween(cursor, from, fromAt, edges, at);
      builder.append(edges, at, edges, at + width);
      from = edges;
      fromAt = at + width;
    }
  }
  builder.appendBetween(cursor, from, fromAt, end, 0);
  return builder.finish();
}

/** The addresses in both lists. Costs as `unionOf`. */
export function intersectionOf(a: EdgeList, b: EdgeList): EdgeList {
  if (a.isEmpty || a === b) return a;
  if (b.isEmpty) return b;
  if (isInOneRange(a, b)) return a;
  if (isInOneRange(b, a)) return b;
  if (areComparable(a, b)) return sweep(a, b, IN_BOTH);
  const [small, big] = isSmaller(a, b) ? [a, b] : [b, a];
  const { width } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      builder.appendBetween(cursor, edges, at, edges, at + width);
    }
  }
  return builder.finish();
}

/** The addresses of the first list that are not in the second. Costs as `unionOf`. */
export function differenceOf(a: EdgeList, b: EdgeList): EdgeList {
  if (a.isEmpty || b.isEmpty) return a;
  if (areComparable(a, b)) return sweep(a, b, IN_FIRST_ALONE);
  return withOnlyRange(a, b, false) ?? (isSmaller(a, b) ? smallWithoutBig(a, b) : bigWithoutSmall(a, b));
}

/** The big list with the one range of the other filled or cleared, where that is quick; undefined otherwise. */
function withOnlyRange(big: EdgeList, other: EdgeList, isFilled: boolean): EdgeList | undefined {
  const only = other.chunks[0]?.edges;
  if (only === undefined || only.length !== 2 * big.space.width) return undefined;
  return withSpan(big, only, isFilled);
}

/** Whether one range of the second list holds all of the first: what a customer changes mostly lies in one subnet. */
function isInOneRange(inner: EdgeList, outer: EdgeList): boolean {
  const { width } = inner.space;
  const first = inner.chunks[0]?.edges;
  const last = inner.chunks.at(-1)?.edges;
  if (first === undefined || last === undefined) return false;
  const cursor = new EdgeCursor(outer);
  cursor.seek(first, 0, 1);
  return cursor.isInside && comparePoints(last, last.length - width, cursor.edges, cursor.at, width) <= 0;
}

/** Whether the first list has fewer ranges, about: counting them all would cost more than the right guess saves. */
function isSmaller(a: EdgeList, b: EdgeList): boolean {
  if (a.chunks.length !== b.chunks.length) return a.chunks.length < b.chunks.length;
  return (a.chunks[0]?.rangeCount ?? 0) < (b.chunks[0]?.rangeCount ?? 0);
}

function bigWithoutSmall(big: EdgeList, small: EdgeList): EdgeList {
  const { width, start, end } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  let from = start;
  let fromAt = 0;
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      if (comparePoints(from, fromAt, edges, at, width) < 0) builder.appendBetween(cursor, from, fromAt, edges, at);
      from = edges;
      fromAt = at + width;
    }
  }
  if (comparePoints(from, fromAt, end, 0, width) < 0) builder.appendBetween(cursor, from, fromAt, end, 0);
  return builder.finish();
}

function smallWithoutBig(small: EdgeList, big: EdgeList): EdgeList {
  const { width } = small.space;
  const builder = new EdgeBuilder(small.space);
  const cursor = new EdgeCursor(big);
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) appendWithout(builder, cursor, edges, at, width);
  }
  return builder.finish();
}

/** Adds the range at `edges[at…]`, less what the cursor's list holds of it. */
function appendWithout(
  builder: EdgeBuilder,
  cursor: EdgeCursor,
  edges: readonly number[],
  at: number,
  width: number,
): void {
  const end = at + width;
  let from = edges;
  let fromAt = at;
  cursor.seek(edges, at, 1);
  if (cursor.isInside) {
    if (comparePoints(cursor.edges, cursor.at, edges, end, width) >= 0) return;
    from = cursor.edges;
    fromAt = cursor.at;
    cursor.step();
  }
  while (!cursor.isAtEnd && comparePoints(cursor.edges, cursor.at, edges, end, width) < 0) {
    builder.append(from, fromAt, cursor.edges, cursor.at);
    cursor.step();
    if (comparePoints(cursor.edges, cursor.at, edges, end, width) >= 0) return;
    from = cursor.edges;
    fromAt = cursor.at;
    cursor.step();
  }
  builder.append(from, fromAt, edges, end);
}
