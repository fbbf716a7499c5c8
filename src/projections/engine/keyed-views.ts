import type { Collection, ReadModels } from '../../ports/read-models.ts';

/** A view and its key. */
export type KeyedView<V extends object> = Readonly<{ key: string; view: V }>;

/** At most `limit` of the views whose key starts with `prefix`, from the first key behind `after`. */
export type PageQuery = Readonly<{ prefix?: string; after?: string | undefined; limit: number }>;

/** What readers see of one projection. */
export type Views<V extends object> = Readonly<{
  /** The view of a key, with everything applied so far. */
  get: (key: string) => Promise<V | undefined>;
  /** All views whose key starts with `prefix`, in key order. */
  list: (prefix?: string) => Promise<readonly KeyedView<V>[]>;
  /** Of these at most `limit`, from the first key behind `after` (which need not exist): a list that is long is read in such pages. */
  page: (query: PageQuery) => Promise<readonly KeyedView<V>[]>;
}>;

/** A view as it is saved. */
export type SavedView = Awaited<ReturnType<ReadModels['list']>>[number];

/** How many saved views are read at a time where all of them are asked for. */
const PAGE = 1_000;

/** All saved views of a generation whose key starts with `prefix`, in key order. @throws CollectionGone when it is dropped meanwhile */
export async function* listSaved(
  readModels: ReadModels,
  collection: Collection,
  prefix: string,
): AsyncIterableIterator<SavedView> {
  for (let after: string | undefined; ;) {
    const query = { prefix, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await readModels.list(collection, query);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.key;
  }
}

/** Views as the read models list them: in the order of their keys. */
export function inKeyOrder<V extends object>(views: ReadonlyMap<string, V>): readonly KeyedView<V>[] {
  return [...views].map(([key, view]) => ({ key, view })).sort((a, b) => compareKeys(a.key, b.key));
}

/** Whether a key comes behind another in that order. */
export function isBehind(key: string, after: string | undefined): boolean {
  return after === undefined || compareKeys(key, after) > 0;
}

/** The read models order keys by code point; JavaScript orders by UTF-16 unit, where a surrogate comes before U+E000. */
function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = codePointOrder(a.charCodeAt(at)) - codePointOrder(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function codePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
