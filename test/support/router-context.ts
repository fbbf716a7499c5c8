import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Temporal } from '@js-temporal/polyfill';
import type { RouterContext } from '../../src/adapters/routers/router-options.ts';

/** The real clock, real randomness, and the given secrets. */
export function routerContext(secrets: Readonly<Record<string, string>> = {}): RouterContext {
  return {
    clock: {
      now: () => Temporal.Now.instant(),
      nowText: () => Temporal.Now.instant().toString(),
      monotonicMilliseconds: () => performance.now(),
      wait: (milliseconds, signal) => wait(milliseconds, undefined, signal ? { signal } : {}),
    },
    ids: { uuid: () => randomUUID(), random: (bytes) => randomBytes(bytes) },
    secrets: {
      get: async (id) => secrets[id],
      put: () => Promise.reject(new Error('drivers read secrets, they do not write them')),
      remove: () => Promise.reject(new Error('drivers read secrets, they do not remove them')),
    },
  };
}
