import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import type { RouterContext } from '../../../src/adapters/routers/driver-kit/router-options.ts';

/** The real clock, real randomness, and the given secrets. */
export function routerContext(secrets: Readonly<Record<string, string>> = {}): RouterContext {
  return {
    clock: systemClock,
    ids: systemIds,
    secrets: {
      get: async (id) => secrets[id],
      put: () => Promise.reject(new Error('drivers read secrets, they do not write them')),
      putIfAbsent: () => Promise.reject(new Error('drivers read secrets, they do not write them')),
      list: () => Promise.reject(new Error('drivers read secrets, they do not list them')),
      remove: () => Promise.reject(new Error('drivers read secrets, they do not remove them')),
    },
  };
}
