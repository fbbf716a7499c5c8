import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { architecture } from './architectures.ts';

/** Work waits for a worker of this architecture, of this pool where one is named. What the payload means is its sender's business. */
export const WorkRequestSubmitted = defineEvent(
  'WorkRequestSubmitted',
  1,
  z.strictObject({
    id: z.string(),
    scope: z.string(),
    architecture,
    pool: z.string().nullable(),
    payload: z.json(),
    expectedSeconds: z.number().nullable(),
    submittedAt: z.string(),
  }),
);

/** The work is given to this worker; the worker's own stream follows. */
export const WorkRequestStarted = defineEvent(
  'WorkRequestStarted',
  1,
  z.strictObject({
    id: z.string(),
    worker: z.string(),
    run: z.string().nullable(),
    attempt: z.int(),
    startedAt: z.string(),
  }),
);

/** The worker was lost, or never had it: the work waits again. */
export const WorkRequestReturned = defineEvent(
  'WorkRequestReturned',
  1,
  z.strictObject({
    id: z.string(),
    worker: z.string(),
    because: z.string(),
    returnedAt: z.string(),
    /** No worker was lost under it: it counts as no attempt. */
    neverHad: z.literal(true).exactOptional(),
  }),
);

/** The work has ended; without a worker it was given up, since too many were lost under it. */
export const WorkRequestFinished = defineEvent(
  'WorkRequestFinished',
  1,
  z.strictObject({
    id: z.string(),
    worker: z.string().nullable(),
    outcome: z.enum(['succeeded', 'failed']),
    because: z.string().nullable(),
    finishedAt: z.string(),
  }),
);

/** The work is not wanted any more; a worker that has it may go on with it, and its outcome is not kept. */
export const WorkRequestCancelled = defineEvent(
  'WorkRequestCancelled',
  1,
  z.strictObject({ id: z.string(), cancelledAt: z.string() }),
);

export const workRequestEvents = [
  WorkRequestSubmitted,
  WorkRequestStarted,
  WorkRequestReturned,
  WorkRequestFinished,
  WorkRequestCancelled,
] as const;

export type WorkRequestEvent = EventOf<(typeof workRequestEvents)[number]>;
