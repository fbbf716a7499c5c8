import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commitsText, failingText, metricsText, waitingText } from '../../../src/http/operations/metrics.ts';
import { addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { freePort } from '../../support/free-port.ts';

test('each gauge is named, explained and given for every router that has one; labels are escaped', () => {
  const router = {
    name: 'core"1\\',
    phase: 'catching-up',
    drifted: ['Svc-A', 'Svc-B'],
    unowned: 3,
    driftedAt: '2026-11-27T12:00:00.500+00:00',
    repairedAt: null,
    unsavedSince: '2026-11-27T12:00:00.500+00:00',
  } as const;
  const lines = metricsText([{ region: 'ams', routers: [router] }]).split('\n');
  const labels = '{region="ams",router="core\\"1\\\\"}';
  for (const line of [
    '# TYPE edgeward_router_drifted_lists gauge',
    `edgeward_router_enabled${labels} 0`,
    `edgeward_router_drifted_lists${labels} 2`,
    `edgeward_router_unowned_lists${labels} 3`,
    `edgeward_router_unsaved${labels} 1`,
    `edgeward_router_last_drift_timestamp_seconds${labels} 1795780800.5`,
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.not(lines.some((line) => line.startsWith('edgeward_router_last_repair_timestamp_seconds{')));
});

test('the oldest change that is not on all routers is given for each region and list, and none as 0', () => {
  const change = { list: 'BLACKHOLE', carriedSince: null } as const;
  const changes = [
    { ...change, customerId: 7, regionId: 1, waitingSince: '2026-11-27T12:00:00.000+00:00' },
    { ...change, customerId: 8, regionId: 1, waitingSince: '2026-11-27T11:50:00.000+00:00' },
    { ...change, customerId: 8, regionId: 2, waitingSince: '2026-11-27T11:40:00.000+00:00' },
  ];
  const lines = waitingText(new Map([[1, 'ams']]), changes, Date.parse('2026-11-27T12:01:00Z')).split('\n');
  assert.equal(lines.slice(1), [
    '# TYPE edgeward_oldest_waiting_change_seconds gauge',
    'edgeward_oldest_waiting_change_seconds{region="ams",list="BLACKHOLE"} 660',
    'edgeward_oldest_waiting_change_seconds{region="ams",list="SRC_WHITELIST"} 0',
    '',
  ]);
});

test('lists that a router does not take are counted, router by router, and none as 0', () => {
  const router = {
    phase: 'enabled',
    drifted: [],
    unowned: 0,
    driftedAt: null,
    repairedAt: null,
    unsavedSince: null,
  } as const;
  const routers = ['core1', 'core2'].map((name) => ({ ...router, name }));
  const change = { list: 'BLACKHOLE', carriedSince: null, waitingSince: null } as const;
  const changes = [
    { ...change, customerId: 7, regionId: 1, failingOn: ['core2'] },
    { ...change, customerId: 8, regionId: 1, failingOn: ['core2'] },
    { ...change, customerId: 8, regionId: 2, failingOn: ['core1'] },
    { ...change, customerId: 9, regionId: 1 },
  ];
  assert.equal(
    failingText([{ key: '1', view: { region: 'ams', routers } }], changes)
      .split('\n')
      .slice(1),
    [
      '# TYPE edgeward_router_failing_lists gauge',
      'edgeward_router_failing_lists{region="ams",router="core1"} 0',
      'edgeward_router_failing_lists{region="ams",router="core2"} 2',
      '',
    ],
  );
});

test('commits are counted by region, list and how they ended', () => {
  const ended = [{ regionId: 1, list: 'BLACKHOLE', status: 'failed', count: 3 }] as const;
  assert.equal(
    commitsText(new Map([[1, 'ams']]), ended)
      .split('\n')
      .slice(1),
    [
      '# TYPE edgeward_commits_total counter',
      'edgeward_commits_total{region="ams",list="BLACKHOLE",status="success"} 0',
      'edgeward_commits_total{region="ams",list="BLACKHOLE",status="failed"} 3',
      'edgeward_commits_total{region="ams",list="SRC_WHITELIST",status="success"} 0',
      'edgeward_commits_total{region="ams",list="SRC_WHITELIST",status="failed"} 0',
      '',
    ],
  );
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

test.run();
