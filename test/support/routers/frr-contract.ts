import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import type { RouterUnderTest } from '../../contracts/router-driver.ts';
import type { LabRouter } from './frr.ts';
import { routerContext } from './router-context.ts';

/** A driver for a router of the lab, with more options and secrets as given. */
export function openFrr(
  router: LabRouter,
  options: Readonly<Record<string, string>> = { transport: 'local' },
  secrets: Readonly<Record<string, string>> = {},
): RouterDriver {
  const open = createOpenRouter(routerContext(secrets));
  return open({ name: router.name, driver: 'frr', options: { ...router.options, ...options } });
}

/** A router of the lab for the contract of all drivers. */
export function frrUnderTest(router: LabRouter, capacity: number, open: () => RouterDriver): RouterUnderTest {
  return {
    open,
    capacity,
    runs: 3,
    plantForeign: (list) =>
      router.configure(
        `ip prefix-list ${list} seq 3 deny 192.0.2.0/25`,
        `ip prefix-list ${list} seq 4294967295 permit 10.0.0.0/8 le 32`,
        `ip prefix-list ${list} seq 100 permit any`,
        `ip prefix-list ${list} seq 7 deny any`,
        `ip prefix-list ${list} description not ours`,
        `ipv6 prefix-list ${list} seq 3 permit 2001:db8::/32 ge 40 le 64`,
      ),
    changes: router.applied,
    stop: router.stop,
  };
}
