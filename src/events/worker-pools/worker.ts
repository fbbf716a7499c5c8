import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { architecture } from './architectures.ts';

const json = z.record(z.string(), z.json());
/** What a provider's driver needs to find the instance again. */
const instanceData = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
const ofRun = { worker: z.string(), pool: z.string(), run: z.string() } as const;

/** The worker is known from now on; it keeps its name through all of its instances. Without a pool it is a machine of its own. */
export const WorkerRegistered = defineEvent(
  'WorkerRegistered',
  1,
  z.strictObject({
    worker: z.string(),
    pool: z.string().nullable(),
    architectures: z.array(architecture),
    registeredAt: z.string(),
  }),
);

/** The provider is asked for an instance, under this run's name; whoever shows the token with this SHA-256 is that instance. */
export const InstanceLaunchRequested = defineEvent(
  'InstanceLaunchRequested',
  1,
  z.strictObject({
    ...ofRun,
    /** The account that the instance is created with, and ended with, whatever the pool says by then. */
    providerAccount: z.string(),
    architectures: z.array(architecture),
    activationSha256: z.string(),
    because: z.string(),
    requestedAt: z.string(),
  }),
);

/** The provider has created the instance: from this instant it costs. */
export const InstanceCreated = defineEvent(
  'InstanceCreated',
  1,
  z.strictObject({ ...ofRun, instanceCreatedAt: z.string(), workerPoolData: instanceData }),
);

/** There is no instance, and there will be none in this run. */
export const InstanceLaunchFailed = defineEvent(
  'InstanceLaunchFailed',
  1,
  z.strictObject({ ...ofRun, code: z.string(), because: z.string(), failedAt: z.string() }),
);

/** The worker has reported in and takes tasks; this is what it says about itself. */
export const WorkerConnected = defineEvent(
  'WorkerConnected',
  1,
  z.strictObject({
    worker: z.string(),
    pool: z.string().nullable(),
    run: z.string().nullable(),
    dynamicMetadata: json,
    connectedAt: z.string(),
  }),
);

/** The worker runs a task of this scope. */
export const TaskStarted = defineEvent(
  'TaskStarted',
  1,
  z.strictObject({
    worker: z.string(),
    pool: z.string().nullable(),
    run: z.string().nullable(),
    task: z.string(),
    scope: z.string(),
    expectedSeconds: z.number(),
    startedAt: z.string(),
  }),
);

/** The task has ended; `lost`: its instance ended under it. */
export const TaskFinished = defineEvent(
  'TaskFinished',
  1,
  z.strictObject({
    worker: z.string(),
    pool: z.string().nullable(),
    run: z.string().nullable(),
    task: z.string(),
    scope: z.string(),
    outcome: z.enum(['finished', 'lost']),
    startedAt: z.string(),
    finishedAt: z.string(),
  }),
);

/** The instance takes no further task and is to be ended: when its running task has ended, or (`forced`) at once. */
export const InstanceTerminationRequested = defineEvent(
  'InstanceTerminationRequested',
  1,
  z.strictObject({ ...ofRun, code: z.string(), because: z.string(), forced: z.boolean(), requestedAt: z.string() }),
);

/** The instance is gone and costs no more. Said once per run. */
export const InstanceTerminated = defineEvent(
  'InstanceTerminated',
  1,
  z.strictObject({ ...ofRun, instanceCreatedAt: z.string(), terminatedAt: z.string(), because: z.string() }),
);

export const workerEvents = [
  WorkerRegistered,
  InstanceLaunchRequested,
  InstanceCreated,
  InstanceLaunchFailed,
  WorkerConnected,
  TaskStarted,
  TaskFinished,
  InstanceTerminationRequested,
  InstanceTerminated,
] as const;

export type WorkerEvent = EventOf<(typeof workerEvents)[number]>;
