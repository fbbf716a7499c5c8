// What pages cost in a large installation, and how soon an open one shows a change.
// usage: npm run bench -- admin/pages   (BENCH_CUSTOMERS, BENCH_ROUTERS from the environment)
import { gzipSync } from 'node:zlib';
import { firstAddress, ipv4, tokenOf } from '../replay/event-log.ts';
import { openInstallation } from './installation.ts';
import { openLivePages } from './live-pages.ts';

const CUSTOMERS = Number(process.env['BENCH_CUSTOMERS'] ?? 10_000);
const ROUTERS = Number(process.env['BENCH_ROUTERS'] ?? 1_000);
const SESSIONS = 25;
const ROUNDS = 60;
const VISIBLE_ROUNDS = 8;
const LIVE_PAGES = 100;
const LOOKED_AT = ['/', '/customers', '/customers/1', '/subnets/1', '/regions/1', '/commits', '/events', '/whitelist'];
/** Changes, of so many customers in turn. */
const [CHANGES, CHANGING] = [100, 50];
const TURNS = 6;
const SETTLE_MILLISECONDS = 1_000;
const PAGES: readonly string[] =
  process.env['BENCH_LIVE_ALONE'] === 'true'
    ? []
    : [
        '/',
        '/customers',
        `/customers?after=${CUSTOMERS - 100}&sort=name`,
        '/customers/1',
        '/customers/1/subnets',
        '/subnets',
        '/subnets/1',
        '/regions/1',
        '/regions/1?sort=-router',
        '/commits',
        '/whitelist',
        '/events',
        '/accounts',
      ];

const installation = await openInstallation(CUSTOMERS, ROUTERS);
try {
  const memoryBefore = memoryOf();
  const sessions = await installation.sessions(SESSIONS);
  await firstVisit(sessions[0] ?? '');
  await eachPage(sessions);
  console.log(`memory: ${memoryBefore} MiB before the first page, ${memoryOf()} MiB after all of them`);
  await untilVisible(sessions[0] ?? '');
  await besideLivePages(sessions);
} finally {
  await installation.close();
}

/** Scripts and style of the first visit, and whether a browser asks for them again. */
async function firstVisit(cookie: string): Promise<void> {
  const { text } = await installation.send({ path: '/admin/', headers: { cookie } });
  const assets = [...text.matchAll(/(?:src|href)="(\/admin\/assets\/[^"]+\.(?:css|js))"/g)].map(
    ([, path = '']) => path,
  );
  let [bytes, kept] = [0, 0];
  for (const path of assets) {
    const answer = await installation.send({ path, headers: { cookie, 'accept-encoding': 'gzip' } });
    bytes += answer.bytes.length;
    if (String(answer.headers['cache-control']).includes('immutable')) kept += 1;
  }
  console.log(
    `style and scripts: ${assets.length} files, ${kilobytes(bytes)} by gzip (limit 30), ${kept} kept for ever`,
  );
}

/** Time to the first byte against a page of one row, and the size of each page. */
async function eachPage(sessions: readonly string[]): Promise<void> {
  const one = await timesOf('/customers?q=c9999', sessions);
  for (const path of PAGES) {
    const times = await timesOf(path, sessions);
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    const { text } = await installation.send({ path: `/admin${path}`, headers: { cookie: sessions[0] ?? '' } });
    const elements = [...text.matchAll(/<[a-z]/g)].length;
    console.log(
      `${path}: first byte p50 ${p50.toFixed(1)} ms (limit 15), p99 ${p99.toFixed(1)} ms (limit 100), ${(p50 / quantile(one, 0.5)).toFixed(2)}x a page of one row; ` +
        `${kilobytes(gzipSync(text).length)} by gzip (limit 12), ${elements} elements (limit 3000)`,
    );
  }
}

async function timesOf(path: string, sessions: readonly string[]): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = -10; round < ROUNDS; round += 1) {
    const cookie = sessions[(round + 10) % sessions.length] ?? '';
    const { milliseconds } = await installation.send({ path: `/admin${path}`, headers: { cookie } });
    if (round >= 0) times.push(milliseconds);
  }
  return times.toSorted((a, b) => a - b);
}

/** From the answer to a customer until an open overview has the part that shows it. */
async function untilVisible(cookie: string): Promise<void> {
  const pages = await openLivePages(installation, ['/'], [cookie]);
  const times: number[] = [];
  for (let round = 0; round < VISIBLE_ROUNDS; round += 1) {
    const shown = pages.nextPart('work');
    await change(round);
    const started = performance.now();
    await shown;
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  await pages.close();
  times.sort((a, b) => a - b);
  console.log(
    `a change is on an open page after p50 ${quantile(times, 0.5).toFixed(0)} ms, at most ${quantile(times, 1).toFixed(0)} ms (limit 1000)`,
  );
}

/**
 * How long a customer waits for the answer to a change while nobody looks, and while so many pages are open that each change rings. Both in turn: a
 * machine that others use as well is no calmer for one of them.
 */
async function besideLivePages(sessions: readonly string[]): Promise<void> {
  const paths = Array.from({ length: LIVE_PAGES }, (_, at) => LOOKED_AT[at % LOOKED_AT.length] ?? '/');
  const [alone, beside]: [number[], number[]] = [[], []];
  let fetched = 0;
  await changes();
  for (let turn = 0; turn < TURNS; turn += 1) {
    alone.push(...(await changes()));
    const pages = await openLivePages(installation, paths, sessions);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MILLISECONDS));
    beside.push(...(await changes()));
    fetched += pages.fetched();
    await pages.close();
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MILLISECONDS));
  }
  for (const times of [alone, beside]) times.sort((a, b) => a - b);
  const told = ([name, share]: readonly [string, number]): string => {
    const [without, withPages] = [quantile(alone, share), quantile(beside, share)];
    return `${name} ${withPages.toFixed(1)} ms against ${without.toFixed(1)}, ${(withPages / without).toFixed(2)}x`;
  };
  const shares = [['p50', 0.5] as const, ['p90', 0.9] as const, ['p99', 0.99] as const].map(told).join('; ');
  console.log(`a change beside ${LIVE_PAGES} live pages, which fetched ${fetched} parts: ${shares} (limit of p99 1.1)`);
}

/** Changes of many customers, one after the other, 50 in a second at most. */
async function changes(): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < CHANGES; at += 1) {
    times.push(await change(Math.floor(at / CHANGING), 1 + (at % CHANGING)));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return times;
}

async function change(at: number, customer = 1): Promise<number> {
  const headers = { authorization: `Bearer ${tokenOf(customer)}`, 'content-type': 'application/json' };
  const path = `/api/v1/ips/${at % 2 === 0 ? 'disable' : 'enable'}`;
  const body = JSON.stringify({ ip: ipv4(firstAddress(customer, 24) + 7) });
  const { milliseconds } = await installation.send({ method: 'POST', path, headers, body });
  return milliseconds;
}

function memoryOf(): number {
  return installation.residentMebibytes();
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}
