// A real server in a throw-away data directory, set up through the command line.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

export type Edgeward = {
  url: string;
  token: string;
  directory: string;
  child: ChildProcess;
  command: (...args: string[]) => unknown;
  stop: () => Promise<void>;
};

/** Starts `edgeward serve` with one customer that owns the given subnets. */
export async function startEdgeward(
  subnets: readonly string[],
  environment: Record<string, string> = {},
): Promise<Edgeward> {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-bench-'));
  const env = {
    ...process.env,
    DATA_DIR: join(directory, 'data'),
    PORT: String(await freePort()),
    QUIET_PERIOD: 'PT1H',
    ...environment,
  };
  const command = (...args: string[]): unknown =>
    JSON.parse(execFileSync(process.execPath, [MAIN, ...args, '--json'], { env, encoding: 'utf8' }));
  command('init');
  command('region', 'create', 'bench');
  command(
    'customer',
    'create',
    'bench',
    '--rate-limit',
    '100000000',
    '--prefix-limit',
    '10000000',
    '--allow-synchronous',
  );
  for (const cidr of subnets)
    command('subnet', 'add', 'bench', cidr, '--region', 'bench', '--asn', '64500', '--metro', 'x');
  const issued = command('token', 'create', 'bench');
  const token = typeof issued === 'object' && issued !== null && 'token' in issued ? String(issued.token) : '';
  const url = `http://127.0.0.1:${env.PORT}`;
  const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await ready(url);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  };
  return { url, token, directory, child, command, stop };
}

/** Waits until the server says that it is ready. */
export async function ready(url: string): Promise<void> {
  for (const until = performance.now() + 60_000; performance.now() < until;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${url} is not ready after 60 s`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
