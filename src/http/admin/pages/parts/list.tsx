import type { ComponentChildren, JSX } from 'preact';
import { type Fields, fieldOf } from '../page.ts';
import { countOf } from './text.tsx';
import type { Sorting } from './table.tsx';

/** The rows of one page of a list. */
export const ROWS_MAX = 100;

/** What a list was asked for: its filter, its order, and where its page begins. */
export type ListQuery = Readonly<{ q: string; sort: string; isDescending: boolean; after: string; fields: Fields }>;

/** The query of a list's address; what it does not know is left aside. */
export function listQueryOf(query: Fields, defaultSort: string): ListQuery {
  const sort = fieldOf(query, 'sort') || defaultSort;
  return {
    q: fieldOf(query, 'q').trim(),
    sort: sort.replace(/^-/, ''),
    isDescending: sort.startsWith('-'),
    after: fieldOf(query, 'after'),
    fields: query,
  };
}

/** The address of the same list, with something asked otherwise; an empty value is left out. */
export function listAddress(path: string, query: Fields, changes: Readonly<Record<string, string>>): string {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') all[name] = value;
  const left = Object.entries({ ...all, ...changes }).filter(([, value]) => value !== '');
  return left.length === 0 ? path : `${path}?${new URLSearchParams(left).toString()}`;
}

/** How the list is sorted, as its headings need it. */
export function sortingOf(path: string, { sort, isDescending, fields }: ListQuery): Sorting {
  return {
    by: sort,
    isDescending,
    hrefOf: (key, descending) => listAddress(path, fields, { sort: `${descending ? '-' : ''}${key}`, after: '' }),
  };
}

/** One page of rows that are all in memory: those that fit the filter, in their order, from the row behind `after` on. */
export function pageOfRows<R>(
  rows: readonly R[],
  { after }: Pick<ListQuery, 'after'>,
  keyOf: (row: R) => string,
): Readonly<{ shown: readonly R[]; next: string | undefined; total: number }> {
  const at = after === '' ? 0 : rows.findIndex((row) => keyOf(row) === after) + 1;
  const shown = rows.slice(at, at + ROWS_MAX);
  const last = shown.at(-1);
  return {
    shown,
    next: at + shown.length < rows.length && last !== undefined ? keyOf(last) : undefined,
    total: rows.length,
  };
}

/** A list's filter: a form that is sent as an address, so that it can be shared and Back brings it back. */
export function Filter({
  path,
  query,
  label,
  children,
}: Readonly<{ path: string; query: ListQuery; label: string; children?: ComponentChildren }>): JSX.Element {
  const { q, fields } = query;
  const sort = fieldOf(fields, 'sort');
  return (
    <form class="filter" method="get" action={path} role="search" aria-label={label}>
      <label class="hidden" for="q">
        {label}
      </label>
      <input id="q" name="q" type="search" value={q} placeholder={label} autocomplete="off" />
      {children}
      {sort === '' ? null : <input type="hidden" name="sort" value={sort} />}
      <button>Filter</button>
      {q === '' ? null : <a href={listAddress(path, fields, { q: '', after: '' })}>Clear</a>}
    </form>
  );
}

/** Under a list: how many there are, and the way to the next page. */
export function Pager({
  path,
  query,
  next,
  total,
  noun,
}: Readonly<{
  path: string;
  query: ListQuery;
  next: string | undefined;
  /** How many there are in all, where that is known. */
  total?: number;
  noun: string;
}>): JSX.Element {
  return (
    <p class="pager">
      {total === undefined ? null : <span class="dim">{countOf(total, noun)}</span>}
      {query.after === '' ? null : <a href={listAddress(path, query.fields, { after: '' })}>First page</a>}
      {next === undefined ? null : (
        <a rel="next" href={listAddress(path, query.fields, { after: next })}>
          Next {ROWS_MAX}
        </a>
      )}
    </p>
  );
}
