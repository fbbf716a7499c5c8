// What operators see of a list that comes slowly, and of one that a router does not take.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/adapters/log.ts';
import { readConfig } from '../../src/config.ts';
import { commandApplication } from '../../src/main/application.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-BLACKHOLE';

test('of a list that comes in slices it is said how far it has come, in the list and in the events', async () => {
  const edgeward = await openEdgeward();
  try {
    await addRegion(edgeward, 'eu-west');
    const acme = await addCustomer(edgeward, 'Acme', [['198.18.0.0/15', 'eu-west']]);
    const api = openApiClient(await edgeward.serve(), acme.token);
    const ips = Array.from({ length: 5_000 }, (_, at) => `198.18.${at >> 7}.${(at & 127) * 2}`);
    assert.is((await api.post('/ips/bulk', { action: 'disable', ips })).status, 200);
    await api.close();
    await edgeward.stop();
    const withApplication = commandApplication(() => readConfig(edgeward.settings), createLog({ level: 'silent' }));
    await withApplication(async ({ customers, ids }) => {
      const context = { actor: 'system:deploy-commit', requestId: 'test' };
      const commit = { regionId: 1, list: 'BLACKHOLE', commitSetId: ids.uuid() } as const;
      await customers.handle(acme.id, { type: 'RequestCommit', data: { ...commit, reason: 'quiet' } }, context);
      const slice = { ...commit, attempt: 1, step: 0, done: 1_200, total: 5_000 };
      await customers.handle(acme.id, { type: 'RecordCommitSlice', data: slice }, context);
    });
    assert.match((await edgeward.command('commit', 'list', '--wide')).out, /deploying .* 1,200 of 5,000 /);
    const slices = (await edgeward.events()).filter(({ type }) => type === 'CommitSliceDeployed');
    assert.equal(
      slices.map(({ data }) => [Object(data).done, Object(data).total]),
      [[1_200, 5_000]],
    );
  } finally {
    await edgeward.remove();
  }
});

test('a router that does not take it is named with its reason in the list, in the log as an error and in the metrics; the other has each change', async () => {
  const metricsPort = await freePort();
  const settings = { QUIET_PERIOD: 'PT0.2S', SCHEDULER_INTERVAL: 'PT0.1S', METRICS_PORT: String(metricsPort) };
  const edgeward = await openEdgeward({ ...settings, LOG_LEVEL: 'info' });
  try {
    await addRegion(edgeward, 'eu-west', 2);
    const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
    rmSync(join(edgeward.folder, 'eu-west-2'), { recursive: true });
    const api = openApiClient(await edgeward.serve(), acme.token);
    for (const [nth, ip] of ['203.0.113.1', '203.0.113.4'].entries()) {
      assert.is((await api.post('/ips/disable', { ip })).status, 200);
      const list = (): string => readFileSync(join(edgeward.folder, 'eu-west', LIST), 'utf8');
      await waitUntil(`${ip} is on the router that takes it`, () => {
        try {
          return list().split('\n').length === nth + 2;
        } catch {
          return false;
        }
      });
    }
    const [, row = ''] = await waitUntil('the list says that it has failed', async () => {
      const lines = (await edgeward.command('commit', 'list', '--wide')).out.split('\n');
      return lines[1]?.includes(' failed ') === true ? lines : undefined;
    });
    assert.match(row, /eu-west-edge2: unreachable: /);
    assert.not.match(row, 'eu-west-edge1');
    const errors = edgeward.logged().filter(({ level }) => level === 'error');
    assert.ok(errors.length > 0);
    for (const { msg, outcomes, customer, region, list } of errors) {
      assert.equal([msg, customer, region, list], ['commit failed', 'Acme', 'eu-west', LIST]);
      assert.match(
        JSON.stringify(outcomes),
        /"router":"eu-west-edge2","result":"failed","untouched":true,"because":"unreachable: /,
      );
    }
    const failing = 'edgeward_router_failing_lists{region="eu-west",router="eu-west-edge';
    const text = await waitUntil('the metrics count it', async () => {
      const metrics = await (await request(`http://127.0.0.1:${metricsPort}/metrics`)).body.text();
      return metrics.includes(`${failing}2"} 1`) ? metrics : undefined;
    });
    assert.match(text, `${failing}1"} 0`);
    await api.close();
  } finally {
    await edgeward.remove();
  }
});

test.run();
