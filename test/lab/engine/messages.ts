import { z } from 'zod';
import type { CloudInstance } from '../../../src/ports/clouds.ts';
import { CLOUD_FAILURES, type CloudFailureCode } from '../../../src/ports/clouds.ts';

const marks = { installation: z.string(), pool: z.string(), worker: z.string(), run: z.string() } as const;
const data = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
const code = z.custom<CloudFailureCode>((value) => typeof value === 'string' && value in CLOUD_FAILURES);

const instance = z.strictObject({
  ...marks,
  data,
  createdAt: z.string(),
  state: z.enum(['starting', 'running', 'ended']),
  endedAt: z.string().nullable(),
  because: z.string().nullable(),
});

/** An instance as it is handed from one process to the other: what was read is one. */
export const cloudInstance: z.ZodType<CloudInstance> = instance;

/** A call at a provider. `at`: the server's clock. */
export const cloudCall = z.intersection(
  z.object({ account: z.string(), at: z.string() }),
  z.discriminatedUnion('call', [
    z.object({
      call: z.literal('create'),
      request: z.strictObject({
        ...marks,
        specifications: z.looseObject({ provider_type: z.string() }),
        userData: z.array(z.string()),
      }),
    }),
    z.object({ call: z.literal('terminate'), data }),
    z.object({ call: z.literal('list'), installation: z.string() }),
  ]),
);

export type CloudCall = z.infer<typeof cloudCall>;

/** What came of it; `failed` is said after so much time of the server's clock. */
export const cloudAnswer = z.union([
  z.strictObject({ done: z.unknown() }),
  z.strictObject({ failed: code, afterMilliseconds: z.number() }),
]);

export type CloudAnswer = z.infer<typeof cloudAnswer>;

/** How a server is started: on which files, at what time, and with what numbers its records fail. */
export const startCall = z.strictObject({ folder: z.string(), now: z.string(), seed: z.number() });

/** Time that passes on the server. `heard`: the workers whose heartbeats come meanwhile. `failing`: one record in ten fails. */
export const passCall = z.strictObject({ seconds: z.number(), heard: z.array(z.string()), failing: z.boolean() });

/** What an administrator sets up. */
export const poolsCall = z.strictObject({
  pools: z.array(
    z.strictObject({
      name: z.string(),
      account: z.string(),
      scope: z.string(),
      priority: z.int(),
      ephemeral: z.boolean(),
      maxActive: z.int(),
      maxIdleSeconds: z.int(),
      monthSeconds: z.int().nullable(),
    }),
  ),
});

export type PoolsCall = z.infer<typeof poolsCall>;

/** What an administrator does against refused logins and against specifications that a provider does not take. */
export const editCall = z.strictObject({ accounts: z.array(z.string()), pools: z.array(z.string()), hour: z.int() });

export const submitCall = z.strictObject({ scope: z.string(), expectedSeconds: z.int() });

/** A worker that shows its token; its answer is null where the token is unknown or has ended. */
export const tokenCall = z.strictObject({ token: z.string() });

export const finishCall = z.strictObject({ token: z.string(), id: z.string() });

export const activated = z.strictObject({ token: z.string() }).nullable();
export const readied = z.enum(['ready', 'again', 'ended']);
export const taken = z.strictObject({ id: z.string(), seconds: z.number() }).nullable();
export const passed = z.strictObject({ now: z.string(), failedRecords: z.int() });
/** Milliseconds in the accounts of the months, of all pools together. */
export const accounted = z.record(z.string(), z.number());
