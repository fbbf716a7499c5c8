// Webhooks of a whole server to one receiver, signed, each recorded as an event before the next one of its customer, over the 16
// connections that one receiver gets; against undici's Pool.request with the same bytes, unsigned and not recorded.
// usage: node --import tsx bench/webhooks/recorded.bench.ts   (ROUNDS from the environment)
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { openSecretFiles } from '../../src/adapters/files/secrets.ts';
import { freePort } from '../http/edgeward.ts';
import { reportSpeedUp, summary } from '../measure.ts';
import { writeLog } from '../replay/event-log.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const CONNECTIONS = 16;
const CUSTOMERS = 1_000;
const NOTIFICATIONS_EACH = 8;
const NOTIFICATIONS = CUSTOMERS * NOTIFICATIONS_EACH;
/** While everything starts, and when only some customers are left, fewer connections are busy. */
const [FROM, TO] = [NOTIFICATIONS * 0.2, NOTIFICATIONS * 0.9];
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECRET_ID = 'webhook-bench';
const COMPLETED_AT = '2026-11-27T20:50:00.123+00:00';

const receiver = spawn(process.execPath, ['--import', 'tsx', new URL('receiver.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
});
const [said] = await once(receiver.stdout!, 'data');
const origin = `http://127.0.0.1:${Number(String(said))}`;
const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });

const pairs: [ours: number, baseline: number][] = [];
for (let round = -1; round < ROUNDS; round += 1) {
  const theirs = await millisecondsEach(baseline);
  const ours = await millisecondsEach(deliveredByServer);
  if (round >= 0) pairs.push([ours, theirs]);
}
reportSpeedUp('one webhook of a server, 16 connections, signed and recorded; undici Pool.request', summary(pairs), 0.5);
await pool.close();
receiver.disconnect();

/** Milliseconds between two notifications, as the receiver saw them. */
async function millisecondsEach(send: () => Promise<() => Promise<void>>): Promise<number> {
  const before = await received();
  const stop = await send();
  const startedAt = await reached(before + FROM);
  const endedAt = await reached(before + TO);
  await reached(before + NOTIFICATIONS);
  await stop();
  return (endedAt.at - startedAt.at) / (endedAt.count - startedAt.count);
}

async function reached(count: number): Promise<{ count: number; at: number }> {
  for (const until = performance.now() + 120_000; performance.now() < until;) {
    const now = { count: await received(), at: performance.now() };
    if (now.count >= count) return now;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('the receiver did not get all notifications within 120 s');
}

async function received(): Promise<number> {
  receiver.send('count');
  const [count] = await once(receiver, 'message');
  return Number(count);
}

async function baseline(): Promise<() => Promise<void>> {
  const body = notification(1, randomUUID());
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'edgeward',
    'webhook-id': `msg_${randomUUID()}_success`,
    'webhook-timestamp': '1795812600',
    'webhook-signature': `v1,${Buffer.alloc(32, 7).toString('base64')}`,
  };
  let left = NOTIFICATIONS;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.body.dump();
    }
  };
  const working = Promise.all(Array.from({ length: CONNECTIONS }, work));
  return async () => void (await working);
}

/** A server that finds all notifications owed when it starts. */
async function deliveredByServer(): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-webhooks-'));
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const shape = { customers: CUSTOMERS, subnetsEach: 0, subnetLength: 24, events: 1 + 4 * CUSTOMERS + NOTIFICATIONS };
  await writeLog(directory, shape, (_customerId, turn) => {
    if (turn === 0) return { type: 'CustomerSettingsChanged', data: { changes: { webhookUrl: `${origin}/hook` } } };
    if (turn === 1) return { type: 'WebhookSecretRotated', data: { secretId: SECRET_ID } };
    return { type: 'CommitCompleted', data: completedCommit() };
  });
  await openSecretFiles(join(directory, 'secrets')).put(SECRET_ID, secret);
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: {
      ...process.env,
      DATA_DIR: directory,
      PORT: String(await freePort()),
      QUIET_PERIOD: 'PT1H',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  };
}

function completedCommit() {
  const content = { prefixes: 0, sha256: '' };
  const commit = { commitSetId: randomUUID(), regionId: 1, list: 'BLACKHOLE', attempt: 1 };
  return { ...commit, outcomes: [], content, completedAt: COMPLETED_AT, notify: true };
}

function notification(customerId: number, commitSetId: string): string {
  return JSON.stringify({
    event: 'commit_completed',
    commit_set_id: commitSetId,
    customer: `c${customerId}`,
    prefix_list_name: `Svc-C${customerId}-BLACKHOLE`,
    region: 'bench',
    status: 'success',
    completed_at: COMPLETED_AT,
  });
}
