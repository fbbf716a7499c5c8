import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { applyScaling } from '../../../src/application/worker-pools/apply-scaling.ts';
import { deletePool, editPool, ensurePool, listPools, showPool } from '../../../src/application/worker-pools/pools.ts';
import { launchWorkers } from '../../../src/application/worker-pools/workers.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const NOW = { dryRun: false };
const DRY = { dryRun: true };
const limits = { max_active_instances: 5, target_max_seconds_per_month: null, max_idle_seconds: 3600 };

async function withApplication(work: (application: TestApplication) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    await foundPool(application, { limits });
    await work(application);
  } finally {
    await application.close();
  }
}

test('a pool is made as it is given; what is not named stays, and the second time changes nothing', () =>
  withApplication(async (application) => {
    const given = { architectures: ['arm64' as const], ephemeral: true };
    assert.equal(accepted(await ensurePool('spot', given, NOW, application.context, application)), {
      created: false,
      differences: [
        { path: 'architectures', before: ['amd64'], after: ['arm64'] },
        { path: 'ephemeral', before: false, after: true },
      ],
      notes: [],
    });
    const again = accepted(await ensurePool('spot', given, NOW, application.context, application));
    assert.equal(again.differences, []);
    assert.equal(accepted(await showPool('spot', application)).record.limits, limits);
  }));

test('a dry run tells what would differ, or what would be refused, and changes nothing', () =>
  withApplication(async (application) => {
    const before = (await application.workerPools.state('spot')).revision;
    const changed = accepted(await editPool('spot', { enabled: false }, DRY, application.context, application));
    assert.equal(changed.differences, [{ path: 'enabled', before: true, after: false }]);
    const account = { provider_account: 'nowhere' };
    const refused = await editPool('spot', account, DRY, application.context, application);
    assert.ok(isRefusal(refused) && refused.refused === 'provider-account-not-found');
    assert.equal(await editPool('spot', account, NOW, application.context, application), refused);
    assert.is((await application.workerPools.state('spot')).revision, before);
  }));

test('only a pool that is there is edited, and what is missing of a new one is told', () =>
  withApplication(async (application) => {
    const notFound = { refused: 'not-found', because: 'worker pool nothing not found.', field: 'pool' };
    for (const how of [NOW, DRY])
      assert.equal(await editPool('nothing', { enabled: true }, how, application.context, application), notFound);
    assert.equal(await showPool('nothing', application), notFound);
    const incomplete = await ensurePool('new', { enabled: true }, NOW, application.context, application);
    assert.ok(isRefusal(incomplete) && incomplete.refused === 'bad-worker-pool');
    assert.equal(
      (await listPools(application)).map(({ record }) => record.name),
      ['spot'],
    );
  }));

test('a change that leaves more active than its limits allow is accepted, with a note', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 2, application.context, application));
    const fewer = { enabled: false, limits: { ...limits, max_active_instances: 1 } };
    const { notes } = accepted(await editPool('spot', fewer, NOW, application.context, application));
    assert.equal(notes, [
      '2 instances are active, limits.max_active_instances is 1: nothing that runs is ended for that, and nothing new starts before fewer than 1 are active',
      'the pool creates no instances; 2 that are active go on until they are idle',
    ]);
  }));

test('a pool that may hold no instance at all is accepted, with a note', () =>
  withApplication(async (application) => {
    const none = { limits: { ...limits, max_active_instances: 0 } };
    const { notes } = accepted(await editPool('spot', none, NOW, application.context, application));
    assert.equal(notes, ['limits.max_active_instances is 0: the pool creates no instance']);
  }));

test('software from a repository that no asset names is noted as soon as the pool says so', () =>
  withApplication(async (application) => {
    const specifications = {
      provider_type: 'hetzner',
      server_type: 'cx32',
      image_name: 'debian-13',
      worker_install_source: 'daily-builds',
    } as const;
    const { notes } = accepted(await editPool('spot', { specifications }, NOW, application.context, application));
    assert.equal(notes, [
      'worker_install_source daily-builds needs a repository of its own: name it by apt_authentication before instances are launched',
    ]);
  }));

test('a pool with active workers is deleted by force alone; its scopes lose it, and what runs is ended', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    const refused = await deletePool('spot', { force: false }, application.context, application);
    assert.ok(isRefusal(refused) && refused.refused === 'worker-pool-in-use');
    const deleted = accepted(await deletePool('spot', { force: true }, application.context, application));
    assert.equal(deleted, { scopes: ['debian'], ending: ['spot-001'] });
    assert.equal((await application.scopes.state('debian')).state.pools, {});
    assert.equal(await listPools(application), []);
    const launch = { pool: 'spot', scope: 'debian', architecture: 'amd64' as const, count: 1, because: 'a queue' };
    const decision = { launches: [launch], terminations: [], refusals: [] };
    const late = await applyScaling(decision, ['spot'], application.context, application);
    assert.equal(late, { reserved: [], ending: [] });
  }));

test.run();
