// Demand: work requests come through the administration API while light workers wait for them, each of which is done with its own at once;
// how long it takes from submitting one until its worker has it, against what a submission takes to be answered.
// usage: node --import tsx bench/worker-pools/demand.bench.ts   (WORK_REQUESTS, WORKERS from the environment)
import { execFileSync, spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { createLog } from '../../src/adapters/log.ts';
import { registerWorker } from '../../src/application/worker-pools/worker-sessions.ts';
import { createScope } from '../../src/application/worker-pools/scopes.ts';
import { readConfig } from '../../src/config.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import { commandApplication } from '../../src/main/application.ts';
import { freePort } from '../http/edgeward.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const requests = Number(process.env.WORK_REQUESTS ?? 5_000);
const workers = Number(process.env.WORKERS ?? 200);
/** A token may ask 600 times a minute. */
const REQUESTS_OF_TOKEN = 500;
const SECONDS_MAX = 600;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-demand-'));
const env = { ...process.env, DATA_DIR: join(directory, 'data'), PORT: String(await freePort()), LOG_LEVEL: 'warn' };
const url = `http://127.0.0.1:${env.PORT}`;
const tokens = prepareAdministrator(Math.ceil(requests / REQUESTS_OF_TOKEN));
const activations = await registerWorkers();
const server = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
// Every worker that waits holds a connection; reports go beside.
const taking = new Pool(url, { connections: workers, pipelining: 1 });
const telling = new Pool(url, { connections: 16, pipelining: 1 });
try {
  await measure();
} finally {
  await Promise.all([taking.destroy(), telling.destroy()]);
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}

function prepareAdministrator(count: number): readonly string[] {
  command('init');
  command('admin', 'create', 'bench');
  const issued = z.object({ token: z.string() });
  const create = () => issued.parse(command('admin', 'token', 'create', 'bench', '--scopes', 'work:write')).token;
  return Array.from({ length: count }, create);
}

function command(...args: string[]): unknown {
  return JSON.parse(execFileSync(process.execPath, [MAIN, ...args, '--json'], { env, encoding: 'utf8' }));
}

async function registerWorkers(): Promise<readonly string[]> {
  const log = createLog({ level: 'fatal', destination: () => undefined });
  const context = { actor: 'admin:bench', requestId: 'bench' };
  return commandApplication(
    () => readConfig(env),
    log,
  )(async (application) => {
    await createScope('bench', context, application);
    const names = Array.from({ length: workers }, (_, index) => `bench-${index}`);
    return Promise.all(
      names.map(async (name) => {
        const registered = await registerWorker(name, ['amd64'], context, application);
        if (isRefusal(registered)) throw new Error(registered.because);
        return registered.token;
      }),
    );
  });
}

async function measure(): Promise<void> {
  await ready();
  const submittedAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const working = Promise.all(activations.map((activation) => beWorker(activation, startedAt, over.signal)));
  working.catch(() => undefined);
  await pause(1_000);
  const answers: number[] = [];
  const began = performance.now();
  let next = 0;
  const submitOnAndOn = async (): Promise<void> => {
    while (next < requests) {
      const number = next;
      next += 1;
      const start = performance.now();
      const token = tokens[Math.floor(number / REQUESTS_OF_TOKEN)] ?? '';
      const answer = await tell(token, '/api/admin/v1/work-requests', { scope: 'bench', architecture: 'amd64' });
      if (answer.status !== 201) throw new Error(`a submission was answered with ${answer.status}: ${answer.text}`);
      answers.push(performance.now() - start);
      submittedAt.set(z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(answer.text)).data.id, start);
    }
  };
  await Promise.all(Array.from({ length: 8 }, submitOnAndOn));
  const submitted = performance.now() - began;
  while (startedAt.size < requests) {
    if (performance.now() - began > SECONDS_MAX * 1000)
      throw new Error(`${startedAt.size} of ${requests} were started`);
    await pause(20);
  }
  const waits = [...submittedAt].map(([id, at]) => (startedAt.get(id) ?? Number.NaN) - at);
  over.abort();
  await working.catch(() => undefined);
  const [p50, p99, answer] = [quantile(waits, 0.5), quantile(waits, 0.99), quantile(answers, 0.5)];
  console.log(
    `${requests} work requests by 8 at once, ${workers} workers: ${Math.round((requests / submitted) * 1000)} submitted a second`,
  );
  console.log(
    `from submitting until its worker has it: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; a submission is answered in ${answer.toFixed(1)} ms (p50): ratio ${(p50 / answer).toFixed(2)} (no target)`,
  );
}

/** Takes work and is done with it, until it is told to stop. */
async function beWorker(activation: string, startedAt: Map<string, number>, stop: AbortSignal): Promise<void> {
  const activated = await tell(activation, '/api/worker/v1/activate');
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(JSON.parse(activated.text));
  await tell(token, '/api/worker/v1/ready', {});
  while (!stop.aborted) {
    const { statusCode, body } = await taking.request({
      method: 'POST',
      path: '/api/worker/v1/take?wait=PT30S',
      headers: { authorization: `Bearer ${token}` },
      signal: stop,
    });
    const text = await body.text();
    if (statusCode === 204) continue;
    if (statusCode !== 200) throw new Error(`taking was answered with ${statusCode}: ${text}`);
    const { id } = z.object({ id: z.string() }).parse(JSON.parse(text));
    startedAt.set(id, performance.now());
    await tell(token, '/api/worker/v1/finish', { id, outcome: 'succeeded' });
  }
}

async function tell(token: string, path: string, body?: object): Promise<Readonly<{ status: number; text: string }>> {
  const answer = await telling.request({
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

async function ready(): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    await pause(100);
  }
  throw new Error('the server did not get ready');
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
