import { z } from 'zod';
import { wholeNumber } from './fields.ts';

const MAX_IDLE_SECONDS = 3600;
const MAX_BOOT_SECONDS = 1800;

/** Absent and null both mean: no limit. */
function noneOrCount(description: string) {
  return z.int().min(0).nullable().default(null).describe(`${description}; null for no limit`);
}

export const poolLimits = z
  .strictObject({
    max_active_instances: noneOrCount('maximum number of active instances in the pool'),
    target_max_seconds_per_month: noneOrCount('target maximum instance-seconds used by the pool per month'),
    max_idle_seconds: wholeNumber('instances idle for this long are destroyed').default(MAX_IDLE_SECONDS),
    max_boot_seconds: wholeNumber('instances that are not ready after this long are destroyed', 1)
      .exactOptional()
      .meta({ default: MAX_BOOT_SECONDS }),
  })
  .meta({ title: 'limits of a worker pool' });

export type PoolLimits = z.infer<typeof poolLimits>;

/** How long an instance of the pool may take to get ready, in seconds. Limits from before this one was known don't hold it. */
export function maxBootSeconds({ max_boot_seconds: seconds }: Pick<PoolLimits, 'max_boot_seconds'>): number {
  return seconds ?? MAX_BOOT_SECONDS;
}

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
