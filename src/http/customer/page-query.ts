import type { Request } from 'express';
import { z } from 'zod';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;
/** A place in a list, newest first: what `next_after` gives. */
const PLACE = /^\d{19}$/;

/** The query of lists that come in pages. */
export const pageQuery = {
  after: z.string().regex(PLACE).optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).optional(),
} as const;

/** Which page is asked for; what is wrong with that goes to the errors. */
export function readPage(
  { query: { after, limit } }: Request,
  errors: Record<string, readonly string[]>,
): Readonly<{ after: string | undefined; limit: number }> {
  const isPlace = typeof after === 'string' && PLACE.test(after);
  if (after !== undefined && !isPlace) errors['after'] ??= ['must be what next_after was before.'];
  const isLimit = typeof limit === 'string' && /^[1-9]\d{0,2}$/.test(limit) && Number(limit) <= LIMIT_MAX;
  if (limit !== undefined && !isLimit) errors['limit'] ??= [`must be a whole number from 1 to ${LIMIT_MAX}.`];
  return { after: isPlace ? after : undefined, limit: isLimit ? Number(limit) : LIMIT_DEFAULT };
}
