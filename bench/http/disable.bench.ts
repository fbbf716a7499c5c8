// One disable over HTTP, all checks on, durable, read-your-writes, against a plain Express route with one FULL insert per request.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEdgeward } from './edgeward.ts';

type Load = { requestsPerSecond: number; p50: number; p99: number; errors: number };
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const seconds = process.env['BENCH_SECONDS'] ?? '2';
/** Rounds at 16 connections that are not counted, about ten thousand requests: the larger program takes longer until it is warm. */
const WARM_UPS = 4;
const here = (name: string): string => new URL(name, import.meta.url).pathname;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-plain-'));
const plain = spawn(process.execPath, ['--import', 'tsx', here('./plain-server.ts'), join(directory, 'plain.db')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(plain.stdout, 'data');
const plainUrl = String(line).trim();
const edgeward = await startEdgeward(['10.0.0.0/8']);

for (let round = 0; round < WARM_UPS; round += 1) {
  await load(`${plainUrl}/disable`, '-', 16, 'plain');
  await load(`${edgeward.url}/api/v1/ips/disable`, edgeward.token, 16, 'disable');
}
for (const connections of [1, 16, 64]) {
  const pairs: { ours: Load; theirs: Load }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const theirs = await load(`${plainUrl}/disable`, '-', connections, 'plain');
    const ours = await load(`${edgeward.url}/api/v1/ips/disable`, edgeward.token, connections, 'disable');
    if (ours.errors + theirs.errors > 0) console.log(`errors: ours ${ours.errors}, baseline ${theirs.errors}`);
    pairs.push({ ours, theirs });
  }
  print(connections, pairs);
}

await edgeward.stop();
plain.kill('SIGTERM');
await once(plain, 'exit');
rmSync(directory, { recursive: true, force: true });

function print(connections: number, pairs: readonly { ours: Load; theirs: Load }[]): void {
  const ours = pairs.map((pair) => pair.ours);
  const theirs = pairs.map((pair) => pair.theirs);
  const ratio = (of: (figures: Load) => number): string =>
    median(pairs.map((pair) => of(pair.ours) / of(pair.theirs))).toFixed(2);
  const shown = (of: (figures: Load) => number, loads: readonly Load[]): string =>
    `${median(loads.map(of)).toFixed(2)} ms`;
  const medianRate = (loads: readonly Load[]): string =>
    `${Math.round(median(loads.map((l) => l.requestsPerSecond)))}/s`;
  const target = connections === 1 ? '' : ' (target >= 3)';
  console.log(
    `disable c=${connections} rate: ours ${medianRate(ours)}, baseline ${medianRate(theirs)}, ratio ${ratio((l) => l.requestsPerSecond)}${target}`,
  );
  if (connections === 1) {
    console.log(
      `disable c=1 p50: ours ${shown((l) => l.p50, ours)}, baseline ${shown((l) => l.p50, theirs)}, ratio ${ratio((l) => l.p50)} (target <= 1.3)`,
    );
  } else {
    console.log(
      `disable c=${connections} p99: ours ${shown((l) => l.p99, ours)}, baseline ${shown((l) => l.p99, theirs)}, ratio ${ratio((l) => l.p99)} (target <= 0.5)`,
    );
  }
}

async function load(url: string, token: string, connections: number, kind: string): Promise<Load> {
  const run = promisify(execFile);
  const args = ['--import', 'tsx', here('./load.ts'), url, token, String(connections), seconds, kind];
  const { stdout } = await run(process.execPath, args);
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== 'object' || result === null) throw new Error(`no figures in ${stdout}`);
  const figure = (name: string): number => Number(Object.entries(result).find(([key]) => key === name)?.[1]);
  return {
    requestsPerSecond: figure('requestsPerSecond'),
    p50: figure('p50'),
    p99: figure('p99'),
    errors: figure('errors'),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
