import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';

/**
 * An instance with this installation's mark that belonged to no run was found at the provider, and ended: what a provider made after it had
 * been given up, or what a restored log does not know. What it cost is the pool's.
 */
export const UnknownInstanceEnded = defineEvent(
  'UnknownInstanceEnded',
  1,
  z.strictObject({
    providerAccount: z.string(),
    pool: z.string(),
    worker: z.string(),
    run: z.string(),
    /** What the provider's driver knows it by. */
    instance: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    createdAt: z.string(),
    endedAt: z.string(),
    /** Where its run was taken for over before: what was paid for until then is in the accounts already. */
    accountedUntil: z.string().exactOptional(),
    /** Between its creation, or where it is accounted until then, and its end: what was paid for. */
    seconds: z.number(),
  }),
);

export const providerAccountEvents = [UnknownInstanceEnded] as const;

export type ProviderAccountEvent = EventOf<(typeof providerAccountEvents)[number]>;
