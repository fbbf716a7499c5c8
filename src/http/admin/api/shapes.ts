import { z } from 'zod';
import { groundsFields } from '../../../domain/grounds.ts';
import { problemAnswers } from '../../route.ts';

/** What every operation of administrators may answer; 404 also where a part of the path is no text. */
export const ADMIN_PROBLEMS = problemAnswers(401, 403, 404, 422, 429, 500, 503);

/** What one that takes a body may answer beside that. */
export const BODY_PROBLEMS = { ...ADMIN_PROBLEMS, ...problemAnswers(400, 413, 415) };

export const PAGE_MAX = 200;
const PAGE_DEFAULT = 100;

/** A whole number in a query. */
function countText(max: number, otherwise: string) {
  return z
    .string()
    .regex(/^[1-9]\d{0,8}$/, { error: otherwise })
    .transform(Number)
    .refine((count) => count <= max, { error: otherwise })
    .meta({ type: 'integer', minimum: 1, maximum: max, pattern: undefined });
}

/** `?after=&limit=`: which page of a list. */
export const pageFields = {
  after: z.string().max(200, { error: 'must have at most 200 characters.' }).optional(),
  limit: countText(PAGE_MAX, `must be a whole number from 1 to ${PAGE_MAX}.`).default(PAGE_DEFAULT),
} as const;

/** The same where rows are numbered: `after` is a number. */
export const numberedPageFields = {
  ...pageFields,
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a number, as next_after has it.' })
    .optional(),
} as const;

export const flagText = z
  .enum(['true', 'false'], { error: 'must be true or false.' })
  .transform((flag) => flag === 'true');

/** `?dry_run=true`. */
export const dryRunField = { dry_run: flagText.default(false) } as const;

/** `?force=true`. */
export const forceField = { force: flagText.default(false) } as const;

/** What the query of a change may say. */
export const changeQuery = z.strictObject(dryRunField);

/** What the query of a deletion may say, which has no body: why, too. */
export const deletionQuery = z.strictObject({ ...dryRunField, ...groundsFields });

/** A body of which every field may be left out: for an action that needs to be told nothing but why. */
export const groundsBody = z.strictObject(groundsFields);

const changeMetaFields = {
  changed: z.boolean(),
  dry_run: z.literal(true).optional(),
  /** Of a dry run: what would be recorded. */
  events: z.array(z.strictObject({ type: z.string(), data: z.record(z.string(), z.unknown()) })).optional(),
} as const;

/** What a change answers: how the thing is now (or, of a dry run, would be), and whether that is new. */
export function changed<T extends z.ZodType>(data: T, more: z.ZodRawShape = {}) {
  return z.strictObject({ data, meta: z.strictObject({ ...changeMetaFields, ...more }) });
}

/** One thing, as it is. */
export function one<T extends z.ZodType>(data: T) {
  return z.strictObject({ data });
}

/** A page of a list; `next_after` goes into the query for the next one, null where there is none. */
export function pageOf<T extends z.ZodType>(row: T) {
  return z.strictObject({ data: z.array(row), meta: z.strictObject({ next_after: z.string().nullable() }) });
}

/** The operation that answers a list page by page, to all who may read. */
export function listing<const Path extends string, R extends z.ZodType>(path: Path, row: R) {
  return {
    method: 'GET',
    path,
    scope: 'admin',
    needs: 'read',
    request: { query: z.strictObject(pageFields) },
    answers: { 200: pageOf(row), ...ADMIN_PROBLEMS },
  } as const;
}

/** The operation that answers one thing, to all who may read. */
export function showing<const Path extends string, P extends z.ZodObject, T extends z.ZodType>(
  path: Path,
  params: P,
  thing: T,
) {
  return {
    method: 'GET',
    path,
    scope: 'admin',
    needs: 'read',
    request: { params },
    answers: { 200: one(thing), ...ADMIN_PROBLEMS },
  } as const;
}

/** A list that is never long: one page has all of it. */
export function all<T extends z.ZodType>(row: T) {
  return z.strictObject({ data: z.array(row), meta: z.strictObject({ next_after: z.null() }) });
}

/** All rows of a list that is never long. */
export function allOf<R>(rows: readonly R[], row: (one: R) => unknown) {
  return { data: rows.map(row), meta: { next_after: null } };
}

/** Of those that were asked for, one more than the page has, what goes into the answer. */
export function pageAnswer<R>(
  found: readonly R[],
  limit: number,
  row: (one: R) => unknown,
  place: (one: R) => string,
): Readonly<{ data: readonly unknown[]; meta: Readonly<{ next_after: string | null }> }> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last !== undefined ? place(last) : null;
  return { data: rows.map(row), meta: { next_after: next } };
}

/** A page of a list that is at hand as a whole, in the order of the text that is its rows' place. */
export function pageOfAll<R>(
  rows: readonly R[],
  { after, limit }: Readonly<{ after?: string | undefined; limit: number }>,
  row: (one: R) => unknown,
  place: (one: R) => string,
): ReturnType<typeof pageAnswer> {
  return pageAnswer(after === undefined ? rows : rows.filter((each) => place(each) > after), limit, row, place);
}

/** A whole number of a body, at least `least`. */
export function wholeNumber(least: number, most?: number) {
  const error = `must be a whole number from ${least}${most === undefined ? '' : ` to ${most}`}.`;
  const schema = z.int({ error }).min(least, { error });
  return most === undefined ? schema : schema.max(most, { error });
}

export const bool = z.boolean({ error: 'must be true or false.' });

/** A text of a body: what is wrong with it beside its length, the rules say. */
export function text(max: number, least = 0) {
  const error = `must be text of ${least === 0 ? 'at most' : `${least} to`} ${max} characters.`;
  return z.string({ error }).min(least, { error }).max(max, { error });
}
