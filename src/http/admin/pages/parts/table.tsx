import type { JSX } from 'preact';
import { Count } from './text.tsx';

/** What rows are sorted by; `null` is behind everything else. */
export type SortKey = string | number | bigint | null;

/** A column: what it is called, what a row shows in it, and how. */
export type Column<R> = Readonly<{
  /** Sorted by this name, where the list can be. */
  key: string;
  name: string;
  cell: (row: R) => JSX.Element | string | number | bigint | null;
  /** To the right, with equal digits. */
  isNumber?: true;
  /** Its heading is for those who don't see the table: a column of buttons. */
  isHeadingHidden?: true;
  /** Where the list can be sorted by it: by what. */
  sortBy?: (row: R) => SortKey;
}>;

/** How a list is sorted, and the address of the same list sorted otherwise. */
export type Sorting = Readonly<{
  by: string;
  isDescending: boolean;
  hrefOf: (key: string, descending: boolean) => string;
}>;

type TableProps<R> = Readonly<{
  /** For those who don't see where it stands. */
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  keyOf: (row: R) => string;
  sorting?: Sorting;
  /** What would be here, and how it comes. */
  empty: JSX.Element | string;
}>;

/** A table; without rows it says what would be there. */
export function Table<R>({ caption, columns, rows, keyOf, sorting, empty }: TableProps<R>): JSX.Element {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ key, cell, isNumber }) => (
                <td key={key} class={isNumber === true ? 'number' : undefined}>
                  {shown(cell(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading<R>({
  column: { key, name, isNumber, isHeadingHidden, sortBy },
  sorting,
}: Readonly<{ column: Column<R>; sorting: Sorting | undefined }>): JSX.Element {
  const className = isNumber === true ? 'number' : undefined;
  if (isHeadingHidden === true) {
    return (
      <th scope="col" class={className}>
        <span class="hidden">{name}</span>
      </th>
    );
  }
  if (sortBy === undefined || sorting === undefined) {
    return (
      <th scope="col" class={className}>
        {name}
      </th>
    );
  }
  const isThis = sorting.by === key;
  const sign = isThis ? (sorting.isDescending ? ' ↓' : ' ↑') : '';
  return (
    <th
      scope="col"
      class={className}
      aria-sort={isThis ? (sorting.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <a href={sorting.hrefOf(key, isThis && !sorting.isDescending)}>
        {name}
        {sign}
      </a>
    </th>
  );
}

function shown(value: JSX.Element | string | number | bigint | null): JSX.Element | string {
  if (value === null) return <span class="dim">–</span>;
  return typeof value === 'number' || typeof value === 'bigint' ? <Count of={value} /> : value;
}
