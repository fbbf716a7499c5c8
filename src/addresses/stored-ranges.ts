import { type EdgeSpace, IPV4_SPACE, IPV6_SPACE } from './boundaries/chunk.ts';
import type { EdgeList } from './boundaries/list.ts';
import { listOfPages, type Page, pageOf, pagesOf } from './boundaries/page.ts';
import { RangeSet } from './range-set.ts';
import { parseRangeTexts, rangeTexts } from './range-text.ts';

/** The ranges of a set as they are stored: as texts, or, where there are many, as the names of the pages that hold them. */
export type StoredRanges = readonly string[] | PagedRanges;

/** The names of pages, in order. */
export type PagedRanges = Readonly<{ ipv4: readonly string[]; ipv6: readonly string[] }>;

/** Keeps a page apart from what names it, and gives its name. Of a page that was put before nothing needs to be kept again. */
export type PutPage = (page: Page) => string;

/** The page of a name, made by `read` of the bytes that were kept. */
export type GetPage = (name: string, read: (bytes: Uint8Array) => Page) => Page;

/** Fewer ranges are texts, which people can read; more are stored in pages, of which only new ones need to be written. */
export const PAGED_FROM = 4_096;

/** A set as it is stored; without a place for pages all of it is texts. */
export function storedRanges(set: RangeSet, put?: PutPage): StoredRanges {
  if (put === undefined || set.rangeCount < PAGED_FROM) return rangeTexts(set);
  return { ipv4: pagesOf(set.ipv4).map(put), ipv6: pagesOf(set.ipv6).map(put) };
}

/** The set that was stored. @throws RangeTextError, PackedDamage */
export function rangesOfStored(stored: StoredRanges, get?: GetPage): RangeSet {
  if (!isPaged(stored)) return parseRangeTexts(stored);
  if (get === undefined) throw new Error('broken invariant: who stores pages has a place for them');
  const list = (space: EdgeSpace, names: readonly string[]): EdgeList =>
    listOfPages(
      space,
      names.map((name) => get(name, pageOf)),
    );
  return new RangeSet(list(IPV4_SPACE, stored.ipv4), list(IPV6_SPACE, stored.ipv6));
}

/** Whether a part of something stored is a set in pages. */
export function isPaged(stored: unknown): stored is PagedRanges {
  return typeof stored === 'object' && stored !== null && 'ipv4' in stored && 'ipv6' in stored;
}
