import type { ComponentChildren, JSX } from 'preact';
import { type Fields, fieldOf } from '../page.ts';
import { countOf } from './text.tsx';
import { type Column, type Sorting, type SortKey, Table } from './table.tsx';

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

/**
 * One page of rows that are all in memory: those that fit the filter, in their order, from the row behind `after` on; where that row is gone,
 * from its place on.
 */
export function pageOfRows<R>(
  rows: readonly R[],
  { after }: Pick<ListQuery, 'after'>,
  keyOf: (row: R) => string,
): Readonly<{ shown: readonly R[]; next: string | undefined; total: number }> {
  const [, place = '', key = ''] = AFTER.exec(after) ?? [];
  const found = rows.findIndex((row) => keyOf(row) === key);
  const at = found < 0 ? Number(place) : found + 1;
  const shown = rows.slice(at, at + ROWS_MAX);
  const last = shown.at(-1);
  const behind = at + shown.length - 1;
  return {
    shown,
    next: behind + 1 < rows.length && last !== undefined ? `${behind}~${keyOf(last)}` : undefined,
    total: rows.length,
  };
}

/** The place of a row, from 0, and its key. */
const AFTER = /^(\d{1,9})~([^]*)$/;

const TEXTS = new Intl.Collator('en', { numeric: true });

function compareKeys(a: SortKey, b: SortKey): number {
  if (typeof a === 'string' && typeof b === 'string') return TEXTS.compare(a, b);
  if (a === null || b === null || a === b) return 0;
  return a < b ? -1 : 1;
}

/** Rows in the order that was asked for; those without a key come last, and a name that no column has changes nothing. */
export function inOrder<R>(
  rows: readonly R[],
  columns: readonly Pick<Column<R>, 'key' | 'sortBy'>[],
  { sort, isDescending }: Pick<ListQuery, 'sort' | 'isDescending'>,
): readonly R[] {
  const by = columns.find(({ key }) => key === sort)?.sortBy;
  if (by === undefined) return rows;
  const [known, unknown] = [rows.filter((row) => by(row) !== null), rows.filter((row) => by(row) === null)];
  const sorted = known.toSorted((a, b) => (isDescending ? -1 : 1) * compareKeys(by(a), by(b)));
  return [...sorted, ...unknown];
}

/** A list whose rows are all in memory: what holds the text of its filter, in the order that was asked for, a page of it. */
export function List<R>({
  path,
  query,
  rows,
  holds,
  columns,
  keyOf,
  caption,
  noun,
  empty,
}: Readonly<{
  path: string;
  query: ListQuery;
  rows: readonly R[];
  /** What the filter looks into; without it the rows are those that it has left. */
  holds?: (row: R) => readonly string[];
  columns: readonly Column<R>[];
  keyOf: (row: R) => string;
  caption: string;
  noun: string;
  empty: string;
}>): JSX.Element {
  const wanted = query.q.toLowerCase();
  const left =
    holds === undefined ? rows : rows.filter((row) => holds(row).some((text) => text.toLowerCase().includes(wanted)));
  const { shown, next, total } = pageOfRows(inOrder(left, columns, query), query, keyOf);
  return (
    <>
      <Table
        caption={caption}
        columns={columns}
        rows={shown}
        keyOf={keyOf}
        sorting={sortingOf(path, query)}
        empty={
          holds === undefined || wanted === '' || rows.length === 0 ? empty : `No ${noun} here has “${query.q}” in it.`
        }
      />
      <Pager path={path} query={query} next={next} total={total} noun={noun} />
    </>
  );
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
