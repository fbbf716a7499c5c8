import { z } from 'zod';

/** Customer, region and subnet numbers, handed out by the directory, from 1. */
export const idNumber = z.int().positive();

/** The two prefix-lists that a customer can have in a region. */
export const listKind = z.enum(['BLACKHOLE', 'SRC_WHITELIST']);
export type ListKind = z.infer<typeof listKind>;

/** `Svc-<NAME>-<KIND>`: the name of a customer's prefix-list on routers, where `<NAME>` is the customer's list name. */
export function prefixListName(listName: string, list: ListKind): string {
  return `Svc-${listName}-${list}`;
}

/**
 * The customer's part of its list names: upper case, every run of other characters than `A–Z 0–9 _` becomes one `-`, none at either end.
 * Empty when nothing is left.
 */
export function listNameOf(customerName: string): string {
  return customerName
    .toUpperCase()
    .replace(/[^A-Z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Changed addresses as text: `a` for one address, `a-b` for a run; sorted, disjoint, IPv4 first. */
export const rangeTexts = z.custom<string[]>(isTexts, { error: 'must be range texts, at least one' });

/** As one check: a schema for each text costs more than reading the ranges, where there are thousands. */
function isTexts(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  for (const text of value) if (typeof text !== 'string') return false;
  return true;
}

/**
 * How a commit treats the routers of a region. `each`: every router takes the list for itself. `all-or-nothing`: they take it when
 * all of them can, and otherwise go back to what they had.
 */
export const deployPolicy = z.enum(['each', 'all-or-nothing']);
export type DeployPolicy = z.infer<typeof deployPolicy>;

/**
 * What one router did with one push. `unknown`: no answer came and reading back was not possible either. `skipped`: it is disabled,
 * and the commit does not wait for it.
 */
export const routerOutcome = z.strictObject({
  router: z.string(),
  result: z.enum(['confirmed', 'failed', 'unknown', 'skipped']),
  /** `true` when the router already held the right content and was not touched. */
  untouched: z.boolean(),
  /** For an operator; no secret. */
  because: z.string().optional(),
  /** `false`: it holds the list, and could not save it: a restart loses it. `because` says why. */
  saved: z.literal(false).optional(),
  /** How it took part where all routers had to: with a change that it held back, or by having its old list put back. */
  together: z.enum(['prepared', 'compensated']).optional(),
  /** `false`: it is being brought up to date, or was disabled or removed meanwhile: the commit is complete without it. */
  counts: z.literal(false).optional(),
  /** Blocks that it keeps beside what the list is to hold, as the log was restored and does not explain that they should go. */
  kept: z.int().positive().optional(),
  milliseconds: z.int().nonnegative(),
});
export type RouterOutcome = z.infer<typeof routerOutcome>;

/** The routers on which a commit fails: it waits for them, and they do not surely hold the list. */
export function failedRouters(outcomes: readonly RouterOutcome[]): readonly string[] {
  return outcomes
    .filter(({ result, counts }) => (result === 'failed' || result === 'unknown') && counts !== false)
    .map(({ router }) => router);
}

/** What a commit put on routers: how many blocks, and the SHA-256 (hex) of their text, one a line. */
export const listContent = z.strictObject({ prefixes: z.int().nonnegative(), sha256: z.string() });
export type ListContent = z.infer<typeof listContent>;

/** What an administrator sets for a customer. */
export const customerSettings = z.strictObject({
  rateLimitPerMinute: z.int().positive(),
  allowSynchronous: z.boolean(),
  allowSourceWhitelist: z.boolean(),
  trusted: z.boolean(),
  whitelistLimit: z.int().nonnegative(),
  evidenceMaxBytes: z.int().positive(),
  webhookUrl: z.string().nullable(),
  /** How many prefixes each of its lists may have in a region; 10,000 where it is not said. */
  prefixLimit: z.int().positive().optional(),
});
export type CustomerSettings = z.infer<typeof customerSettings>;
