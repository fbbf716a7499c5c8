// One customer with very many scattered addresses changes one each 20 ms, while another customer disables addresses of its own: the other's
// requests against the same ones on a server that has no such customer, and the worst request of anybody; the first disable of the large
// customer after a start; and the peak of memory while all of this is saved.
// BENCH_ADDRESSES=100000 measures fewer; EDGEWARD_MAIN another build.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { freePort, ready } from '../http/edgeward.ts';
import { median } from '../measure.ts';
import { ipv4, tokenOf, writeLog } from '../replay/event-log.ts';

const MAIN = process.env.EDGEWARD_MAIN ?? new URL('../../dist/main.js', import.meta.url).pathname;
const ADDRESSES = Number(process.env.BENCH_ADDRESSES ?? 1_000_000);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const EACH_MILLISECONDS = 20;
const OTHERS_EVERY_MILLISECONDS = 4;
/** Two customers with a subnet of /8 each: 10.0.0.0/8 and 11.0.0.0/8. */
const [LARGE, OTHER] = [1, 2];
const OF_AN_EVENT = 10_000;
const WARM_SECONDS = 3;

type Server = Readonly<{ pool: Pool; child: ChildProcess }>;
type Times = readonly number[];

let disabled = 0;
const directory = mkdtempSync(join(tmpdir(), 'edgeward-large-'));
try {
  const alone = await othersAlone(join(directory, 'small'));
  const { first, peak, large, others } = await withLarge(join(directory, 'large'));
  const worst = Math.max(...large, ...others);
  const name = `${ADDRESSES} addresses of one customer`;
  console.log(
    `${name}, one changed each ${EACH_MILLISECONDS} ms: worst request of anybody ${shown(worst)} (target at most 20 ms), p99 of it ${shown(p99(large))}`,
  );
  console.log(
    `${name}: p99 of others ${shown(p99(others))} (p50 ${shown(median(others))}), without that customer ${shown(p99(alone))} (p50 ${shown(median(alone))}), ratio ${(p99(others) / p99(alone)).toFixed(2)} (target at most 2)`,
  );
  console.log(
    `${name}: first disable after a start ${shown(first)} (target at most 20 ms), peak memory ${peak} MiB (target at most 250)`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function othersAlone(dataDir: string): Promise<Times> {
  await makeLog(dataDir, 0);
  const server = await start(dataDir);
  try {
    await timed(() => disable(server, OTHER), OTHERS_EVERY_MILLISECONDS, WARM_SECONDS);
    return await timed(() => disable(server, OTHER), OTHERS_EVERY_MILLISECONDS, SECONDS);
  } finally {
    await stop(server);
  }
}

async function withLarge(dataDir: string) {
  await makeLog(dataDir, ADDRESSES);
  // The first start builds the views, and is not what is measured.
  const building = await start(dataDir);
  await disable(building, LARGE);
  await pause(1_000);
  await stop(building);
  const server = await start(dataDir);
  try {
    await timed(() => disable(server, OTHER), OTHERS_EVERY_MILLISECONDS, WARM_SECONDS);
    forgetPeak(server);
    const first = await milliseconds(() => disable(server, LARGE));
    const others = timed(() => disable(server, OTHER), OTHERS_EVERY_MILLISECONDS, SECONDS);
    const large = await timed(() => disable(server, LARGE), EACH_MILLISECONDS, SECONDS);
    return { first, large, others: await others, peak: peakOf(server) };
  } finally {
    await stop(server);
  }
}

/** Both customers; the first has so many addresses disabled. */
async function makeLog(dataDir: string, addresses: number): Promise<void> {
  const opening = 1 + 2 * 3;
  const events = opening + 2 * Math.ceil(addresses / OF_AN_EVENT);
  await writeLog(dataDir, { customers: 2, subnetsEach: 1, subnetLength: 8, events }, (customerId, at) =>
    customerId === LARGE
      ? { type: 'AddressesDisabled', data: { regionId: 1, ranges: scattered(at, addresses) } }
      : { type: 'AddressesDisabled', data: { regionId: 1, ranges: [ipv4(0x0b000000 + 2 * at)] } },
  );
}

/** Every 16th address of the first subnet, in an order of no meaning. */
function scattered(turn: number, addresses: number): string[] {
  const from = turn * OF_AN_EVENT;
  const count = Math.min(OF_AN_EVENT, addresses - from);
  return Array.from({ length: count }, (_, at) => ipv4(0x0a000000 + 16 * (((from + at) * 7_919) % addresses)));
}

async function start(dataDir: string): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), QUIET_PERIOD: 'PT1H', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await ready(url);
  return { pool: new Pool(url, { connections: 8 }), child };
}

async function stop({ pool, child }: Server): Promise<void> {
  await pool.close();
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
}

/** Disables an address that was not disabled before. */
async function disable({ pool }: Server, customerId: number): Promise<void> {
  disabled += 1;
  const value = 0x09000000 + customerId * 2 ** 24 + 16 * ((disabled * 104_729) % 2 ** 20) + 1 + (disabled >>> 20);
  const { statusCode, body } = await pool.request({
    path: '/api/v1/ips/disable',
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf(customerId)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ip: ipv4(value) }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
}

/** Calls at a steady pace, whether earlier ones have been answered or not. */
async function timed(call: () => Promise<void>, everyMilliseconds: number, seconds: number): Promise<Times> {
  const times: Promise<number>[] = [];
  const begun = performance.now();
  for (let at = 0; at < seconds * 1_000; at += everyMilliseconds) {
    await pause(Math.max(0, begun + at - performance.now()));
    times.push(milliseconds(call));
  }
  return Promise.all(times);
}

async function milliseconds(call: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await call();
  return performance.now() - begun;
}

/** Linux keeps the most memory that a process has had; it can be told to begin anew. */
function forgetPeak({ child }: Server): void {
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
}

function peakOf({ child }: Server): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kibibytes) / 1_024);
}

function p99(times: Times): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function shown(time: number): string {
  return `${time.toFixed(1)} ms`;
}
