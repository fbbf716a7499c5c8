import { z } from 'zod';

const dated = z.array(z.looseObject({ created_at: z.iso.datetime({ offset: true }) }));

/** Rows of a list without the instants at which they were made, which each must have. */
export function undated(rows: unknown): readonly Readonly<Record<string, unknown>>[] {
  return dated
    .parse(rows)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'created_at')));
}
