// A start on a server of EventStoreDB that others have written to, millions of records that were looked through before, against a start on a
// server that is ours alone: the whole program, from the start of its process until it is ready. The stand-in scans as fast as a real
// server was seen to, 400,000 records a second; what the first look through them all takes is told, too.
// usage: node --import tsx bench/stores/shared-server.bench.ts   (ROUNDS, BENCH_RECORDS: how many are others')
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, ready } from '../http/edgeward.ts';
import { median, pairedRoundsAsync, reportShare } from '../measure.ts';

const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 10_000_000);
const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
/** How long how far the log was looked through may be unsaved. */
const SAVED_MILLISECONDS = 4_000;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-shared-server-'));
const own = await installation('own', 0);
const shared = await installation('shared', RECORDS);

const begun = performance.now();
await shared.start(SAVED_MILLISECONDS);
const seconds = ((performance.now() - begun - SAVED_MILLISECONDS) / 1000).toFixed(1);
const first = await shared.lookedThrough();
console.log(`the first start after ${RECORDS} records of others: ${first} looked through, ready after ${seconds} s`);
await own.start(SAVED_MILLISECONDS);
const perStart: number[] = [];
const ours = async (): Promise<void> => {
  const before = await shared.lookedThrough();
  await shared.start();
  perStart.push((await shared.lookedThrough()) - before);
};
const paired = await pairedRoundsAsync({ ours, baseline: () => own.start() }, { rounds: 5 });
reportShare(`a start after ${RECORDS} records of others that were looked through before`, paired);
const more = Math.round(paired.ours - paired.baseline);
console.log(`it is ${more} ms later ready than on a server of our own (target at most 1000 ms later)`);
console.log(`each of these starts had ${Math.round(median(perStart))} of them looked through again`);
for (const { standIn } of [own, shared]) standIn.disconnect();
rmSync(directory, { recursive: true, force: true });

type Installation = Readonly<{
  standIn: ChildProcess;
  /** Starts the program, waits until it is ready and so long, and stops it. */
  start: (waitsMilliseconds?: number) => Promise<void>;
  /** How many records of others all starts together had looked through. */
  lookedThrough: () => Promise<number>;
}>;

/** A log of a region and a customer, with so many records of others behind it. */
async function installation(name: string, records: number): Promise<Installation> {
  const path = new URL('shared-stand-in-process.ts', import.meta.url).pathname;
  const execute = ['--max-old-space-size=12000', '--import', 'tsx', path];
  const standIn = spawn(process.execPath, execute, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  if (standIn.stdout === null) throw new Error('it says nothing');
  const [port] = await once(standIn.stdout, 'data');
  const env = {
    ...process.env,
    DATA_DIR: join(directory, name),
    EVENT_STORE_URL: `esdb://127.0.0.1:${Number(String(port))}?tls=false`,
  };
  for (const args of [['init'], ['region', 'create', 'bench'], ['customer', 'create', 'bench']])
    execFileSync(process.execPath, [MAIN, ...args], { env, stdio: 'ignore' });
  const written = async (count: number): Promise<number> => {
    standIn.send(count);
    const [lookedThrough] = await once(standIn, 'message');
    return Number(lookedThrough);
  };
  await written(records);
  const lookedThrough = () => written(0);
  return { standIn, lookedThrough, start: (waitsMilliseconds = 0) => startOnce(env, waitsMilliseconds) };
}

async function startOnce(env: NodeJS.ProcessEnv, waitsMilliseconds: number): Promise<void> {
  const port = String(await freePort());
  const child = spawn(process.execPath, [MAIN, 'serve'], { env: { ...env, PORT: port }, stdio: 'ignore' });
  await ready(`http://127.0.0.1:${port}`);
  await new Promise((resolve) => setTimeout(resolve, waitsMilliseconds));
  // Killed: nothing is saved at its end that was not saved before.
  child.kill('SIGKILL');
  await once(child, 'exit');
}
