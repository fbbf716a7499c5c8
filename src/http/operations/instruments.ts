import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What this server measures as it happens, since it began. Durations in seconds; no label names a customer. */
export type Instruments = Readonly<{
  registry: Registry;
  /** `route`: the template, or `unmatched`. */
  requestEnded: (labels: Readonly<{ method: string; route: string; status: number }>, seconds: number) => void;
  rateLimited: (kind: 'customer' | 'stranger') => void;
  pushEnded: (
    labels: Readonly<{ region: string; router: string; driver: string; outcome: string }>,
    seconds: number,
  ) => void;
  /** From the newest change that a commit carries to the last router that confirmed. */
  commitCompleted: (labels: Readonly<{ region: string; list: string }>, delaySeconds: number) => void;
  appendEnded: (outcome: (typeof APPEND_OUTCOMES)[number], seconds: number) => void;
  webhookTried: (outcome: 'delivered' | 'failed' | 'given_up') => void;
  launchEnded: (pool: string, outcome: (typeof LAUNCH_OUTCOMES)[number]) => void;
  /** Launches of a pool are counted from 0 on. */
  poolIsThere: (pool: string) => void;
}>;

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const PUSH_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const COMMIT_SECONDS = [1, 5, 15, 30, 60, 120, 180, 300, 600, 1_800, 3_600];
const APPEND_OUTCOMES = ['success', 'conflict', 'failed'] as const;
const LAUNCH_OUTCOMES = ['created', 'failed'] as const;
const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'given_up'] as const;

/** Makes them in a registry of their own, beside what prom-client measures of the process. */
export function createInstruments(build: Readonly<{ version: string; node: string }>): Instruments {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'edgeward_http_request_duration_seconds',
    help: 'From the first byte of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const limited = new Counter({
    name: 'edgeward_http_rate_limited_total',
    help: 'Requests that were answered 429, of customers and of strangers.',
    labelNames: ['kind'],
    registers,
  });
  const pushes = new Histogram({
    name: 'edgeward_router_push_duration_seconds',
    help: 'Changes of a list on a router; outcome is success or the code of the failure.',
    labelNames: ['region', 'router', 'driver', 'outcome'],
    buckets: PUSH_SECONDS,
    registers,
  });
  const delays = new Histogram({
    name: 'edgeward_commit_delay_seconds',
    help: 'From the newest change that a commit carries to the last router that confirmed it.',
    labelNames: ['region', 'list'],
    buckets: COMMIT_SECONDS,
    registers,
  });
  const appends = new Histogram({
    name: 'edgeward_event_store_append_duration_seconds',
    help: 'Appends of this server until their events were durable, or refused.',
    labelNames: ['outcome'],
    buckets: APPEND_SECONDS,
    registers,
  });
  const webhooks = new Counter({
    name: 'edgeward_webhook_deliveries_total',
    help: 'Tries of webhooks by their outcome, whichever server made them; given_up: it is not tried again by itself.',
    labelNames: ['outcome'],
    registers,
  });
  const launches = new Counter({
    name: 'edgeward_pool_launches_total',
    help: 'Launches of instances by their outcome, whichever server made them.',
    labelNames: ['pool', 'outcome'],
    registers,
  });
  new Gauge({
    name: 'edgeward_build_info',
    help: 'Always 1; the version of edgeward and of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ ...build }, 1);
  beginAtZero({ limited, webhooks, appends });
  return {
    registry,
    requestEnded: ({ method, route, status }, seconds) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    rateLimited: (kind) => limited.inc({ kind }),
    pushEnded: (labels, seconds) => pushes.observe({ ...labels }, seconds),
    commitCompleted: (labels, delaySeconds) => delays.observe({ ...labels }, delaySeconds),
    appendEnded: (outcome, seconds) => appends.observe({ outcome }, seconds),
    webhookTried: (outcome) => webhooks.inc({ outcome }),
    launchEnded: (pool, outcome) => launches.inc({ pool, outcome }),
    poolIsThere: (pool) => beginLaunchesAtZero(launches, pool),
  };
}

function beginLaunchesAtZero(launches: Counter<'pool' | 'outcome'>, pool: string): void {
  for (const outcome of LAUNCH_OUTCOMES) launches.inc({ pool, outcome }, 0);
}

/** A rate over a counter that begins with its first event misses that event. */
function beginAtZero({
  limited,
  webhooks,
  appends,
}: Readonly<{ limited: Counter<'kind'>; webhooks: Counter<'outcome'>; appends: Histogram<'outcome'> }>): void {
  for (const kind of ['customer', 'stranger']) limited.inc({ kind }, 0);
  for (const outcome of WEBHOOK_OUTCOMES) webhooks.inc({ outcome }, 0);
  for (const outcome of APPEND_OUTCOMES) appends.zero({ outcome });
}
