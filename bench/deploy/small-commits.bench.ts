// Small commits: a thousand customers with one changed address each are due at once, in a region with one router that is a directory;
// against a bare loop that writes, syncs, renames and reads back the same files. A list that a router takes in time is never cut into
// slices, so that slices may cost such a commit nothing: the ratio is what it was before there were any.
// usage: node --import tsx bench/deploy/small-commits.bench.ts   (ROUNDS, and EDGEWARD_MAIN for another build, from the environment)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../http/edgeward.ts';
import { reportShare, summary } from '../measure.ts';
import { firstAddress, ipv4, writeLog } from '../replay/event-log.ts';

const MAIN = process.env.EDGEWARD_MAIN ?? new URL('../../dist/main.js', import.meta.url).pathname;
const CUSTOMERS = 1_000;
/** While everything starts, and when only some lists are left, fewer are under way. */
const [FROM, TO] = [CUSTOMERS * 0.2, CUSTOMERS * 0.9];
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS_MAX = 120;

const pairs: [ours: number, baseline: number][] = [];
for (let round = -1; round < ROUNDS; round += 1) {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-deploy-'));
  const baseline = bareLoop(join(directory, 'bare'));
  const ours = await deployedByServer(directory);
  if (round >= 0) pairs.push([ours, baseline]);
  rmSync(directory, { recursive: true, force: true });
}
reportShare(
  'one small commit among a thousand; files written, synced and read back in a bare loop',
  summary(pairs),
  4.4,
);

/** Milliseconds for each list. */
function bareLoop(directory: string): number {
  mkdirSync(directory);
  const started = performance.now();
  for (let customer = 1; customer <= CUSTOMERS; customer += 1) {
    const name = join(directory, `Svc-C${customer}-BLACKHOLE`);
    const text = `${ipv4(firstAddress(customer, 24))}/32\n`;
    const draft = openSync(`${name}.new`, 'w');
    writeSync(draft, text);
    fsyncSync(draft);
    closeSync(draft);
    renameSync(`${name}.new`, name);
    const folder = openSync(directory, 'r');
    fsyncSync(folder);
    closeSync(folder);
    if (readFileSync(name, 'utf8') !== text) throw new Error(`${name} reads back differently`);
  }
  return (performance.now() - started) / CUSTOMERS;
}

/** A server that finds all of them due when it starts: milliseconds between two lists, as the directory shows them. */
async function deployedByServer(directory: string): Promise<number> {
  const lists = join(directory, 'router');
  mkdirSync(lists);
  const router = { regionId: 1, router: 'edge1', driver: 'file', options: { path: lists } };
  const shape = { customers: CUSTOMERS, subnetsEach: 1, subnetLength: 24, events: 2 + 4 * CUSTOMERS };
  const dataDir = join(directory, 'data');
  await writeLog(dataDir, shape, disabledAddress, [{ type: 'RouterAdded', data: router }]);
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
    const from = await shown(lists, FROM);
    const to = await shown(lists, TO);
    return (to.at - from.at) / (to.count - from.count);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

function disabledAddress(customerId: number) {
  return { type: 'AddressesDisabled', data: { regionId: 1, ranges: [ipv4(firstAddress(customerId, 24))] } };
}

async function shown(directory: string, count: number): Promise<{ count: number; at: number }> {
  for (const until = performance.now() + SECONDS_MAX * 1_000; performance.now() < until;) {
    const seen = readdirSync(directory).filter((name) => !name.startsWith('.')).length;
    if (seen >= count) return { count: seen, at: performance.now() };
    await pause(5);
  }
  throw new Error(`the router did not have ${count} lists within ${SECONDS_MAX} s`);
}
