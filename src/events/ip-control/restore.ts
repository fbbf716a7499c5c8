import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber } from './vocabulary.ts';

/** How it was found out that the log was put back from an older copy: an operator said so, or views had seen more than it holds. */
export const restoreReason = z.enum(['operator', 'log-older-than-views']);
export type RestoreReason = z.infer<typeof restoreReason>;

/** The log was put back from an older copy: routers may hold what it does not know, and keep it, region by region, until that is accepted. */
export const RestoreBegan = defineEvent(
  'RestoreBegan',
  1,
  z.strictObject({
    because: restoreReason,
    /** Where the stream of each customer ended: what comes after it was said after the log was put back. */
    customers: z.array(z.strictObject({ customerId: idNumber, revision: z.int().nonnegative() })),
    /** The same of very many customers, in place of `customers`: each run has the id of the first one, then the revision of each, ids following on one another. */
    customerRuns: z.array(z.array(z.int().nonnegative()).min(2)).optional(),
  }),
);

/** What the log says is what the routers of these regions are to hold again, and nothing else. */
export const RestoreAccepted = defineEvent('RestoreAccepted', 1, z.strictObject({ regionIds: z.array(idNumber) }));

export const restoreEvents = [RestoreBegan, RestoreAccepted] as const;

export type RestoreEvent = EventOf<(typeof restoreEvents)[number]>;
