import { createServer, type Server } from 'node:http';
import { Counter, Gauge, type Registry } from 'prom-client';
import { z } from 'zod';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Operation } from '../route.ts';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** On a port of its own. */
export const METRICS_OPERATION = {
  method: 'GET',
  path: '/metrics',
  scope: 'anybody',
  request: {},
  answers: { 200: z.string() },
  contentType: TEXT_FORMAT,
} as const satisfies Operation;

/** One value: which metric, with which labels. */
export type Sample = Readonly<{ name: string; labels: Readonly<Record<string, string>>; value: number }>;

/** Metrics that are read when the page is asked for, all from one place, so that they fail together and without the others. */
export type Collector = Readonly<{
  name: string;
  metrics: readonly Readonly<{
    name: string;
    help: string;
    /** Default: gauge. A counter counts since the server began. */
    type?: 'gauge' | 'counter';
    labels?: readonly string[];
  }>[];
  read: () => readonly Sample[] | Promise<readonly Sample[]>;
}>;

/** How long one of them may take to say what it knows: a store that is away must not keep a monitoring system waiting. */
const READ_MILLISECONDS = 3_000;

/**
 * `GET /metrics` for a monitoring system, in Prometheus' text format; not listening yet. A collector that fails, or takes too long, costs its own
 * metrics, and `edgeward_collector_up` says so; the page is answered all the same.
 */
export function createMetricsServer(
  registry: Registry,
  collectors: readonly Collector[],
  tools: Readonly<{ clock: Clock; log: Log }>,
): Server {
  const page = metricsPage(registry, collectors, tools);
  return createServer((request, response) => {
    const [path] = (request.url ?? '').split('?');
    if (path !== METRICS_OPERATION.path) return void response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    page().then(
      (text) => response.writeHead(200, { 'Content-Type': TEXT_FORMAT }).end(text),
      (error: unknown) => {
        tools.log.error({ error }, 'metrics could not be written');
        response.writeHead(500).end();
      },
    );
  });
}

/** The text of the page, with everything read each time that it is asked for. */
export function metricsPage(
  registry: Registry,
  collectors: readonly Collector[],
  tools: Readonly<{ clock: Clock; log: Log }>,
): () => Promise<string> {
  const registers = [registry];
  const up = new Gauge({
    name: 'edgeward_collector_up',
    help: 'Whether what this collector tells could be read; 0: its metrics are missing from this page.',
    labelNames: ['collector'],
    registers,
  });
  const shown = collectors.map(({ name, metrics, read }) => {
    const instruments = new Map(metrics.map((metric) => [metric.name, instrumentOf(metric, registry)]));
    const bare = metrics.filter(({ labels = [] }) => labels.length === 0).map(({ name: metric }) => metric);
    return async (): Promise<void> => {
      const samples = await inTime(name, read, tools);
      // Nothing is waited for from here on: two pages that are asked for at once do not mix.
      for (const instrument of instruments.values()) instrument.reset();
      // Those without labels would say 0 now.
      for (const metric of bare) instruments.get(metric)?.remove();
      up.set({ collector: name }, Number(samples !== undefined));
      for (const { name: metric, labels, value } of samples ?? []) instruments.get(metric)?.inc({ ...labels }, value);
    };
  });
  return async () => {
    await Promise.all(shown.map((show) => show()));
    return registry.metrics();
  };
}

function instrumentOf(
  { name, help, type = 'gauge', labels = [] }: Collector['metrics'][number],
  registry: Registry,
): Counter | Gauge {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  return type === 'counter' ? new Counter(options) : new Gauge(options);
}

async function inTime(
  collector: string,
  read: Collector['read'],
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Promise<readonly Sample[] | undefined> {
  const answered = new AbortController();
  const late = clock.wait(READ_MILLISECONDS, answered.signal).then(
    () => Promise.reject(new Error(`no answer within ${READ_MILLISECONDS} ms`)),
    () => undefined,
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([(async () => read())(), late]);
  } catch (error) {
    log.warn({ collector, error }, 'metrics could not be read: they are missing from this page');
    return undefined;
  } finally {
    answered.abort();
  }
}
