// Fan-out of signed webhooks to one receiver over 16 connections, against undici's Pool.request with the same bytes, unsigned.
// usage: node --import tsx bench/webhooks/fan-out.bench.ts   (ROUNDS, SECONDS from the environment)
import { Temporal } from '@js-temporal/polyfill';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { createWebhookSender } from '../../src/adapters/webhooks/webhook-sender.ts';
import type { Clock } from '../../src/ports/clock.ts';

const CONNECTIONS = 16;
const TARGET = 0.5;
const rounds = Number(process.env.ROUNDS ?? 7);
const milliseconds = Number(process.env.SECONDS ?? 1) * 1000;

const receiver = spawn(process.execPath, ['--import', 'tsx', new URL('receiver.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
const [said] = await once(receiver.stdout!, 'data');
const origin = `http://127.0.0.1:${Number(String(said))}`;

const body = JSON.stringify({
  event: 'commit_completed',
  commit_set_id: '8f0f3f6e-6b1c-4a3e-9a53-0d4a8d1f7c11',
  customer: 'Acme Corp.',
  region: 'eu-central',
  list: 'Svc-ACME-CORP-BLACKHOLE',
  status: 'success',
  completed_at: '2026-11-27T20:50:00.123+00:00',
  padding: 'x'.repeat(180),
});
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const signature = `v1,${Buffer.alloc(32, 7).toString('base64')}`;

const sender = createWebhookSender({
  clock: systemClock(),
  timeoutMilliseconds: 10_000,
  allowPrivate: true,
  connectionsPerOrigin: CONNECTIONS,
});
const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
const signal = new AbortController().signal;
let number = 0;

async function ours(): Promise<void> {
  const messageId = `msg_${(number += 1)}`;
  const result = await sender.send(
    { url: `${origin}/hook`, messageId, timestampSeconds: () => 1_795_812_600, body, secret },
    signal,
  );
  if (!result.delivered) throw new Error(result.because);
}

async function baseline(): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'edgeward',
    'webhook-id': `msg_${(number += 1)}`,
    'webhook-timestamp': '1795812600',
    'webhook-signature': signature,
  };
  const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
  await answer.body.dump();
}

await perSecond(ours);
await perSecond(baseline);
const figures: { ours: number; baseline: number }[] = [];
for (let round = 0; round < rounds; round += 1) {
  // The one that goes first changes, so that what the machine does meanwhile meets both alike.
  const first = round % 2 === 0 ? await perSecond(ours) : undefined;
  const second = await perSecond(baseline);
  figures.push({ ours: first ?? (await perSecond(ours)), baseline: second });
}
const ratio = median(figures.map((figure) => figure.ours / figure.baseline));
const [a, b] = [median(figures.map((figure) => figure.ours)), median(figures.map((figure) => figure.baseline))];
console.log(
  `webhook fan-out, 16 connections, signed: ours ${a.toFixed(0)}/s, baseline ${b.toFixed(0)}/s (undici Pool.request, unsigned), ratio ${ratio.toFixed(2)} (target ${TARGET})`,
);
await sender.close();
await pool.close();
receiver.disconnect();
if (ratio < TARGET) process.exitCode = 1;

async function perSecond(send: () => Promise<void>): Promise<number> {
  const start = performance.now();
  let sent = 0;
  const work = async (): Promise<void> => {
    for (; performance.now() - start < milliseconds; sent += 1) await send();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return (sent / (performance.now() - start)) * 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)]!;
}

function systemClock(): Clock {
  return {
    now: () => Temporal.Now.instant(),
    nowText: () => Temporal.Now.instant().toString(),
    monotonicMilliseconds: () => performance.now(),
    wait: (delay, stop) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          clearTimeout(timer);
          reject(stop?.reason);
        };
        const timer = setTimeout(() => {
          stop?.removeEventListener('abort', onAbort);
          resolve();
        }, delay);
        stop?.addEventListener('abort', onAbort, { once: true });
      }),
  };
}
