// A bulk change costs what its ranges cost, not what its addresses cost.
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { Client } from 'undici';
import { startEdgeward } from './edgeward.ts';

const ROUNDS = 200;
const edgeward = await startEdgeward(['10.0.0.0/16', '2001:db8::/48', '10.1.0.0/16']);
const client = new Client(edgeward.url);
const log = openSqlite(join(edgeward.directory, 'data', 'events.db'), { readonly: true });

const single = await cost((action) => ({ path: `/ips/${action}`, body: { ip: '10.1.0.1' } }));
const cases: [string, (action: string) => Call][] = [
  ['/16 as CIDR', (action) => bulk(action, { cidr: '10.0.0.0/16' })],
  ['/16 as range', (action) => bulk(action, { range: { start: '10.0.0.0', end: '10.0.255.255' } })],
  ['/48 as CIDR', (action) => bulk(action, { cidr: '2001:db8::/48' })],
  [
    '/48 as range',
    (action) => bulk(action, { range: { start: '2001:db8::', end: '2001:db8:0:ffff:ffff:ffff:ffff:ffff' } }),
  ],
];
for (const [name, call] of cases) {
  const bulkCost = await cost(call);
  print(`bulk ${name} time`, bulkCost.milliseconds, single.milliseconds, 'ms', 1.2);
  print(`bulk ${name} stored`, bulkCost.bytes, single.bytes, 'bytes', 1.2);
}
for (const [name, step] of [
  ['neighbours', 1],
  ['scattered, no two neighbours', 6],
] as const) {
  const ips = Array.from({ length: 10_000 }, (_, at) => `10.0.${(at * step) >> 8}.${(at * step) & 255}`);
  const listed = await cost((action) => bulk(action, { ips }), 20);
  const text = JSON.stringify({ action: 'disable', ips });
  const parse = median(Array.from({ length: 100 }, () => timed(() => JSON.parse(text))));
  print(`bulk 10,000 listed addresses of a /16 (${name}) against JSON.parse`, listed.milliseconds, parse, 'ms', 6);
}
log.close();
await client.close();
await edgeward.stop();

type Call = { path: string; body: object };

function bulk(action: string, mode: object): Call {
  return { path: '/ips/bulk', body: { action, ...mode } };
}

/** The median time of one call, disabling and enabling in turn, and the bytes that it adds to the store's files. */
async function cost(call: (action: string) => Call, rounds = ROUNDS): Promise<{ milliseconds: number; bytes: number }> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { path, body } = call(round % 2 === 0 ? 'disable' : 'enable');
    const text = JSON.stringify(body);
    const started = performance.now();
    const answer = await client.request({
      path: `/api/v1${path}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${edgeward.token}` },
      body: text,
    });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
    if (round >= rounds / 10) times.push(performance.now() - started);
  }
  const before = storedBytes();
  for (const action of ['disable', 'enable']) {
    const { path, body } = call(action);
    const answer = await client.request({
      path: `/api/v1${path}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${edgeward.token}` },
      body: JSON.stringify(body),
    });
    await answer.body.dump();
  }
  return { milliseconds: median(times), bytes: storedBytes() - before };
}

/** What the events take in the log, the columns of all of them together. */
function storedBytes(): number {
  const columns = log
    .prepare<[], { name: string }>("SELECT name FROM pragma_table_info('events')")
    .all()
    .map(({ name }) => `length(CAST(${name} AS BLOB))`);
  return Number(
    log
      .prepare(`SELECT sum(${columns.join(' + ')}) FROM events`)
      .pluck()
      .get(),
  );
}

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(name: string, ours: number, baseline: number, unit: string, target: number): void {
  const figure = (value: number): string => `${value.toFixed(unit === 'ms' ? 3 : 0)} ${unit}`;
  console.log(
    `${name}: ours ${figure(ours)}, baseline ${figure(baseline)}, ratio ${(ours / baseline).toFixed(2)} (target <= ${target})`,
  );
}
