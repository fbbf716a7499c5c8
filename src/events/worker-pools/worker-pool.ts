import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { asStored } from './fields.ts';
import { scopeLimits } from './limits.ts';
import { type PoolChanges, type PoolRecord, poolRecord } from './pool-record.ts';

/** The pool exists; its provider account was there and of the provider that the specifications name. */
export const WorkerPoolCreated = defineEvent(
  'WorkerPoolCreated',
  1,
  z.strictObject({ pool: z.string(), record: asStored<PoolRecord>(poolRecord) }),
);

const changedFields = poolRecord.omit({ name: true }).partial();

/** An administrator changed these fields of the pool, and no other. What runs goes on as it was started. */
export const WorkerPoolEdited = defineEvent(
  'WorkerPoolEdited',
  1,
  z.strictObject({
    pool: z.string(),
    changes: z.custom<PoolChanges>((value) => changedFields.safeParse(value).success),
  }),
);

/** The pool is gone and gives its scopes back; workers that still ran are ended. */
export const WorkerPoolDeleted = defineEvent(
  'WorkerPoolDeleted',
  1,
  z.strictObject({ pool: z.string(), scopes: z.array(z.string()), running: z.array(z.string()) }),
);

/** The scope may use the pool; the scope's own stream follows. This is where "at most one scope" is kept. */
export const WorkerPoolScopeAdmitted = defineEvent(
  'WorkerPoolScopeAdmitted',
  1,
  z.strictObject({ pool: z.string(), scope: z.string(), priority: z.int(), limits: asStored(scopeLimits) }),
);

/** The scope may no longer use the pool; the scope's own stream follows. */
export const WorkerPoolScopeReleased = defineEvent(
  'WorkerPoolScopeReleased',
  1,
  z.strictObject({ pool: z.string(), scope: z.string() }),
);

const launchRequest = poolRecord
  .pick({
    provider_account: true,
    architectures: true,
    specifications: true,
    ephemeral: true,
    apt_authentication: true,
  })
  .extend({
    /** What its agent runs for each work request, where the pool says. */
    exec: z.string().exactOptional(),
  });

/** What a run is launched with, as the pool's record was when its place was taken. An edit in between is for the next run. */
export type LaunchRequest = z.infer<typeof launchRequest>;

/** One of the pool's places for active instances is taken by this run of this worker. This is where the bound is kept. */
export const InstanceReserved = defineEvent(
  'InstanceReserved',
  1,
  z.strictObject({
    pool: z.string(),
    worker: z.string(),
    number: z.int(),
    run: z.string(),
    because: z.string(),
    reservedAt: z.string(),
    request: asStored<LaunchRequest>(launchRequest).exactOptional(),
  }),
);

/** The run is over, or never came to be: its place is free again. */
export const InstanceReleased = defineEvent(
  'InstanceReleased',
  1,
  z.strictObject({
    pool: z.string(),
    worker: z.string(),
    number: z.int(),
    run: z.string(),
    outcome: z.enum(['terminated', 'launch-failed']),
    releasedAt: z.string(),
    /** Why the run came to nothing: it never was an instance, or one that never got ready. */
    failure: z
      .strictObject({
        code: z.string(),
        because: z.string(),
        /** How far the account's stream was: what is refused to this account may be granted once that has changed. */
        accountRevision: z.string().exactOptional(),
      })
      .exactOptional(),
  }),
);

const launch = z.strictObject({
  scope: z.string(),
  architecture: z.string(),
  count: z.int(),
  because: z.string(),
});

const termination = z.strictObject({
  worker: z.string(),
  afterTask: z.boolean(),
  code: z.string(),
  because: z.string(),
});

const refusal = z.strictObject({
  scope: z.string(),
  architecture: z.string(),
  unmet: z.int(),
  code: z.string(),
  because: z.string(),
});

/** What was decided about the pool's instances, and why; kept when it differs from what was decided before. */
export const WorkerPoolScalingDecided = defineEvent(
  'WorkerPoolScalingDecided',
  1,
  z.strictObject({
    pool: z.string(),
    decidedAt: z.string(),
    launches: z.array(launch),
    terminations: z.array(termination),
    refusals: z.array(refusal),
    /** Why nothing is launched and nothing ended, where no refusal says it. */
    nothing: z.strictObject({ code: z.string(), because: z.string() }).exactOptional(),
  }),
);

export const workerPoolEvents = [
  WorkerPoolCreated,
  WorkerPoolEdited,
  WorkerPoolDeleted,
  WorkerPoolScopeAdmitted,
  WorkerPoolScopeReleased,
  InstanceReserved,
  InstanceReleased,
  WorkerPoolScalingDecided,
] as const;

export type WorkerPoolEvent = EventOf<(typeof workerPoolEvents)[number]>;
