import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { createLog } from '../adapters/log.ts';
import { type ProgramTools, runProgram } from '../cli/program.ts';
import { readConfig } from '../config.ts';
import { commandArchive } from './command-archive.ts';
import { ROUTER_DRIVERS } from '../adapters/routers/open-router.ts';
import { CLOUD_DRIVERS } from '../adapters/clouds/open-cloud.ts';
import { commandApplication } from './application.ts';
import { backUpEnds } from './back-up-ends.ts';
import { explainFailure } from './explain-failure.ts';
import { type RunningServer, startServer } from './server.ts';
import { grantReading, initDataDirectory } from './stores.ts';

const DEMO_SECONDS_MAX = 60;

/** What the demo needs from its caller: where to print, and how long to stay. */
export type DemoOptions = Readonly<{ exit: boolean; write: (text: string) => void; stopped: AbortSignal }>;

/** The main job end to end on the embedded default, in a throw-away data directory, with a quiet period of two seconds. */
export async function demo({ exit, write, stopped }: DemoOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-demo-'));
  const received = await openReceiver();
  let server: RunningServer | undefined;
  try {
    const config = readConfig({
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      QUIET_PERIOD: 'PT2S',
      SCHEDULER_INTERVAL: 'PT0.5S',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'warn',
    });
    const log = createLog({ level: config.logLevel, destination: 'stderr' });
    server = await startServer(config, log);
    write(`edgeward serves ${server.url} from ${directory}\n`);
    const tools = {
      withApplication: commandApplication(() => config, log),
      withArchive: commandArchive(() => config, log),
      storeEnds: backUpEnds(() => config, log),
      grantReading,
      init: () => initDataDirectory(config, log),
    };
    const command = commandRunner(tools, write);
    const { password } = await command('admin', 'create', 'ada');
    const token = await prepare(command, directory, received.url);
    await playThrough(server.url, token, directory, received, write);
    if (exit) return;
    write(farewell(server.url, token, String(password)));
    if (!stopped.aborted) await Promise.race([once(stopped, 'abort'), server.ended]);
  } finally {
    await server?.stop();
    received.server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

type RunCommand = (...args: readonly string[]) => Promise<Readonly<Record<string, unknown>>>;

/** Runs commands as a shell would, shows them, and gives back what they print as JSON. */
function commandRunner(
  tools: Pick<ProgramTools, 'withApplication' | 'withArchive' | 'storeEnds' | 'grantReading' | 'init'>,
  write: (text: string) => void,
): RunCommand {
  return async (...args) => {
    write(`\n$ edgeward ${args.map((arg) => (/\s/.test(arg) ? `'${arg}'` : arg)).join(' ')}\n`);
    let printed = '';
    const exitCode = await runProgram([...args, '--json'], {
      version: '',
      ...tools,
      write: (text) => void (printed += text),
      writeError: write,
      serve: unused,
      demo: unused,
      doctor: () => Promise.resolve([]),
      cloudDrivers: CLOUD_DRIVERS,
      routerDrivers: ROUTER_DRIVERS,
      explain: explainFailure,
    });
    if (exitCode !== 0) throw new Error(`edgeward ${args.join(' ')} ended with ${exitCode}`);
    write(printed);
    const result: unknown = JSON.parse(printed);
    return typeof result === 'object' && result !== null ? { ...result } : {};
  };
}

async function unused(): Promise<void> {}

/** A region, a router, a customer, an IPv4 and an IPv6 subnet, a token. */
async function prepare(command: RunCommand, directory: string, webhookUrl: string): Promise<string> {
  await command('region', 'create', 'eu-west');
  await command(
    'router',
    'add',
    'eu-west',
    'edge1',
    '--driver',
    'file',
    '--option',
    `path=${join(directory, 'edge1')}`,
  );
  await command('customer', 'create', 'Acme Corp.', '--webhook-url', webhookUrl);
  await command(
    'subnet',
    'add',
    'Acme Corp.',
    '203.0.113.0/24',
    '--region',
    'eu-west',
    '--asn',
    '64500',
    '--metro',
    'ams',
  );
  await command(
    'subnet',
    'add',
    'Acme Corp.',
    '2001:db8:7::/48',
    '--region',
    'eu-west',
    '--asn',
    '64500',
    '--metro',
    'ams',
  );
  const { token } = await command('token', 'create', 'Acme Corp.', '--label', 'demo');
  return String(token);
}

async function playThrough(
  url: string,
  token: string,
  directory: string,
  received: Receiver,
  write: (text: string) => void,
): Promise<void> {
  await untilKnown(url, token);
  const api = apiClient(url, token, write);
  await api('POST', '/ips/disable', { ip: '203.0.113.7' });
  await api('POST', '/ips/bulk', { action: 'disable', range: { start: '203.0.113.8', end: '203.0.113.15' } });
  await api('POST', '/ips/bulk', { action: 'disable', cidr: '2001:db8:7:ff00::/56' });
  await api('GET', '/subnets/1/pending?view=ranges');
  write('\n… waiting until the customer has been quiet for 2 s (PT2M outside the demo)\n');
  const notification = await within(DEMO_SECONDS_MAX, received.first, 'no webhook came');
  const list = join(directory, 'edge1', 'Svc-ACME-CORP-BLACKHOLE');
  write(`\nthe prefix-list as the router has it (${list}):\n${readFileSync(list, 'utf8')}`);
  write(`\nthe webhook as it was received:\n${notification}\n`);
  const pending = await api('GET', '/subnets/1/pending');
  if (!pending.includes('"pending_changes":0')) throw new Error('addresses are still pending after the commit');
}

async function within<T>(seconds: number, wanted: Promise<T>, problem: string): Promise<T> {
  const done = new AbortController();
  const timeUp = systemClock
    .wait(seconds * 1000, done.signal)
    .then(() => Promise.reject(new Error(`${problem} within ${seconds} s`)));
  try {
    return await Promise.race([wanted, timeUp]);
  } finally {
    done.abort();
    await timeUp.catch(() => undefined);
  }
}

/** What a command changes reaches a running server within a second. */
async function untilKnown(url: string, token: string): Promise<void> {
  for (let tries = 0; tries < DEMO_SECONDS_MAX * 10; tries += 1) {
    const { ok } = await fetch(`${url}/api/v1/subnets`, { headers: { authorization: `Bearer ${token}` } });
    if (ok) return;
    await systemClock.wait(100);
  }
  throw new Error('the server does not know the token');
}

type Api = (method: string, path: string, body?: object) => Promise<string>;

function apiClient(url: string, token: string, write: (text: string) => void): Api {
  return async (method, path, body) => {
    const json = body === undefined ? undefined : JSON.stringify(body);
    write(`\n$ ${curl(url, token, method, path, json)}\n`);
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: json }),
    });
    const text = await response.text();
    write(`${text}\n`);
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    return text;
  };
}

function curl(url: string, token: string, method: string, path: string, json?: string): string {
  const data = json === undefined ? '' : ` -H 'Content-Type: application/json' -d '${json}'`;
  const verb = method === 'GET' || json !== undefined ? '' : ` -X ${method}`;
  return `curl -s${verb} -H 'Authorization: Bearer ${token}'${data} '${url}/api/v1${path}'`;
}

function farewell(url: string, token: string, password: string): string {
  return [
    '\nedgeward stays up; Ctrl-C ends it and removes its data. Go on with:\n',
    curl(url, token, 'GET', '/subnets'),
    curl(url, token, 'POST', '/ips/enable', JSON.stringify({ ip: '203.0.113.7' })),
    curl(url, token, 'GET', '/subnets/1?view=ranges'),
    `\nThe pages for administrators: ${url}/admin/ (name: ada, password: ${password})`,
    '',
  ].join('\n');
}

type Receiver = Readonly<{ server: Server; url: string; first: Promise<string> }>;

/** A customer's webhook receiver: the first notification, with its signature headers. */
async function openReceiver(): Promise<Receiver> {
  const server = createServer();
  const first = new Promise<string>((resolve) => {
    server.on('request', (request, response) => resolve(shownRequest(request, response)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, url: `http://127.0.0.1:${port}/edgeward`, first };
}

async function shownRequest(request: IncomingMessage, response: ServerResponse): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  response.writeHead(204).end();
  const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return [...signed.map((name) => `${name}: ${String(request.headers[name])}`), '', body].join('\n');
}
