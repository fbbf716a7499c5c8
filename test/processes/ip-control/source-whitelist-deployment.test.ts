import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { createKeyedMutex } from '../../../src/concurrency/keyed-mutex.ts';
import { whitelistStatus } from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openAggregates } from '../../../src/main/contexts.ts';
import { openRouterDrivers } from '../../../src/main/router-drivers.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import { performDeployCommit } from '../../../src/processes/ip-control/deploy-commit.ts';
import {
  approve,
  remove,
  requestWhitelist,
  submit,
  whitelisting,
} from '../../commands/ip-control/source-whitelist-examples.ts';
import { routerContext } from '../../support/routers/router-context.ts';
import { openEmbeddedLog } from '../../support/stores/embedded-log.ts';

const LIST = 'Svc-ACME-CORP-SRC_WHITELIST';
const context = { actor: 'system:test', requestId: 'test' };

/** A region with one router that is a directory, whose changes wait until `open` resolves; and customer 7. */
async function start() {
  const log = await openEmbeddedLog();
  const path = join(log.folder, 'edge1');
  mkdirSync(path);
  await log.append('customer-7', whitelisting());
  const router = { router: 'edge1', driver: 'file', options: { path } };
  await log.append(
    'region-1',
    { type: 'RegionCreated', data: { regionId: 1, name: 'eu-west' } },
    { type: 'RouterAdded', data: { regionId: 1, ...router } },
  );
  const aggregates = openAggregates(log.dependencies());
  const { secrets } = routerContext();
  const drivers = openRouterDrivers(createOpenRouter({ secrets, clock: systemClock, ids: systemIds }));
  const gate = createGate();
  const deploy = performDeployCommit({
    ...aggregates,
    store: log.store,
    driverOf: (regionId, settings) => gate.before(drivers.driverOf(regionId, settings)),
    turns: createKeyedMutex(),
    clock: systemClock,
    log: log.log,
    timeoutMilliseconds: 30_000,
  });
  const whitelist = async () => {
    const { state } = await aggregates.customers.state(7);
    if (state.phase === 'unregistered') throw new Error('the customer is registered');
    return state;
  };
  return {
    gate,
    whitelist,
    held: () => readFileSync(join(path, LIST), 'utf8'),
    ask: async (command: CustomerCommand) => {
      const answer = await aggregates.customers.handle(7, command, context);
      if (isRefusal(answer)) throw new Error(answer.because);
    },
    /** Deploys the commit that was requested. */
    deploy: async (attempt = 1) => {
      const open = (await whitelist()).commits.get('1/SRC_WHITELIST');
      const commit = { regionId: 1, list: 'SRC_WHITELIST', commitSetId: open?.commitSetId ?? '', attempt } as const;
      const data = { customerId: 7, ...commit, step: 0 };
      await deploy({ type: 'DeployCommit', id: 'test', data }, new AbortController().signal);
    },
    stop: async () => {
      await drivers.close();
      await log.close();
    },
  };
}

/** Holds changes back: `reached` resolves when one waits, `open` lets all of them pass. */
function createGate() {
  let [reach, open] = [(): void => undefined, (): void => undefined];
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    reached,
    open: () => open(),
    before: (driver: RouterDriver): RouterDriver => ({
      ...driver,
      replace: async (...change) => {
        reach();
        await opened;
        await driver.replace(...change);
      },
    }),
  };
}

test('what is removed while its deployment runs is on the router for a moment, and off it with the next commit', async () => {
  const { ask, deploy, gate, held, whitelist, stop } = await start();
  await ask(submit('192.31.196.0/30'));
  await ask(approve());
  await ask(requestWhitelist('w1'));
  const running = deploy();
  await gate.reached;
  await ask(remove());
  gate.open();
  await running;
  assert.is(held(), '192.31.196.0/30\n');
  await ask(requestWhitelist('w2'));
  await deploy();
  assert.is(held(), '');
  assert.is((await whitelist()).whitelist.requests.size, 0);
  assert.is((await whitelist()).commits.size, 0);
  await stop();
});

test('what is approved while a deployment runs goes out with the next one', async () => {
  const { ask, deploy, gate, held, whitelist, stop } = await start();
  await ask(submit('192.31.196.0/30'));
  await ask(submit('192.31.196.9', { requestId: 'r2' }));
  await ask(approve());
  await ask(requestWhitelist('w1'));
  const running = deploy();
  await gate.reached;
  await ask(approve('r2'));
  gate.open();
  await running;
  assert.is(held(), '192.31.196.0/30\n');
  const statuses = async () => [...(await whitelist()).whitelist.requests.values()].map(whitelistStatus);
  assert.equal(await statuses(), ['active', 'pending_deploy']);
  await ask(requestWhitelist('w2'));
  await deploy();
  assert.is(held(), '192.31.196.0/30\n192.31.196.9/32\n');
  assert.equal(await statuses(), ['active', 'active']);
  await stop();
});

test('a deployment that was settled already does nothing more', async () => {
  const { ask, deploy, gate, held, stop } = await start();
  gate.open();
  await ask(submit('192.31.196.0/30'));
  await ask(approve());
  await ask(requestWhitelist('w1'));
  await deploy();
  await ask(remove());
  await deploy();
  assert.is(held(), '192.31.196.0/30\n', 'only a new commit takes it off');
  await stop();
});

test.run();
