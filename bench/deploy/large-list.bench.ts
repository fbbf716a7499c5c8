// A commit of one address in a list of 500,000 blocks, on a server that runs and has deployed the list before, onto a router that is a
// directory: how long the server's processor works for it, by what it works on; against a bare loop that reads such a file, writes, syncs and
// renames another one, and reads it back. What is said of a customer's own work leaves out the driver, which stands for the router.
// usage: node --import tsx bench/deploy/large-list.bench.ts   (BENCH_ADDRESSES, BENCH_COMMITS, and EDGEWARD_MAIN for another build, from the environment)
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, ready } from '../http/edgeward.ts';
import { median } from '../measure.ts';
import { ipv4, tokenOf, writeLog } from '../replay/event-log.ts';
import { pushBare } from './bare-push.ts';
import { readProfile, workIn } from './profile.ts';

const MAIN = process.env.EDGEWARD_MAIN ?? new URL('../../dist/main.js', import.meta.url).pathname;
const ADDRESSES = Number(process.env.BENCH_ADDRESSES ?? 500_000);
const COMMITS = Number(process.env.BENCH_COMMITS ?? 20);
const WARM_UP = 5;
const OF_AN_EVENT = 10_000;
const LIST = 'Svc-C1-BLACKHOLE';
const SECONDS_MAX = 120;

const DRIVER = 'adapters/routers';
/** The folders of a build whose work is told apart. */
const PARTS = [
  DRIVER,
  'addresses',
  'domain',
  'processes',
  'commands',
  'projections',
  'events',
  'adapters/sqlite',
  'http',
] as const;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-list-'));
try {
  const { processor, waits, work, garbage, peak } = await measuredServer();
  const bare = median(Array.from({ length: COMMITS }, () => pushBare(join(directory, 'routers'), LIST)));
  const name = `a commit of one address in a list of ${ADDRESSES}`;
  const own = [...work].reduce((sum, [part, time]) => sum + (part === DRIVER ? 0 : time), garbage);
  console.log(
    `${name}: own work beside the driver ${shown(own)} (target at most 10 ms), whole processor ${shown(processor)}, bare loop ${shown(bare)}, ratio ${(processor / bare).toFixed(2)}; answered after ${shown(waits)}; most memory ${peak} MiB`,
  );
  for (const [part, time] of [...work].sort(([, a], [, b]) => b - a))
    if (time >= 0.05) console.log(`  ${shown(time).padStart(10)}  ${part}`);
  console.log(`  ${shown(garbage).padStart(10)}  collecting garbage`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measuredServer() {
  const routers = join(directory, 'routers');
  mkdirSync(routers);
  const dataDir = join(directory, 'data');
  const added = {
    type: 'RouterAdded',
    data: { regionId: 1, router: 'edge1', driver: 'file', options: { path: routers } },
  };
  const events = 2 + 3 + Math.ceil(ADDRESSES / OF_AN_EVENT);
  const ranges = (turn: number): string[] =>
    Array.from({ length: Math.min(OF_AN_EVENT, ADDRESSES - turn * OF_AN_EVENT) }, (_, at) =>
      ipv4(0x0a000000 + 16 * (turn * OF_AN_EVENT + at)),
    );
  await writeLog(
    dataDir,
    { customers: 1, subnetsEach: 1, subnetLength: 8, events },
    (_, turn) => ({ type: 'AddressesDisabled', data: { regionId: 1, ranges: ranges(turn) } }),
    [added],
  );
  const port = await freePort();
  const profiles = join(directory, 'profiles');
  const child = spawn(
    process.execPath,
    ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', profiles, MAIN, 'serve'],
    {
      env: {
        ...process.env,
        DATA_DIR: dataDir,
        PORT: String(port),
        QUIET_PERIOD: 'PT1H',
        DRIFT_INTERVAL: 'PT0S',
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url);
    for (let commit = 0; commit < WARM_UP; commit += 1) await commitOne(url, commit);
    await pause(3_000);
    writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
    const [begun, processorBefore] = [Date.now(), processorOf(child)];
    const waits: number[] = [];
    for (let commit = 0; commit < COMMITS; commit += 1) waits.push(await commitOne(url, WARM_UP + commit));
    const [ended, processor] = [Date.now(), processorOf(child) - processorBefore];
    requireList(routers, ADDRESSES + WARM_UP + COMMITS);
    const peak = peakOf(child);
    child.kill('SIGTERM');
    await once(child, 'exit');
    const exited = Date.now();
    const [file = ''] = readdirSync(profiles);
    const profile = readProfile(join(profiles, file));
    const window = { from: exited - begun, to: exited - ended };
    const { work, garbage } = workIn(profile, window, PARTS, COMMITS);
    return { processor: processor / COMMITS, waits: median(waits), work, garbage, peak };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Disables an address that was not disabled before, and waits until it is on the router. */
async function commitOne(url: string, at: number): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${url}/api/v1/ips/disable`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf(1)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ip: ipv4(0x0a000000 + 16 * ((at * 104_729) % ADDRESSES) + 5), synchronous: true }),
    signal: AbortSignal.timeout(SECONDS_MAX * 1_000),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return performance.now() - begun;
}

function requireList(routers: string, blocks: number): void {
  const lines = readFileSync(join(routers, LIST), 'utf8').split('\n').length - 1;
  if (lines !== blocks) throw new Error(`the router holds ${lines} blocks of ${blocks}`);
}

/** Milliseconds of all threads of a process so far. */
function processorOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Linux keeps the most memory that a process has had. */
function peakOf({ pid }: ChildProcess): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kibibytes) / 1_024);
}

function shown(time: number): string {
  return `${time.toFixed(1)} ms`;
}
