import { createServer, type Server } from 'node:http';
import { Temporal } from '@js-temporal/polyfill';
import { z } from 'zod';
import type { EndedCommits } from '../../application/ip-control/commit-watch.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RouterUpkeep, RouterUpkeepView } from '../../projections/ip-control/router-upkeep-view.ts';
import { LIST_KINDS, waitingSeconds } from '../../domain/ip-control/waiting-changes.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { Views } from '../../projections/engine/view-cache.ts';

import type { Operation } from '../route.ts';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** On a port of its own. An answer that is not 200 has no body. */
export const METRICS_OPERATION = {
  method: 'GET',
  path: '/metrics',
  scope: 'anybody',
  request: {},
  answers: { 200: z.string(), 503: z.literal('') },
  contentType: TEXT_FORMAT,
} as const satisfies Operation;

type Gauge = Readonly<{ name: string; help: string; of: (router: RouterUpkeep) => number | undefined }>;

const GAUGES: readonly Gauge[] = [
  {
    name: 'edgeward_router_enabled',
    help: 'Whether commits count the router: 0 when it is disabled or still being brought up to date.',
    of: ({ phase }) => Number(phase === 'enabled'),
  },
  {
    name: 'edgeward_router_drifted_lists',
    help: 'Our lists on the router that are not as the last commits left them.',
    of: ({ drifted }) => drifted.length,
  },
  {
    name: 'edgeward_router_unowned_lists',
    help: 'Lists with our prefix on the router that belong to no customer.',
    of: ({ unowned }) => unowned,
  },
  {
    name: 'edgeward_router_unsaved',
    help: 'Whether something is in force on the router that it could not save: a restart loses it.',
    of: ({ unsavedSince }) => Number(unsavedSince !== null),
  },
  {
    name: 'edgeward_router_last_drift_timestamp_seconds',
    help: 'When a list was last found changed by others.',
    of: ({ driftedAt }) => secondsOf(driftedAt),
  },
  {
    name: 'edgeward_router_last_repair_timestamp_seconds',
    help: 'When such a list was last put right, or found so.',
    of: ({ repairedAt }) => secondsOf(repairedAt),
  },
];

/** `GET /metrics` for a monitoring system, in Prometheus' text format; not listening yet. It names routers and regions, and no customer. */
export function createMetricsServer(
  views: Readonly<{
    routerUpkeep: Pick<Views<RouterUpkeepView>, 'list'>;
    waitingChanges: Pick<Views<WaitingChangeView>, 'list'>;
  }>,
  restored: () => Promise<readonly RestoredRegion[]>,
  {
    clock,
    log,
    lastSeen,
    endedCommits,
  }: Readonly<{ clock: Clock; log: Log; lastSeen: LastSeen; endedCommits: () => readonly EndedCommits[] }>,
): Server {
  return createServer((request, response) => {
    const [path] = (request.url ?? '').split('?');
    if (path !== METRICS_OPERATION.path) return void response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    Promise.all([views.routerUpkeep.list(), views.waitingChanges.list(), restored()]).then(
      ([upkeep, waiting, regions]) => {
        const names = new Map(upkeep.map(({ key, view }) => [Number(key), view.region]));
        const changes = waiting.map(({ view }) => view);
        return response
          .writeHead(200, { 'Content-Type': TEXT_FORMAT })
          .end(
            metricsText(upkeep.map(({ view }) => view)) +
              lastSeenText(upkeep, lastSeen) +
              waitingText(names, changes, clock.now().epochMilliseconds) +
              failingText(upkeep, changes) +
              commitsText(names, endedCommits()) +
              restoredText(regions),
          );
      },
      (error: unknown) => {
        log.warn({ error }, 'metrics could not be read');
        response.writeHead(503, { 'Retry-After': '5' }).end();
      },
    );
  });
}

/** All gauges of all routers (Prometheus exposition formats, "Text-based format"). */
export function metricsText(regions: readonly RouterUpkeepView[]): string {
  return GAUGES.map(({ name, help, of }) => {
    const samples = regions.flatMap(({ region, routers }) =>
      routers.flatMap((router) => {
        const value = of(router);
        return value === undefined
          ? []
          : [`${name}{region="${escaped(region)}",router="${escaped(router.name)}"} ${value}\n`];
      }),
    );
    return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
  }).join('');
}

/** When a router last did what this server asked of it, in milliseconds since 1970; undefined when it has not yet. */
export type LastSeen = (regionId: number, router: string) => number | undefined;

/** The gauge of when each router was last seen; `key` is the region's number. */
export function lastSeenText(
  regions: readonly Readonly<{ key: string; view: RouterUpkeepView }>[],
  lastSeen: LastSeen,
): string {
  const name = 'edgeward_router_last_seen_timestamp_seconds';
  const help = 'When the router last did what this server asked of it: a look, a push, reading back.';
  const samples = regions.flatMap(({ key, view: { region, routers } }) =>
    routers.flatMap((router) => {
      const milliseconds = lastSeen(Number(key), router.name);
      if (milliseconds === undefined) return [];
      return [`${name}{region="${escaped(region)}",router="${escaped(router.name)}"} ${milliseconds / 1000}\n`];
    }),
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
}

/** How long the oldest change of each region and list waits; 0 where all are on the routers. */
export function waitingText(
  regions: ReadonlyMap<number, string>,
  changes: readonly WaitingChangeView[],
  nowMilliseconds: number,
): string {
  const name = 'edgeward_oldest_waiting_change_seconds';
  const help = 'The age of the oldest change that is not on all routers of the region; 0 when there is none.';
  const samples = [...regions].flatMap(([regionId, region]) =>
    LIST_KINDS.map((list) => {
      const own = changes.filter((change) => change.regionId === regionId && change.list === list);
      const age = own.reduce((oldest, change) => Math.max(oldest, waitingSeconds(change, nowMilliseconds)), 0);
      return `${name}{region="${escaped(region)}",list="${list}"} ${age}\n`;
    }),
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
}

/** How many lists each router did not take in their newest commit, and has not taken since; `key` is the region's number. */
export function failingText(
  regions: readonly Readonly<{ key: string; view: RouterUpkeepView }>[],
  changes: readonly WaitingChangeView[],
): string {
  const name = 'edgeward_router_failing_lists';
  const help = 'Lists that the router did not take in their newest commit, and has not taken since.';
  const failing = new Map<string, number>();
  for (const { regionId, failingOn = [] } of changes)
    for (const router of failingOn) {
      const key = `${regionId}/${router}`;
      failing.set(key, (failing.get(key) ?? 0) + 1);
    }
  const samples = regions.flatMap(({ key, view: { region, routers } }) =>
    routers.map(
      (router) =>
        `${name}{region="${escaped(region)}",router="${escaped(router.name)}"} ${failing.get(`${key}/${router.name}`) ?? 0}\n`,
    ),
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
}

const ENDS = ['success', 'failed'] as const;

/** The counter of tries of commits that have ended since this server began; 0 where none has. */
export function commitsText(regions: ReadonlyMap<number, string>, ended: readonly EndedCommits[]): string {
  const name = 'edgeward_commits_total';
  const help = 'Tries of commits that have ended since this server began, whichever server made them.';
  const counts = new Map(ended.map(({ regionId, list, status, count }) => [`${regionId}/${list}/${status}`, count]));
  const samples = [...regions].flatMap(([regionId, region]) =>
    LIST_KINDS.flatMap((list) =>
      ENDS.map((status) => {
        const count = counts.get(`${regionId}/${list}/${status}`) ?? 0;
        return `${name}{region="${escaped(region)}",list="${list}",status="${status}"} ${count}\n`;
      }),
    ),
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${samples.join('')}`;
}

/** A region, and whether its routers keep what a restored log does not explain. */
export type RestoredRegion = Readonly<{ region: string; restored: boolean }>;

/** The gauge of the restored state, region by region. */
export function restoredText(regions: readonly RestoredRegion[]): string {
  const name = 'edgeward_restored';
  const help =
    'Whether the log was restored from an older copy, so that the routers of the region keep what it does not explain.';
  const samples = regions.map(({ region, restored }) => `${name}{region="${escaped(region)}"} ${Number(restored)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function secondsOf(instant: string | null): number | undefined {
  return instant === null ? undefined : Temporal.Instant.from(instant).epochMilliseconds / 1000;
}
