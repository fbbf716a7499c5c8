// A page of 100 customers among 10,000 costs what its rows cost, and takes nothing from the customers' requests beside it.
import { Client } from 'undici';
import { startEdgeward } from '../http/edgeward.ts';

const CUSTOMERS = Number(process.env['BENCH_CUSTOMERS'] ?? 10_000);
const ROUNDS = 100;
/** Each token has 600 requests a minute. */
const REQUESTS_OF_TOKEN = 500;

const edgeward = await startEdgeward(['10.0.0.0/16']);
edgeward.command('admin', 'create', 'bench');
const tokens: string[] = [];
for (let at = 0; at * REQUESTS_OF_TOKEN < CUSTOMERS + 4 * ROUNDS; at += 1) tokens.push(tokenOf('read,customers:write'));
let asked = 0;
const client = new Client(edgeward.url, { pipelining: 1 });

for (let at = 1; at <= CUSTOMERS; at += 1) await administer('PUT', `/customers/customer-${at}`, '{}');

const one = await rounds(() => administer('GET', '/customers?limit=1'));
const page = await rounds(() => administer('GET', '/customers?limit=100'));
const last = await rounds(() => administer('GET', `/customers?limit=100&after=${CUSTOMERS - 100}`));
print(`100 of ${CUSTOMERS} customers, the first page`, page, one);
print(`100 of ${CUSTOMERS} customers, the last page`, last, page);

const alone = await rounds((at) => disable(at));
const over = new AbortController();
const beside = (async () => {
  while (!over.signal.aborted) {
    await administer('GET', '/customers?limit=100', undefined, 100_000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
})();
const together = await rounds((at) => disable(at));
over.abort();
await beside;
print("a customer's change beside lists, 100 a second", together, alone);

await client.close();
await edgeward.stop();

function tokenOf(scopes: string): string {
  const issued = edgeward.command('admin', 'token', 'create', 'bench', '--scopes', scopes);
  return typeof issued === 'object' && issued !== null && 'token' in issued ? String(issued.token) : '';
}

async function administer(method: 'GET' | 'PUT', path: string, body?: string, from = 0): Promise<number> {
  asked += 1;
  const token = tokens[Math.floor((from + asked) / REQUESTS_OF_TOKEN) % tokens.length] ?? '';
  return ask(method, `/api/admin/v1${path}`, token, body);
}

function disable(at: number): Promise<number> {
  const action = at % 2 === 0 ? 'disable' : 'enable';
  return ask('POST', `/api/v1/ips/${action}`, edgeward.token, '{"ip":"10.0.0.1"}');
}

/** Milliseconds to the first byte of an answer. */
async function ask(method: 'GET' | 'PUT' | 'POST', path: string, token: string, body?: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const started = performance.now();
  const answer = await client.request({ path, method, headers, ...(body === undefined ? {} : { body }) });
  const took = performance.now() - started;
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}`);
  return took;
}

async function rounds(call: (at: number) => Promise<number>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < ROUNDS; at += 1) times.push(await call(at));
  return times.slice(ROUNDS / 10).toSorted((a, b) => a - b);
}

function print(what: string, ours: readonly number[], baseline: readonly number[]): void {
  for (const share of [0.5, 0.99]) {
    const [mine, theirs] = [quantile(ours, share), quantile(baseline, share)];
    console.log(
      `${what}, p${share * 100}: ${mine.toFixed(2)} ms, baseline ${theirs.toFixed(2)} ms, ratio ${(mine / theirs).toFixed(2)}`,
    );
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
