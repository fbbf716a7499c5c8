import { pendingAddresses } from '../../domain/ip-control/address-ledger.ts';
import { type WhitelistStatus, whitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { editAfter } from '../../domain/worker-pools/launch-pause.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { ReadModels } from '../../ports/read-models.ts';
import type { KeyedView } from '../../projections/engine/keyed-views.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import type { AddressView } from '../../projections/ip-control/address-view.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { SourceWhitelistView } from '../../projections/ip-control/source-whitelist-view.ts';
import type { WebhookBacklogView } from '../../projections/ip-control/webhook-backlog-view.ts';
import type { WorkerPoolView } from '../../projections/worker-pools/worker-pool-view.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Readiness } from './health.ts';
import type { Collector, Sample } from './metrics.ts';

/** Views are read in such pages. */
const PAGE = 1_000;

const WHITELIST_STATUSES: readonly WhitelistStatus[] = [
  'pending_review',
  'pending_deploy',
  'active',
  'failed',
  'rejected',
];
const WORKER_PHASES: readonly WorkerView['phase'][] = ['stopped', 'launching', 'booting', 'ready'];

/** How many source whitelist requests are in which status: those that are pending review wait for a person. */
export function whitelistCollector(whitelists: Pick<Views<SourceWhitelistView>, 'page'>): Collector {
  const name = 'edgeward_whitelist_requests';
  return {
    name: 'whitelist',
    metrics: [{ name, help: 'Source whitelist requests that were not removed, by status.', labels: ['status'] }],
    read: async () => {
      const counts = new Map(WHITELIST_STATUSES.map((status) => [status, 0]));
      for await (const { view } of everyView(whitelists)) {
        for (const request of view.whitelist.requests.values()) {
          const status = whitelistStatus(request);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
      }
      return [...counts].map(([status, value]) => ({ name, labels: { status }, value }));
    },
  };
}

/** How many addresses of each region are pending: changed, and not on all of its routers. Each region is told, also where there are none. */
export function pendingCollector(
  addresses: Pick<Views<AddressView>, 'page'>,
  regions: Pick<Views<RegionView>, 'page'>,
): Collector {
  const name = 'edgeward_pending_addresses';
  const help = 'Addresses that were disabled or enabled, and are not so on all routers of the region yet.';
  return {
    name: 'pending',
    metrics: [{ name, help, labels: ['region'] }],
    read: async () => {
      const counts = new Map<number, bigint>();
      for await (const { view } of everyView(addresses)) {
        for (const [regionId, region] of view.ledger)
          counts.set(regionId, (counts.get(regionId) ?? 0n) + pendingAddresses(region).count());
      }
      const samples: Sample[] = [];
      for await (const { view } of everyView(regions))
        samples.push({ name, labels: { region: view.name }, value: Number(counts.get(view.regionId) ?? 0n) });
      return samples;
    },
  };
}

/** Webhooks that are still to be delivered. */
export function webhookCollector(
  backlog: Pick<Views<WebhookBacklogView>, 'page'>,
  clock: Pick<Clock, 'now'>,
): Collector {
  const [length, oldest] = ['edgeward_webhook_queue_length', 'edgeward_webhook_oldest_seconds'];
  return {
    name: 'webhooks',
    metrics: [
      { name: length, help: 'Webhooks that are not delivered yet, and not given up.' },
      { name: oldest, help: 'For how long the oldest of them waits; 0 when there is none.' },
    ],
    read: async () => {
      const now = clock.now().epochMilliseconds;
      let [count, age] = [0, 0];
      for await (const { view } of everyView(backlog)) {
        count += 1;
        age = Math.max(age, (now - epochMilliseconds(view.since)) / 1000);
      }
      return [
        { name: length, labels: {}, value: count },
        { name: oldest, labels: {}, value: age },
      ];
    },
  };
}

/** Workers of each pool by what happens to their instance. */
export function workerCollector(workers: Pick<Views<WorkerView>, 'page'>): Collector {
  const name = 'edgeward_workers';
  return {
    name: 'workers',
    metrics: [
      {
        name,
        help: 'Workers by what happens to their instance; pool is empty for machines without one.',
        labels: ['pool', 'state'],
      },
    ],
    read: async () => {
      const pools = new Map<string, Map<string, number>>();
      for await (const { view } of everyView(workers)) {
        const counts = pools.get(view.pool ?? '') ?? new Map(WORKER_PHASES.map((phase) => [phase, 0]));
        pools.set(view.pool ?? '', counts.set(view.phase, (counts.get(view.phase) ?? 0) + 1));
      }
      return [...pools].flatMap(([pool, counts]) =>
        [...counts].map(([state, value]) => ({ name, labels: { pool, state }, value })),
      );
    },
  };
}

type Launching = Pick<WorkerPoolView, 'failure' | 'latestLaunch'>;

/** Which pools launch nothing until a person has edited something. `poolIsThere` hears of each pool: what is counted of it begins at 0. */
export function poolCollector(pools: Pick<Views<Launching>, 'page'>, poolIsThere: (pool: string) => void): Collector {
  const name = 'edgeward_pool_waits_for_edit';
  const help =
    'Whether the newest launch of the pool failed for what trying again does not change: its specifications, or the login of its provider account.';
  return {
    name: 'pools',
    metrics: [{ name, help, labels: ['pool'] }],
    read: async () => {
      const samples: Sample[] = [];
      for await (const { key: pool, view } of everyView(pools)) {
        poolIsThere(pool);
        samples.push({ name, labels: { pool }, value: Number(waitsForEdit(view)) });
      }
      return samples;
    },
  };
}

/** A launch that has succeeded since shows that it is mended. */
function waitsForEdit({ failure, latestLaunch }: Launching): boolean {
  if (failure === null || editAfter(failure.code) === undefined) return false;
  return latestLaunch === null || epochMilliseconds(latestLaunch.at) < epochMilliseconds(failure.at);
}

/** Whether this server is ready, and what keeps it from being so, check by check, as `/readyz` says. */
export function readinessCollector(readiness: Readiness): Collector {
  const [ready, check] = ['edgeward_ready', 'edgeward_ready_check'];
  return {
    name: 'readiness',
    metrics: [
      { name: ready, help: 'Whether /readyz answers 200.' },
      { name: check, help: 'Each check of /readyz: whether it is ok.', labels: ['check'] },
    ],
    read: async () => {
      const checks = Object.entries((await readiness()).checks);
      const isReady = checks.every(([, problem]) => problem === undefined);
      return [
        { name: ready, labels: {}, value: Number(isReady) },
        ...checks.map(([name, problem]) => ({
          name: check,
          labels: { check: name },
          value: Number(problem === undefined),
        })),
      ];
    },
  };
}

/** How far what is saved of each view is behind the log. */
export function lagCollector(
  names: readonly string[],
  { store, readModels }: Readonly<{ store: Pick<EventStore, 'end'>; readModels: Pick<ReadModels, 'standing'> }>,
): Collector {
  const name = 'edgeward_projection_lag_events';
  return {
    name: 'projections',
    metrics: [
      {
        name,
        help: 'Positions of the log that the saved view has not applied yet: events in an embedded log, bytes in EventStoreDB.',
        labels: ['projection'],
      },
    ],
    read: async () => {
      const [end, standing] = await Promise.all([store.end(), readModels.standing(names)]);
      return names.flatMap((projection): readonly Sample[] => {
        const saved = standing.get(projection);
        if (saved?.position === undefined) return [];
        const value = Math.max(0, Number(end - saved.position));
        return [{ name, labels: { projection }, value }];
      });
    },
  };
}

/** The settings that alerts compare with, in seconds. */
export function settingsCollector(
  settings: Readonly<{ quietSeconds: number; quietSecondsMax: number | undefined; driftSeconds: number }>,
  isLeading: () => boolean,
): Collector {
  const { quietSeconds, quietSecondsMax, driftSeconds } = settings;
  const [quiet, quietMax] = ['edgeward_quiet_period_seconds', 'edgeward_quiet_period_max_seconds'];
  const [drift, leads] = ['edgeward_drift_interval_seconds', 'edgeward_leader'];
  return {
    name: 'settings',
    metrics: [
      { name: quiet, help: 'QUIET_PERIOD: how long a customer must have been quiet before a commit.' },
      { name: quietMax, help: 'QUIET_PERIOD_MAX: how long the oldest change waits at most; +Inf when it is not set.' },
      { name: drift, help: 'DRIFT_INTERVAL: how often every router is looked at.' },
      { name: leads, help: 'Whether this server leads: keeps the views, speaks to routers and receivers.' },
    ],
    read: () => [
      { name: quiet, labels: {}, value: quietSeconds },
      { name: quietMax, labels: {}, value: quietSecondsMax ?? Number.POSITIVE_INFINITY },
      { name: drift, labels: {}, value: driftSeconds },
      { name: leads, labels: {}, value: Number(isLeading()) },
    ],
  };
}

async function* everyView<V extends object>(views: Pick<Views<V>, 'page'>): AsyncGenerator<KeyedView<V>> {
  for (let after: string | undefined; ;) {
    const page = await views.page({ after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.key;
  }
}
