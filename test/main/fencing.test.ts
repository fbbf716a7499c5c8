import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createOpenCloud } from '../../src/adapters/clouds/open-cloud.ts';
import { createOpenRouter } from '../../src/adapters/routers/open-router.ts';
import { CoverText } from '../../src/addresses/cover-text.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { readConfig } from '../../src/config.ts';
import { fencedTools, LeaseLost } from '../../src/main/fencing.ts';
import { openRouterDrivers } from '../../src/main/router-drivers.ts';
import { RouterFailure } from '../../src/ports/routers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTestApplication } from '../support/test-application.ts';

test('from the moment at which the lease is gone nothing is recorded, pushed, sent or launched; what is there can be read', async () => {
  const application = await openTestApplication();
  const { path, remove } = await temporaryFolder();
  mkdirSync(join(path, 'edge'));
  const { store, secrets, clock, ids, log } = application;
  const sent: string[] = [];
  let isHeld = true;
  const tools = fencedTools(
    {
      config: readConfig({ DATA_DIR: path }),
      aggregates: application,
      routerDrivers: openRouterDrivers(createOpenRouter({ secrets, clock, ids })),
      sender: {
        send: async ({ url }) => {
          sent.push(url);
          return { delivered: true, status: 200 };
        },
        close: async () => undefined,
      },
      openCloud: createOpenCloud([]),
      cloudDrivers: [],
      store,
      secrets,
      clock,
      ids,
      log,
    },
    { name: 'projections', isHeld: () => isHeld },
  );
  const signal = new AbortController().signal;
  const router = { name: 'edge', driver: 'file', options: { path: join(path, 'edge') } };
  const driver = tools.routerDrivers.driverOf(1, router);
  const record = (regionId: number) =>
    tools.aggregates.regions.handle(
      regionId,
      { type: 'CreateRegion', data: { regionId, name: `region-${regionId}` } },
      application.context,
    );
  const send = (url: string) =>
    tools.sender.send({ url, messageId: 'm', timestampSeconds: () => 0, body: '', secret: 'whsec_' }, signal);
  await record(1);
  await send('first');
  await driver.replace('Svc-A', ['192.0.2.0/24'], signal);

  isHeld = false;
  const before = await store.end();
  assert.instance(await failureOf(record(2)), LeaseLost);
  assert.instance(await failureOf(send('second')), LeaseLost);
  const refused = await failureOf(driver.replace('Svc-B', ['192.0.2.0/24'], signal));
  assert.ok(refused instanceof RouterFailure && refused.code === 'timed-out', 'nothing was sent');
  const text = CoverText.of(RangeSet.ofAddress({ version: 4, value: 7 }));
  const refusedText = await failureOf(driver.text?.replace('Svc-B', text, signal) ?? Promise.resolve());
  assert.ok(refusedText instanceof RouterFailure && refusedText.code === 'timed-out', 'nor as a text');
  assert.instance(await failureOf(driver.remove('Svc-A', signal)), RouterFailure);
  const account = { name: 'a', providerType: 'aws', configuration: {}, credentials: {} } as const;
  assert.throws(() => tools.openCloud(account), /another server goes on/);
  assert.is(await store.end(), before);
  assert.equal(sent, ['first']);
  assert.equal(readdirSync(join(path, 'edge')), ['Svc-A']);
  assert.equal(await driver.read('Svc-A', signal), ['192.0.2.0/24']);
  assert.is((await tools.aggregates.regions.state(1)).state.phase, 'created');
  await tools.routerDrivers.close();
  await application.close();
  await remove();
});

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.run();
