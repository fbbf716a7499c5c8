import { z } from 'zod';
import { wholeNumber } from './fields.ts';

const MAX_IDLE_SECONDS = 3600;

/** Absent and null both mean: no limit. */
function noneOrCount(description: string) {
  return z.int().min(0).nullable().default(null).describe(`${description}; null for no limit`);
}

export const poolLimits = z
  .strictObject({
    max_active_instances: noneOrCount('maximum number of active instances in the pool'),
    target_max_seconds_per_month: noneOrCount('target maximum instance-seconds used by the pool per month'),
    max_idle_seconds: wholeNumber('instances idle for this long are destroyed').default(MAX_IDLE_SECONDS),
  })
  .meta({ title: 'limits of a worker pool' });

export const scopeLimits = z
  .strictObject({
    target_max_seconds_per_month: noneOrCount(
      'target maximum instance-seconds used by work requests of the scope per month',
    ),
    target_latency_seconds: noneOrCount(
      'target number of seconds before the last pending work request of the relevant part of the queue is dispatched, a best-effort hint',
    ),
  })
  .meta({ title: 'limits of a scope in a worker pool' });

export type ScopeLimits = z.infer<typeof scopeLimits>;
