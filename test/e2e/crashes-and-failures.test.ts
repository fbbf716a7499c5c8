// Many customers change addresses at random over HTTP while routers fail and the server is killed; in the end every router holds
// what a naive model says, nothing answered is lost, and every completed commit was told.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { killed } from '../support/servers/bound-process.ts';
import { freePort } from '../support/free-port.ts';
import { randomFrom } from '../support/random.ts';
import { repositoryFile } from '../support/repository.ts';

const ROUNDS = Number(process.env['E2E_ROUNDS'] ?? 4);
const OPERATIONS_PER_ROUND = 60;
const CUSTOMERS = 4;
const REFUSALS_MAX = 2;
const MAIN = repositoryFile('dist/main.js');
const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);

type Customer = {
  name: string;
  token: string;
  /** Every address of its subnets, in order, by region. */
  addresses: Map<string, readonly string[]>;
  disabled: Set<string>;
  /** Asked for without having been answered: either is right. */
  uncertain: Set<string>;
};

test(`random changes, failing routers, kill -9 (seed ${SEED})`, async () => {
  const random = randomFrom(SEED);
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-e2e-'));
  const receiver = await openReceiver();
  const port = await freePort();
  const env = {
    ...process.env,
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    QUIET_PERIOD: 'PT0.3S',
    SCHEDULER_INTERVAL: 'PT0.1S',
    COMMIT_RETRY_DELAYS: 'PT0.3S,PT0.5S',
    WEBHOOK_RETRY_DELAY: 'PT0.2S',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'error',
  };
  const command = (...args: string[]): unknown =>
    JSON.parse(execFileSync(process.execPath, [MAIN, ...args, '--json'], { env, encoding: 'utf8' }));
  const routers = new Map<string, readonly string[]>();
  let server: ChildProcess | undefined;
  try {
    command('init');
    for (const region of ['north', 'south']) {
      command('region', 'create', region);
      const paths = ['a', 'b'].map((router) => join(directory, 'routers', `${region}-${router}`));
      routers.set(region, paths);
      for (const path of paths) {
        mkdirSync(path, { recursive: true });
        command('router', 'add', region, `${region}-${path.at(-1)}`, '--driver', 'file', '--option', `path=${path}`);
      }
    }
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => makeCustomer(index, command, receiver.url));
    const base = `http://127.0.0.1:${port}`;
    for (let round = 0; round < ROUNDS; round += 1) {
      server = await start(env, base);
      const breaking = breakRouters([...routers.values()].flat(), random);
      await Promise.all(
        customers.map(async (customer) => {
          for (let n = 0; n < OPERATIONS_PER_ROUND / CUSTOMERS; n += 1) await operate(customer, base, random, () => n);
        }),
      );
      // Some changes are under way when the server dies.
      const last = Promise.all(customers.map((customer) => operate(customer, base, random, () => 0)));
      await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * 400)));
      server.kill('SIGKILL');
      await once(server, 'exit');
      await last;
      breaking.mend();
    }
    server = await start(env, base);
    for (const customer of customers) await settle(customer, base);
    checkRouters(customers, routers);
    await checkCommitsAndWebhooks(command, receiver);
    const verified = z.object({ ok: z.boolean(), problems: z.array(z.string()) }).parse(command('verify'));
    assert.equal(verified.problems, []);
    server.kill('SIGTERM');
    const [code] = await once(server, 'exit');
    assert.is(code, 0);
  } finally {
    if (server !== undefined) await killed(server);
    receiver.server.closeAllConnections();
    receiver.server.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

function makeCustomer(index: number, command: (...args: string[]) => unknown, webhook: string): Customer {
  const name = `customer ${index}`;
  command('customer', 'create', name, '--allow-synchronous', '--rate-limit', '1000000', '--webhook-url', webhook);
  const addresses = new Map<string, readonly string[]>();
  for (const [region, block] of [
    ['north', 0],
    ['south', 1],
  ] as const) {
    const [v4, v6] = [`192.0.${index * 2 + block}.0/27`, `2001:db8:${index}:${block}::/123`];
    command('subnet', 'add', name, v4, '--region', region, '--asn', '64500', '--metro', 'x');
    command('subnet', 'add', name, v6, '--region', region, '--asn', '64500', '--metro', 'x');
    const hosts = Array.from({ length: 32 }, (_, host) => host);
    addresses.set(region, [
      ...hosts.map((host) => `192.0.${index * 2 + block}.${host}`),
      ...hosts.map((host) => canonicalIpv6(index, block, host)),
    ]);
  }
  const { token } = z.object({ token: z.string() }).parse(command('token', 'create', name));
  return { name, token, addresses, disabled: new Set(), uncertain: new Set() };
}

/** RFC 5952 by hand: the longest run of zero groups is compressed, the first one of equals. */
function canonicalIpv6(index: number, block: number, host: number): string {
  const last = host === 0 ? '' : host.toString(16);
  if (index === 0 && block === 0) return `2001:db8::${last}`;
  const groups = block === 0 ? `2001:db8:${index}::` : `2001:db8:${index}:${block}::`;
  return `${groups}${last}`;
}

async function start(env: NodeJS.ProcessEnv, base: string): Promise<ChildProcess> {
  const server = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await eventually(
    'the server is ready',
    async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.ok === true,
  );
  return server;
}

/** One random call, and what it means for the model. */
async function operate(customer: Customer, base: string, random: () => number, turn: () => number): Promise<void> {
  const action = random() < 0.6 ? 'disable' : 'enable';
  const region = random() < 0.5 ? 'north' : 'south';
  const all = customer.addresses.get(region) ?? [];
  const half = all.length / 2;
  const from = Math.floor(random() * half) + (random() < 0.5 ? 0 : half);
  const to = Math.min(from + Math.floor(random() * 8), from < half ? half - 1 : all.length - 1);
  const targets = all.slice(from, to + 1);
  const synchronous = random() < 0.1 && turn() > 0;
  const kind = Math.floor(random() * 3);
  const body =
    kind === 0
      ? { ip: targets[0], synchronous }
      : kind === 1
        ? { action, synchronous, ips: targets }
        : { action, synchronous, range: { start: targets[0], end: targets.at(-1) } };
  const changed = kind === 0 ? targets.slice(0, 1) : targets;
  const response = await fetch(`${base}/api/v1/ips/${kind === 0 ? action : 'bulk'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  const answered = response === undefined ? undefined : await response.text().catch(() => undefined);
  if (response === undefined || answered === undefined) {
    for (const address of changed) customer.uncertain.add(address);
    return;
  }
  assert.is(response.status, 200, answered);
  for (const address of changed) {
    customer.uncertain.delete(address);
    if (action === 'disable') customer.disabled.add(address);
    else customer.disabled.delete(address);
  }
}

const subnetList = z.object({
  data: z.array(z.object({ id: z.number(), ip_counts: z.object({ pending: z.number() }) })),
});
const subnetDetail = z.object({
  data: z.object({ ips: z.array(z.object({ address: z.string(), status: z.string() })) }),
});

/** Waits until nothing is pending, and compares what the API says with the model. */
async function settle(customer: Customer, base: string): Promise<void> {
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${base}/api/v1${path}`, { headers: { authorization: `Bearer ${customer.token}` } })).json();
  await eventually(`${customer.name} has nothing pending`, async () =>
    subnetList.parse(await get('/subnets')).data.every((subnet) => subnet.ip_counts.pending === 0),
  );
  for (const { id } of subnetList.parse(await get('/subnets')).data) {
    for (const { address, status } of subnetDetail.parse(await get(`/subnets/${id}`)).data.ips) {
      if (customer.uncertain.has(address)) {
        if (status === 'disabled') customer.disabled.add(address);
        else customer.disabled.delete(address);
      }
      assert.is(status, customer.disabled.has(address) ? 'disabled' : 'enabled', `${customer.name} ${address}`);
    }
  }
}

/** Spells every list out address by address: the model knows nothing of aggregation. */
function checkRouters(customers: readonly Customer[], routers: ReadonlyMap<string, readonly string[]>): void {
  for (const customer of customers) {
    for (const [region, paths] of routers) {
      const wanted = (customer.addresses.get(region) ?? []).filter((address) => customer.disabled.has(address));
      for (const path of paths) {
        const file = join(path, `Svc-${customer.name.toUpperCase().replace(' ', '-')}-BLACKHOLE`);
        const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
        const held = (customer.addresses.get(region) ?? []).filter((address) =>
          lines.some((cidr) => covers(cidr, address)),
        );
        assert.equal(held, wanted, file);
        const size = lines.reduce(
          (sum, cidr) => sum + 2 ** ((cidr.includes(':') ? 128 : 32) - Number(cidr.split('/')[1])),
          0,
        );
        assert.is(size, wanted.length, `${file} covers nothing else`);
      }
    }
  }
}

/** Blocks of the model are inside one /27 or /123, so the last five bits decide. */
function covers(cidr: string, address: string): boolean {
  const [network = '', length = ''] = cidr.split('/');
  const isIpv6 = network.includes(':');
  if (isIpv6 !== address.includes(':')) return false;
  const prefixOf = (text: string): string => text.slice(0, isIpv6 ? text.lastIndexOf(':') : text.lastIndexOf('.'));
  const hostOf = (text: string): number =>
    isIpv6
      ? Number.parseInt(text.slice(text.lastIndexOf(':') + 1) || '0', 16)
      : Number(text.slice(text.lastIndexOf('.') + 1));
  const size = 2 ** ((isIpv6 ? 128 : 32) - Number(length));
  const first = hostOf(network);
  return prefixOf(network) === prefixOf(address) && hostOf(address) >= first && hostOf(address) < first + size;
}

const commits = z.array(z.object({ id: z.string(), status: z.string() }));

async function checkCommitsAndWebhooks(command: (...args: string[]) => unknown, receiver: Receiver): Promise<void> {
  const completed = commits.parse(command('commit', 'list')).filter(({ status }) => status === 'success');
  assert.ok(completed.length > 0);
  await eventually('every completed commit was told', async () =>
    completed.every(({ id }) =>
      receiver.received.some((hook) => hook.commit_set_id === id && hook.status === 'success'),
    ),
  );
  for (const { commit_set_id: id } of receiver.received) {
    const statuses = receiver.received.filter((hook) => hook.commit_set_id === id).map(({ status }) => status);
    const order = statuses.filter((status, at) => status !== statuses[at - 1]);
    assert.ok(['failed', 'failed,success', 'success'].includes(order.join()), `${id}: ${order.join()}`);
  }
}

/** A router whose folder is a file for a while takes nothing. */
function breakRouters(paths: readonly string[], random: () => number): { mend: () => void } {
  const broken = paths.filter(() => random() < 0.3);
  const kept = broken.map((path) => ({ path, aside: `${path}.aside` }));
  for (const { path, aside } of kept) {
    execFileSync('mv', [path, aside]);
    writeFileSync(path, '');
  }
  return {
    mend: () => {
      for (const { path, aside } of kept) {
        if (statSync(path).isFile()) unlinkSync(path);
        execFileSync('mv', [aside, path]);
      }
    },
  };
}

type Hook = z.infer<typeof hook>;
const hook = z.strictObject({
  event: z.literal('commit_completed'),
  commit_set_id: z.uuid(),
  customer: z.string(),
  prefix_list_name: z.string(),
  region: z.string(),
  status: z.enum(['success', 'failed']),
  completed_at: z.string(),
});

type Receiver = { server: Server; url: string; received: Hook[] };

/** Refuses every third delivery, so that retries are part of the game; none so often that it would be given up. */
async function openReceiver(): Promise<Receiver> {
  const received: Hook[] = [];
  let count = 0;
  const refusals = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      count += 1;
      const refused = refusals.get(body) ?? 0;
      if (count % 3 === 0 && refused < REFUSALS_MAX) {
        refusals.set(body, refused + 1);
        response.writeHead(503).end();
        return;
      }
      received.push(hook.parse(JSON.parse(body)));
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    server,
    received,
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/hook`,
  };
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const until = performance.now() + 60_000; performance.now() < until;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within 60 s: ${what}`);
}

test.run();
