import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../src/application/ip-control/customers.ts';
import { createRegion } from '../../src/application/ip-control/regions.ts';
import { addSubnet } from '../../src/application/ip-control/subnets.ts';
import { readConfig } from '../../src/config.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import { LeaseLost } from '../../src/main/fencing.ts';
import { withRouterRunners } from '../../src/main/router-work.ts';
import { disable, one, requestCommit } from '../commands/ip-control/customer-examples.ts';
import { openTestApplication } from '../support/test-application.ts';

function accepted(answer: object): void {
  assert.not.ok(isRefusal(answer) && answer.because);
}

test('a command that was suspended so long that a server has taken over pushes nothing, and records nothing', async () => {
  const application = await openTestApplication();
  const { context, folder, store, readModels, secrets, log } = application;
  const path = join(folder, 'edge1');
  mkdirSync(path);
  accepted(await createRegion({ name: 'ams' }, context, application));
  const router = { router: 'edge1', driver: 'file', options: { path } };
  accepted(await application.regions.handle(1, { type: 'AddRouter', data: router }, context));
  accepted(await createCustomer({ name: 'Acme Corp.', settings: {} }, context, application));
  const subnet = { customer: '1', region: 'ams', cidr: '192.0.2.0/24', asn: 64_500, metro: 'AMS' };
  accepted(await addSubnet(subnet, context, application));
  accepted(await application.customers.handle(1, disable(one('192.0.2.7')), context));
  accepted(await application.customers.handle(1, requestCommit('c1', 1, 'operator'), context));
  const before = await store.end();
  const work = {
    config: readConfig({ DATA_DIR: folder }),
    aggregates: application,
    stores: { store, readModels, secrets },
    beforePushing: async () => undefined,
    log,
  };
  let isHeld = false;
  const deployAll = () =>
    withRouterRunners(work, { name: 'projections', isHeld: () => isHeld }, ({ deploy }) => deploy(() => true));
  const failure = await deployAll().catch((error: unknown) => error);
  assert.instance(failure, LeaseLost);
  assert.equal(readdirSync(path), []);
  assert.is(await store.end(), before);
  isHeld = true;
  await deployAll();
  assert.equal(readdirSync(path), ['Svc-ACME-CORP-BLACKHOLE']);
  await application.close();
});

test.run();
