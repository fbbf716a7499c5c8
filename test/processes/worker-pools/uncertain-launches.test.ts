import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureAsset } from '../../../src/application/worker-pools/assets.ts';
import { deletePool, editPool } from '../../../src/application/worker-pools/pools.ts';
import { terminateWorker } from '../../../src/application/worker-pools/workers.ts';
import { launchesRest } from '../../../src/commands/worker-pools/pool-state.ts';
import type { Specifications } from '../../../src/events/worker-pools/specifications.ts';
import type { CloudFailureCode, InstanceRequest, OpenCloud } from '../../../src/ports/clouds.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { createDummyCloud, type DummyCloud } from '../../support/worker-pools/dummy-cloud.ts';
import { type InstanceRunner, openInstanceRunner } from '../../support/worker-pools/instance-runner.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const LARGER: Specifications = {
  provider_type: 'hetzner',
  server_type: 'cx52',
  image_name: 'debian-13',
  enable_ipv4: true,
  enable_ipv6: true,
  worker_install_source: 'release',
};

type Scene = Readonly<{
  application: TestApplication;
  cloud: DummyCloud;
  runner: InstanceRunner;
  /** Every request that the provider was sent, answered or not. */
  asked: readonly InstanceRequest[];
  /** Another server takes over: what the former one remembered is gone. */
  restarted: () => InstanceRunner;
}>;

/** One place of the pool is reserved; nothing has been asked for yet. */
async function withReservedPlace(work: (scene: Scene) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    const cloud = createDummyCloud(application.clock);
    await foundPool(application);
    const asked: InstanceRequest[] = [];
    const openCloud: OpenCloud = (account) => {
      const opened = cloud.openCloud(account);
      return {
        ...opened,
        create: (request, signal) => {
          asked.push(request);
          return opened.create(request, signal);
        },
      };
    };
    const restarted = (): InstanceRunner => openInstanceRunner(application, { openCloud });
    await reserve(application, 'a');
    await work({ application, cloud, runner: restarted(), asked, restarted });
    assert.is(cloud.openCount(), 0, 'every account that was opened is closed');
  } finally {
    await application.close();
  }
}

async function reserve(application: TestApplication, run: string): Promise<void> {
  const data = { runs: [run], because: 'asked', at: application.clock.nowText(), partly: false };
  accepted(await application.workerPools.handle('spot', { type: 'ReserveInstances', data }, application.context));
}

/** The next creates are carried out, or not, and nothing is heard of them. */
function loseAnswers(cloud: DummyCloud, count: number, isCarriedOut: boolean): void {
  const lost = { call: 'create', code: 'outcome-unknown' } as const;
  cloud.fail(...Array.from({ length: count }, () => (isCarriedOut ? { ...lost, after: true as const } : lost)));
}

async function worker(application: TestApplication) {
  await application.catchUp();
  return application.views.workers.get('spot-001');
}

async function isFree(application: TestApplication): Promise<boolean> {
  return (await application.workerPools.state('spot')).state.slots.every(({ isActive }) => !isActive);
}

for (const isCarriedOut of [true, false]) {
  const what = isCarriedOut ? 'that was carried out' : 'that came to nothing';

  test(`a pool deleted by force after an uncertain launch ${what} leaves no instance, and frees the place`, () =>
    withReservedPlace(async ({ application, cloud, runner }) => {
      loseAnswers(cloud, 1, isCarriedOut);
      await runner.tryAll();
      assert.is((await runner.tryAll()).length, 1);
      accepted(await deletePool('spot', { force: true }, application.context, application));
      await runner.tryAll();
      assert.is(await isFree(application), false, 'before the grace is over the place is not given up');
      assert.match((await worker(application))?.callFailed?.because ?? '', 'an instance may exist all the same');
      await application.clock.advance({ minutes: 6 });
      await runner.settle();
      assert.equal(cloud.instances(), []);
      assert.is(await isFree(application), true);
      assert.is(cloud.createdCount(), isCarriedOut ? 1 : 0);
    }));

  test(`a login refused after an uncertain launch ${what} is no proof that there is no instance`, () =>
    withReservedPlace(async ({ application, cloud, runner }) => {
      loseAnswers(cloud, 1, isCarriedOut);
      cloud.fail({ call: 'create', code: 'login-refused' });
      await runner.tryAll();
      await runner.tryAll();
      await runner.tryAll();
      assert.is((await worker(application))?.phase, 'launching');
      await application.clock.advance({ minutes: 6 });
      cloud.fail({ call: 'list', code: 'login-refused' });
      await runner.tryAll();
      assert.is((await worker(application))?.phase, 'launching', 'a listing that fails decides nothing');
      await runner.settle();
      const { phase, failure } = (await worker(application)) ?? {};
      assert.equal([phase, failure?.code], isCarriedOut ? ['booting', undefined] : ['stopped', 'login-refused']);
    }));
}

test('an instance that is not wanted any more while its launch is uncertain is found and ended', () =>
  withReservedPlace(async ({ application, cloud, runner }) => {
    loseAnswers(cloud, 1, true);
    await runner.tryAll();
    await runner.tryAll();
    accepted(await terminateWorker('spot-001', { forced: false }, application.context, application));
    await runner.tryAll();
    await application.clock.advance({ minutes: 6 });
    await runner.settle();
    assert.equal(cloud.instances(), []);
    assert.is(await isFree(application), true);
  }));

test('an edited pool, repository or account changes nothing of a run that was asked for: each try sends the same bytes', () =>
  withReservedPlace(async ({ application, cloud, asked, runner, restarted }) => {
    const edit = accepted(
      await editPool('spot', { specifications: LARGER }, { dryRun: false }, application.context, application),
    );
    assert.is(edit.differences.length > 0, true, 'between the reservation and the first try');
    loseAnswers(cloud, 2, false);
    await runner.tryAll();
    await runner.tryAll();
    accepted(await editPool('spot', { ephemeral: true }, { dryRun: false }, application.context, application));
    await restarted().tryAll();
    await restarted().settle();
    assert.is(asked.length, 3);
    assert.is(new Set(asked.map((request) => JSON.stringify(request))).size, 1);
    assert.is(asked[0]?.specifications['server_type'], 'cx32');
    assert.is(cloud.createdCount(), 1);
  }));

test('a refusal at the first try ends the run at once, as long as it is known that it was the first', () =>
  withReservedPlace(async ({ application, cloud, runner, restarted }) => {
    cloud.fail({ call: 'create', code: 'no-capacity' });
    await runner.settle();
    assert.is((await worker(application))?.failure?.code, 'no-capacity');
    // A server that died after it had begun: its try may have been carried out.
    await reserve(application, 'b');
    await runner.tryAll();
    const begun = { run: 'b', at: application.clock.nowText() };
    accepted(await application.workers.handle('spot-001', { type: 'StartCreation', data: begun }, application.context));
    cloud.fail({ call: 'create', code: 'no-capacity' });
    const after = restarted();
    await after.tryAll();
    assert.is((await worker(application))?.phase, 'launching');
    await application.clock.advance({ minutes: 6 });
    await after.settle();
    assert.is((await worker(application))?.failure?.code, 'no-capacity');
  }));

test('a try that a store which was away has kept from the provider makes no launch uncertain', () =>
  withReservedPlace(async ({ application, cloud }) => {
    let isAway = false;
    const state: typeof application.assets.state = (name) =>
      isAway ? Promise.reject(new StoreUnavailable('the event store is away')) : application.assets.state(name);
    const runner = openInstanceRunner(application, cloud, { ...application, assets: { ...application.assets, state } });
    await runner.tryAll();
    isAway = true;
    const failures = await runner.tryAll();
    assert.ok(failures.some((error) => error instanceof StoreUnavailable));
    isAway = false;
    cloud.fail({ call: 'create', code: 'no-capacity' });
    await runner.tryAll();
    assert.is((await worker(application))?.failure?.code, 'no-capacity', 'it was asked for once');
  }));

test('a throttled call is asked again when its provider allows it, and is no failure', () =>
  withReservedPlace(async ({ application, cloud, runner }) => {
    cloud.fail({ call: 'create', code: 'throttled' });
    await runner.tryAll();
    await runner.tryAll();
    assert.is((await worker(application))?.callFailed?.code, 'throttled');
    await runner.settle();
    assert.is(cloud.createdCount(), 1);
    assert.is((await application.workerPools.state('spot')).state.failures, undefined);
    assert.is((await worker(application))?.callFailed, null);
  }));

test('patience counts from the first try after a start, whenever the place was reserved', () =>
  withReservedPlace(async ({ application, cloud, restarted }) => {
    await application.clock.advance({ hours: 3 });
    loseAnswers(cloud, 1, false);
    const runner = restarted();
    await runner.tryAll();
    await runner.tryAll();
    assert.is((await worker(application))?.phase, 'launching');
    await runner.settle();
    assert.is(cloud.createdCount(), 1);
  }));

const CERTAIN: readonly CloudFailureCode[] = ['end-refused', 'login-refused', 'not-permitted', 'throttled'];

for (const code of CERTAIN) {
  test(`an end that is refused (${code}) is said on the worker, is asked for again, and holds up no other`, () =>
    withReservedPlace(async ({ application, cloud, runner }) => {
      await reserve(application, 'b');
      await runner.settle();
      for (const name of ['spot-001', 'spot-002']) {
        accepted(await terminateWorker(name, { forced: false }, application.context, application));
      }
      cloud.fail({ call: 'terminate', code });
      assert.is((await runner.tryAll()).length, 1);
      assert.equal(
        [(await worker(application))?.callFailed?.call, (await worker(application))?.callFailed?.code],
        ['terminate', code],
      );
      assert.equal(
        cloud.instances().map(({ run }) => run),
        ['a'],
      );
      await runner.settle();
      assert.equal(cloud.instances(), []);
      assert.is((await worker(application))?.callFailed, null);
    }));
}

for (const isUncertain of [false, true]) {
  const what = isUncertain ? 'in which the provider’s list is waited for' : 'after which the server died';

  test(`an account that was edited since it was refused, in a launch ${what}, may be tried at once`, () =>
    withReservedPlace(async ({ application, cloud, runner, restarted }) => {
      if (isUncertain) loseAnswers(cloud, 1, false);
      cloud.fail({ call: 'create', code: 'login-refused' });
      for (let tries = isUncertain ? 3 : 2; tries > 0; tries -= 1) await runner.tryAll();
      const { record } = (await application.assets.state('hcloud')).state;
      assert.ok(record);
      const rotated = { record, credentials: { api_token: 'hunter3' } };
      accepted(await ensureAsset(rotated, application.context, application));
      await application.clock.advance({ minutes: 6 });
      await (isUncertain ? runner : restarted()).settle();
      const [pool, account] = [
        (await application.workerPools.state('spot')).state,
        await application.assets.state('hcloud'),
      ];
      assert.is(pool.failures?.code, 'login-refused');
      assert.is(launchesRest(pool, String(account.revision)), undefined);
      assert.is(launchesRest(pool, pool.failures?.accountRevision), Number.POSITIVE_INFINITY);
    }));
}

test.run();
