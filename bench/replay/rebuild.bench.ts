// `projections rebuild --all` of a million events, against reading and JSON-parsing each event of the same file one by one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ready, freePort } from '../http/edgeward.ts';
import { median } from '../measure.ts';
import { firstAddress, ipv4, parseOneByOne, writeLog } from './event-log.ts';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 1_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

const [large, small] = [await makeLog(EVENTS), await makeLog(EVENTS / 10)];
try {
  const baseline: number[] = [];
  const ours: Run[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    baseline.push(parseOneByOne(large, EVENTS / 10));
    ours.push(await run(large, ['projections', 'rebuild', '--all', '--json']));
  }
  const ratio = median(ours.map(({ milliseconds }, round) => (baseline[round] ?? 0) / milliseconds));
  const [mine, theirs] = [median(ours.map(({ milliseconds }) => milliseconds)), median(baseline)];
  const rate = (milliseconds: number): string => `${Math.round(EVENTS / milliseconds)} k events/s`;
  console.log(
    `rebuild of ${EVENTS} events: ours ${rate(mine)}, baseline ${rate(theirs)}, ratio ${ratio.toFixed(2)} (target >= 0.7)`,
  );
  const tenth = await run(small, ['projections', 'rebuild', '--all', '--json']);
  const peak = Math.max(...ours.map((each) => each.peakMebibytes));
  console.log(
    `rebuild memory: ours ${peak.toFixed(0)} MiB at ${EVENTS} events, ${tenth.peakMebibytes.toFixed(0)} MiB at ${EVENTS / 10} (target <= 160 MiB, flat)`,
  );
  console.log(
    `start to ready with ${EVENTS} events in the log: ours ${((await startUp(large)) / 1000).toFixed(2)} s (target < 5 s)`,
  );
} finally {
  for (const directory of [large, small]) rmSync(directory, { recursive: true, force: true });
}

async function makeLog(events: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-rebuild-'));
  const shape = { customers: 1_000, subnetsEach: 1, subnetLength: 22, events };
  // An address is disabled, and enabled again the next time that it comes up.
  const disabled = new Set<number>();
  await writeLog(directory, shape, (customerId, _turn, random) => {
    const address = firstAddress(customerId, 22) + (random() % 1024);
    const isDisabled = disabled.delete(address);
    if (!isDisabled) disabled.add(address);
    return {
      type: isDisabled ? 'AddressesEnabled' : 'AddressesDisabled',
      data: { regionId: 1, ranges: [ipv4(address)] },
    };
  });
  return directory;
}

type Run = { milliseconds: number; peakMebibytes: number };

async function run(directory: string, args: readonly string[]): Promise<Run> {
  const started = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, DATA_DIR: directory },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakMebibytes(child.pid))), 50);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`);
  return { milliseconds: performance.now() - started, peakMebibytes: peak };
}

/** The highest resident size so far, as the kernel counts it; 0 for a process that has gone. */
function peakMebibytes(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function startUp(directory: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { ...process.env, DATA_DIR: directory, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await ready(`http://127.0.0.1:${port}`);
  const milliseconds = performance.now() - started;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return milliseconds;
}
