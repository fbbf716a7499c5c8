import { createServer, type Server } from 'node:http';
import { Temporal } from '@js-temporal/polyfill';
import type { Log } from '../ports/log.ts';
import type { RouterUpkeep, RouterUpkeepView } from '../projections/ip-control/router-upkeep-view.ts';
import type { Views } from '../projections/shelf.ts';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

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
  upkeep: Pick<Views<RouterUpkeepView>, 'list'>,
  restored: () => Promise<readonly RestoredRegion[]>,
  log: Log,
): Server {
  return createServer((request, response) => {
    const [path] = (request.url ?? '').split('?');
    if (path !== '/metrics') return void response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    Promise.all([upkeep.list(), restored()]).then(
      ([views, regions]) =>
        response
          .writeHead(200, { 'Content-Type': TEXT_FORMAT })
          .end(metricsText(views.map(({ view }) => view)) + restoredText(regions)),
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
