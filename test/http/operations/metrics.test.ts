import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../../src/adapters/log.ts';
import { createInstruments } from '../../../src/http/operations/instruments.ts';
import { type Collector, metricsPage, type Sample } from '../../../src/http/operations/metrics.ts';
import {
  commitSamples,
  failingSamples,
  routerSamples,
  sliceSamples,
  waitingSamples,
} from '../../../src/http/operations/router-metrics.ts';
import { pendingCollector, poolCollector } from '../../../src/http/operations/service-metrics.ts';
import { applyToLedger, EMPTY_LEDGER } from '../../../src/domain/ip-control/address-ledger.ts';
import { assigned, commitRequested, disabled } from '../../commands/ip-control/customer-examples.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { freePort } from '../../support/free-port.ts';

const ROUTER = {
  phase: 'enabled',
  drifted: [],
  unowned: 0,
  driftedAt: null,
  repairedAt: null,
  unsavedSince: null,
} as const;

const valueOf = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined =>
  samples.find((sample) => sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;

test('all that is known of a router is given, and what is not known is left out', () => {
  const router = {
    ...ROUTER,
    name: 'core1',
    phase: 'catching-up',
    drifted: ['Svc-A', 'Svc-B'],
    unowned: 3,
    driftedAt: '2026-11-27T12:00:00.500+00:00',
    unsavedSince: '2026-11-27T12:00:00.500+00:00',
  } as const;
  const regions = [{ key: '1', view: { region: 'ams', routers: [router] } }];
  const samples = routerSamples(regions, () => ({ seenAt: undefined, isReachable: false }));
  const given = Object.fromEntries(samples.map(({ name, value }) => [name.replace('edgeward_router_', ''), value]));
  assert.equal(given, {
    enabled: 0,
    reachable: 0,
    drifted_lists: 2,
    unowned_lists: 3,
    unsaved: 1,
    last_drift_timestamp_seconds: 1795780800.5,
  });
  assert.equal(samples[0]?.labels, { region: 'ams', router: 'core1' });
});

const namedOf = (phase: 'enabled' | 'disabled'): readonly string[] =>
  routerSamples([{ key: '1', view: { region: 'ams', routers: [{ ...ROUTER, name: 'core1', phase }] } }], () => ({
    seenAt: 5_000,
    isReachable: true,
  })).map(({ name }) => name);

test('pending addresses are counted exactly by region, those that a commit is taking along too', async () => {
  // A commit takes the first range along; the second was changed since.
  const events = [
    assigned(1, '192.0.2.0/24'),
    assigned(2, '2001:db8::/48'),
    disabled(['192.0.2.0-192.0.2.255']),
    commitRequested(),
    disabled(['2001:db8::-2001:db8::ff']),
  ];
  const ledger = events.reduce(applyToLedger, EMPTY_LEDGER);
  const regions = [1, 2].map((regionId) => {
    return {
      regionId,
      name: `r${regionId}`,
      deployPolicy: 'each',
      routers: [],
      createdAt: '2026-11-27T12:00:00Z',
    } as const;
  });
  const customer = { subnets: [], ledger };
  const collector = pendingCollector({ page: pageOf(customer, customer) }, { page: pageOf(...regions) });
  assert.equal(await collector.read(), [
    { name: 'edgeward_pending_addresses', labels: { region: 'r1' }, value: 1024 },
    { name: 'edgeward_pending_addresses', labels: { region: 'r2' }, value: 0 },
  ]);
});

function pageOf<V>(...views: readonly V[]) {
  return async () => views.map((view, at) => ({ key: String(at), view }));
}

test('a router that is disabled is not asked, so that nothing is said of its being reached', () => {
  for (const name of ['edgeward_router_reachable', 'edgeward_router_last_seen_timestamp_seconds']) {
    assert.ok(namedOf('enabled').includes(name));
    assert.not(namedOf('disabled').includes(name));
  }
});

test('the oldest change that is not on all routers is given for each region and list, and none as 0', () => {
  const change = { list: 'BLACKHOLE', carriedSince: null } as const;
  const changes = [
    { ...change, customerId: 7, regionId: 1, waitingSince: '2026-11-27T12:00:00.000+00:00' },
    { ...change, customerId: 8, regionId: 1, waitingSince: '2026-11-27T11:50:00.000+00:00' },
    { ...change, customerId: 8, regionId: 2, waitingSince: '2026-11-27T11:40:00.000+00:00' },
  ];
  const regions = [{ key: '1', view: { region: 'ams', routers: [] } }];
  const samples = waitingSamples(regions, changes, Date.parse('2026-11-27T12:01:00Z'));
  const name = 'edgeward_oldest_waiting_change_seconds';
  assert.equal(samples, [
    { name, labels: { region: 'ams', list: 'BLACKHOLE' }, value: 660 },
    { name, labels: { region: 'ams', list: 'SRC_WHITELIST' }, value: 0 },
  ]);
});

test('lists that a router does not take are counted, router by router, and none as 0', () => {
  const routers = ['core1', 'core2'].map((name) => ({ ...ROUTER, name }));
  const change = { list: 'BLACKHOLE', carriedSince: null, waitingSince: null } as const;
  const changes = [
    { ...change, customerId: 7, regionId: 1, failingOn: ['core2'] },
    { ...change, customerId: 8, regionId: 1, failingOn: ['core2'] },
    { ...change, customerId: 8, regionId: 2, failingOn: ['core1'] },
    { ...change, customerId: 9, regionId: 1 },
  ];
  const samples = failingSamples([{ key: '1', view: { region: 'ams', routers } }], changes);
  assert.equal(
    samples.map(({ labels, value }) => [labels['router'], value]),
    [
      ['core1', 0],
      ['core2', 2],
    ],
  );
});

test('commits are counted by region, list and how they ended; slices by what is missing', () => {
  const regions = [{ key: '1', view: { region: 'ams', routers: [] } }];
  const samples = [
    ...commitSamples(regions, [{ regionId: 1, list: 'BLACKHOLE', status: 'failed', count: 3 }]),
    ...sliceSamples(regions, [
      { regionId: 1, list: 'BLACKHOLE', missing: 400 },
      { regionId: 1, list: 'BLACKHOLE', missing: 20 },
      { regionId: 2, list: 'BLACKHOLE', missing: 7 },
    ]),
  ];
  const labels = { region: 'ams', list: 'BLACKHOLE' };
  assert.is(valueOf(samples, 'edgeward_commits_total', { ...labels, status: 'failed' }), 3);
  assert.is(valueOf(samples, 'edgeward_commits_total', { ...labels, status: 'success' }), 0);
  assert.is(valueOf(samples, 'edgeward_slices_missing_prefixes', labels), 420);
  assert.is(samples.length, 6);
});

test('a collector that fails, or does not answer, costs its own metrics and is named; labels are escaped', async () => {
  const { registry } = createInstruments({ version: '1.2.3', node: '20.19.0' });
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: (line) => lines.push(line) });
  let isAway = false;
  const sample = { name: 'edgeward_a', labels: { region: 'a"b\\' }, value: 1 };
  const collectors: readonly Collector[] = [
    { name: 'well', metrics: [{ name: 'edgeward_a', help: 'A.', labels: ['region'] }], read: () => [sample] },
    {
      name: 'store',
      metrics: [{ name: 'edgeward_b', help: 'B.' }],
      read: () => (isAway ? Promise.reject(new Error('away')) : [{ name: 'edgeward_b', labels: {}, value: 7 }]),
    },
    {
      name: 'silent',
      metrics: [{ name: 'edgeward_c', help: 'C.' }],
      read: () => (isAway ? new Promise(() => undefined) : [{ name: 'edgeward_c', labels: {}, value: 8 }]),
    },
  ];
  const page = metricsPage(registry, collectors, { clock, log });
  const first = await page();
  for (const line of [
    'edgeward_a{region="a\\"b\\\\"} 1',
    'edgeward_b 7',
    'edgeward_c 8',
    'edgeward_build_info{version="1.2.3",node="20.19.0"} 1',
  ])
    assert.ok(first.includes(`${line}\n`), line);
  isAway = true;
  const asked = page();
  await clock.advance({ seconds: 3 });
  const second = await asked;
  for (const name of ['edgeward_b', 'edgeward_c']) assert.not(new RegExp(`^${name} `, 'm').test(second), name);
  for (const [name, up] of [
    ['well', 1],
    ['store', 0],
    ['silent', 0],
  ])
    assert.ok(second.includes(`edgeward_collector_up{collector="${name}"} ${up}\n`), String(name));
  assert.is(lines.filter((line) => line.includes('metrics could not be read')).length, 2);
});

test('what alerts look for the growth of is there from the start: the first failure counts', async () => {
  const { registry, appendEnded } = createInstruments({ version: '1.2.3', node: '20.19.0' });
  const failed = 'edgeward_event_store_append_duration_seconds_count{outcome="failed"}';
  assert.match(await registry.metrics(), `${failed} 0\n`);
  appendEnded('failed', 0.1);
  assert.match(await registry.metrics(), `${failed} 1\n`);
  for (const name of ['http_rate_limited_total{kind="customer"}', 'webhook_deliveries_total{outcome="given_up"}'])
    assert.match(await registry.metrics(), `edgeward_${name} 0\n`);
});

test('a look without a difference leaves when the router was seen, and no event', async () => {
  const port = await freePort();
  const edgeward = await openEdgeward({ METRICS_PORT: String(port), DRIFT_INTERVAL: 'PT0.1S' });
  await addRegion(edgeward, 'eu-west', 2);
  await edgeward.json('router', 'disable', 'eu-west-edge2');
  const end = await edgeward.end();
  const began = Date.now() / 1000;
  await edgeward.serve();
  const seen = async (router: string): Promise<number | undefined> => {
    const text = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
    const sample = `edgeward_router_last_seen_timestamp_seconds{region="eu-west",router="${router}"} `;
    const line = text.split('\n').find((candidate) => candidate.startsWith(sample));
    return line === undefined ? undefined : Number(line.slice(sample.length));
  };
  const first = await waitUntil('the router was looked at', () => seen('eu-west-edge1'));
  assert.ok(first >= began - 1 && first <= Date.now() / 1000);
  await waitUntil('it was looked at again', async () => ((await seen('eu-west-edge1')) ?? 0) > first);
  assert.is(await seen('eu-west-edge2'), undefined);
  assert.is(await edgeward.end(), end);
  await edgeward.remove();
});

test('metrics have a port of their own, and are nowhere without one', async () => {
  const port = await freePort();
  const edgeward = await openEdgeward({ METRICS_PORT: String(port) });
  await addRegion(edgeward, 'eu-west');
  const url = await edgeward.serve();
  const metrics = await request(`http://127.0.0.1:${port}/metrics`);
  assert.is(metrics.statusCode, 200);
  assert.match(String(metrics.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const text = await metrics.body.text();
  assert.match(text, '# TYPE edgeward_router_enabled gauge');
  assert.match(text, 'edgeward_oldest_waiting_change_seconds{region="eu-west",list="BLACKHOLE"} 0');
  assert.is((await request(`http://127.0.0.1:${port}/api/v1/subnets`)).statusCode, 404);
  assert.is((await request(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).statusCode, 405);
  const elsewhere = await request(`${url}/metrics`);
  assert.is(elsewhere.statusCode, 404);
  await elsewhere.body.dump();
  await edgeward.remove();
});

const failed = (code: string) => ({ code, because: 'refused', at: '2026-11-27T10:00:00.000+00:00' });
const launchedAt = (at: string) => ({ run: 'r1', at });

test('a pool that launches nothing before an edit is told of; its launches are counted from 0 on', async () => {
  const pools = {
    fine: { failure: null, latestLaunch: null },
    waits: { failure: failed('bad-specifications'), latestLaunch: launchedAt('2026-11-27T09:00:00.000+00:00') },
    'waits-too': { failure: failed('login-refused'), latestLaunch: null },
    'tries-again': { failure: failed('no-capacity'), latestLaunch: null },
    mended: { failure: failed('login-refused'), latestLaunch: launchedAt('2026-11-27T11:00:00.000+00:00') },
  };
  const page = async () => Object.entries(pools).map(([key, view]) => ({ key, view }));
  const { registry, poolIsThere, launchEnded } = createInstruments({ version: '1', node: '22' });
  launchEnded('fine', 'created');
  const samples = await poolCollector({ page }, poolIsThere).read();
  const waiting = samples.filter(({ value }) => value === 1).map(({ labels }) => labels['pool']);
  assert.equal([samples.length, waiting], [5, ['waits', 'waits-too']]);
  const text = await registry.metrics();
  assert.match(text, 'edgeward_pool_launches_total{pool="waits",outcome="failed"} 0');
  assert.match(text, 'edgeward_pool_launches_total{pool="fine",outcome="created"} 1');
});

test.run();
