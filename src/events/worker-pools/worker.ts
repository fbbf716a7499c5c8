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

/** The provider is asked for an instance, under this run's name; what shows the token with this SHA-256 is that instance. */
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
    /** The account's configuration at this moment: a region that is changed later is not where this instance is. */
    accountConfiguration: json.exactOptional(),
    /** The worker ends after one task. */
    ephemeral: z.boolean().exactOptional(),
  }),
);

/** The provider is asked for the first time: from here on an instance of this run may exist, whatever is heard of it. */
export const InstanceCreationStarted = defineEvent(
  'InstanceCreationStarted',
  1,
  z.strictObject({ ...ofRun, startedAt: z.string() }),
);

/** The provider did not create or end the instance, and is asked again. Said again when the reason is another one. */
export const ProviderCallFailed = defineEvent(
  'ProviderCallFailed',
  1,
  z.strictObject({
    ...ofRun,
    call: z.enum(['create', 'terminate']),
    code: z.string(),
    because: z.string(),
    failedAt: z.string(),
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
  z.strictObject({
    ...ofRun,
    code: z.string(),
    because: z.string(),
    failedAt: z.string(),
    /** How far the account's stream was when the provider was asked. */
    accountRevision: z.string().exactOptional(),
  }),
);

/** A worker without a pool may be activated by what shows the token with this SHA-256, once. */
export const WorkerActivationIssued = defineEvent(
  'WorkerActivationIssued',
  1,
  z.strictObject({ worker: z.string(), activationSha256: z.string(), issuedAt: z.string() }),
);

/** The activation token was exchanged and is worth nothing any more; what shows the token with this SHA-256 is the worker. */
export const WorkerActivated = defineEvent(
  'WorkerActivated',
  1,
  z.strictObject({
    worker: z.string(),
    pool: z.string().nullable(),
    run: z.string().nullable(),
    tokenSha256: z.string(),
    activatedAt: z.string(),
  }),
);

const heard = z.strictObject({
  worker: z.string(),
  pool: z.string().nullable(),
  run: z.string().nullable(),
  at: z.string(),
});

/** Nothing has been heard of the worker for a while: it is given no work, and its provider is asked. */
export const WorkerFellSilent = defineEvent('WorkerFellSilent', 1, heard);

/** The worker that had fallen silent was heard of again. */
export const WorkerHeardAgain = defineEvent('WorkerHeardAgain', 1, heard);

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
    /** Why it was lost. */
    because: z.string().exactOptional(),
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
  InstanceCreationStarted,
  ProviderCallFailed,
  InstanceCreated,
  InstanceLaunchFailed,
  WorkerActivationIssued,
  WorkerActivated,
  WorkerFellSilent,
  WorkerHeardAgain,
  WorkerConnected,
  TaskStarted,
  TaskFinished,
  InstanceTerminationRequested,
  InstanceTerminated,
] as const;

export type WorkerEvent = EventOf<(typeof workerEvents)[number]>;
