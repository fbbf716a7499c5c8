import type { Config } from '../config.ts';
import type { Readiness } from '../http/operations/health.ts';
import type { Instruments } from '../http/operations/instruments.ts';
import type { Collector } from '../http/operations/metrics.ts';
import { commitCollector, restoredCollector, routerCollector } from '../http/operations/router-metrics.ts';
import {
  lagCollector,
  poolCollector,
  pendingCollector,
  readinessCollector,
  settingsCollector,
  webhookCollector,
  whitelistCollector,
  workerCollector,
} from '../http/operations/service-metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Runners } from './runners.ts';
import type { Stores } from './stores.ts';

/** Everything that is read when metrics are asked for. */
export function collectorsOf(
  config: Config,
  stores: Pick<Stores, 'store' | 'readModels'>,
  { views, seenRouters, watch, restoring, leads }: Runners,
  readiness: Readiness,
  clock: Clock,
  { poolIsThere }: Pick<Instruments, 'poolIsThere'>,
): readonly Collector[] {
  const settings = {
    quietSeconds: config.quietPeriodMilliseconds / 1000,
    quietSecondsMax:
      config.quietPeriodMillisecondsMax === undefined ? undefined : config.quietPeriodMillisecondsMax / 1000,
    driftSeconds: config.driftIntervalMilliseconds / 1000,
  };
  return [
    routerCollector(views, seenRouters, clock),
    commitCollector(views.routerUpkeep, watch),
    restoredCollector(restoring.byRegion),
    pendingCollector(views.addresses, views.regions),
    whitelistCollector(views.sourceWhitelists),
    webhookCollector(views.webhookBacklog, clock),
    workerCollector(views.workers),
    poolCollector(views.workerPools, poolIsThere),
    readinessCollector(readiness),
    lagCollector(
      Object.values(views).map(({ name }) => name),
      stores,
    ),
    settingsCollector(settings, leads),
  ];
}
