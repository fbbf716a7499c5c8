import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { asStored } from './fields.ts';
import { scopeLimits } from './limits.ts';

const membership = z.strictObject({
  scope: z.string(),
  pool: z.string(),
  priority: z.int(),
  limits: asStored(scopeLimits),
});

/** The scope exists. */
export const ScopeCreated = defineEvent('ScopeCreated', 1, z.strictObject({ scope: z.string() }));

/** The scope uses the pool with this priority and these limits; the pool admitted it before. */
export const ScopeWorkerPoolAdded = defineEvent('ScopeWorkerPoolAdded', 1, membership);

/** The scope's priority or limits in the pool are these from now on. */
export const ScopeWorkerPoolEdited = defineEvent('ScopeWorkerPoolEdited', 1, membership);

/** The scope no longer uses the pool. */
export const ScopeWorkerPoolRemoved = defineEvent(
  'ScopeWorkerPoolRemoved',
  1,
  z.strictObject({ scope: z.string(), pool: z.string() }),
);

/** Work of the scope waits and there is no pool that could be asked for a worker. */
export const ScopeScalingRefused = defineEvent(
  'ScopeScalingRefused',
  1,
  z.strictObject({
    scope: z.string(),
    architecture: z.string(),
    unmet: z.int(),
    because: z.string(),
    refusedAt: z.string(),
  }),
);

/** The scope is gone: it used no pool, and no work of it waited. Its name may be used again. */
export const ScopeDeleted = defineEvent('ScopeDeleted', 1, z.strictObject({ scope: z.string() }));

export const scopeEvents = [
  ScopeCreated,
  ScopeWorkerPoolAdded,
  ScopeWorkerPoolEdited,
  ScopeWorkerPoolRemoved,
  ScopeScalingRefused,
  ScopeDeleted,
] as const;

export type ScopeEvent = EventOf<(typeof scopeEvents)[number]>;
