// Customers with one changed address each that are all due when a server starts, in a region whose routers are directories; and a bare
// loop that writes, syncs, renames and reads back the same files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../http/edgeward.ts';
import { type Paired, summary } from '../measure.ts';
import { firstAddress, ipv4, writeLog } from '../replay/event-log.ts';
import { replaceDurably } from './bare-push.ts';

const MAIN = process.env.EDGEWARD_MAIN ?? new URL('../../dist/main.js', import.meta.url).pathname;
/** How many customers are due, in a region of how many routers. */
export type DueCommits = Readonly<{ customers: number; routers: number }>;

/** While everything starts, and when only some lists are left, fewer are under way. */
const [FROM, TO] = [0.2, 0.9];
const SECONDS_MAX = 300;

/** Milliseconds for each list on a router. `ROUNDS`, and `EDGEWARD_MAIN` for another build, from the environment. */
export async function deployDueCommits(due: DueCommits, rounds: number): Promise<Paired> {
  const pairs: [ours: number, baseline: number][] = [];
  const wanted = Number(process.env.ROUNDS ?? rounds);
  for (let round = -1; round < wanted; round += 1) {
    const directory = mkdtempSync(join(tmpdir(), 'edgeward-deploy-'));
    const baseline = bareLoop(join(directory, 'bare'), due);
    const ours = await deployedByServer(directory, due);
    if (round >= 0) pairs.push([ours, baseline]);
    rmSync(directory, { recursive: true, force: true });
  }
  return summary(pairs);
}

function bareLoop(directory: string, { customers, routers }: DueCommits): number {
  const folders = foldersIn(directory, routers);
  const started = performance.now();
  for (let customer = 1; customer <= customers; customer += 1)
    for (const folder of folders)
      replaceDurably(folder, `Svc-C${customer}-BLACKHOLE`, Buffer.from(`${ipv4(firstAddress(customer, 24))}/32\n`));
  return (performance.now() - started) / (customers * routers);
}

function foldersIn(directory: string, routers: number): readonly string[] {
  const folders = Array.from({ length: routers }, (_, at) => join(directory, `edge${at + 1}`));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  return folders;
}

/** A server that finds all of them due when it starts: milliseconds between two lists, as the directories show them. */
async function deployedByServer(directory: string, { customers, routers }: DueCommits): Promise<number> {
  const folders = foldersIn(join(directory, 'routers'), routers);
  const added = folders.map((path, at) => ({
    type: 'RouterAdded',
    data: { regionId: 1, router: `edge${at + 1}`, driver: 'file', options: { path } },
  }));
  const shape = { customers, subnetsEach: 1, subnetLength: 24, events: 1 + routers + 4 * customers };
  const dataDir = join(directory, 'data');
  await writeLog(dataDir, shape, disabledAddress, added);
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(await freePort()),
      SCHEDULER_INTERVAL: 'PT0.5S',
      LOG_LEVEL: 'error',
      DRIFT_INTERVAL: 'PT0S',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const lists = customers * routers;
    const from = await shown(folders, FROM * lists);
    const to = await shown(folders, TO * lists);
    return (to.at - from.at) / (to.count - from.count);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

function disabledAddress(customerId: number) {
  return { type: 'AddressesDisabled', data: { regionId: 1, ranges: [ipv4(firstAddress(customerId, 24))] } };
}

async function shown(folders: readonly string[], count: number): Promise<{ count: number; at: number }> {
  for (const until = performance.now() + SECONDS_MAX * 1_000; performance.now() < until;) {
    const seen = folders.reduce((sum, folder) => sum + listsIn(folder), 0);
    if (seen >= count) return { count: seen, at: performance.now() };
    await pause(20);
  }
  throw new Error(`the routers did not have ${count} lists within ${SECONDS_MAX} s`);
}

function listsIn(folder: string): number {
  return readdirSync(folder).filter((name) => !name.startsWith('.')).length;
}
