import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { terminateWorker } from '../../../src/application/worker-pools/workers.ts';
import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { poolMonthMilliseconds } from '../../../src/projections/worker-pools/pool-usage-view.ts';
import type { CloudInstance, OpenCloud } from '../../../src/ports/clouds.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { createDummyCloud, type DummyCloud } from '../../support/worker-pools/dummy-cloud.ts';
import { INSTALLATION, type InstanceRunner, openInstanceRunner } from '../../support/worker-pools/instance-runner.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

type Scene = Readonly<{ application: TestApplication; cloud: DummyCloud; runner: InstanceRunner }>;

/** One instance runs, of run `a`. */
async function withInstance(work: (scene: Scene) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    const cloud = createDummyCloud(application.clock);
    await foundPool(application);
    const data = { runs: ['a'], because: 'asked', at: application.clock.nowText(), partly: false };
    accepted(await application.workerPools.handle('spot', { type: 'ReserveInstances', data }, application.context));
    const runner = openInstanceRunner(application, cloud);
    await runner.settle();
    await work({ application, cloud, runner });
    assert.is(cloud.openCount(), 0);
  } finally {
    await application.close();
  }
}

/** The provider has an instance that this log knows nothing of. */
async function makeUnknown({ application, cloud }: Scene, run: string, installation = INSTALLATION): Promise<void> {
  const account = { name: 'hcloud', providerType: 'hetzner', configuration: {}, credentials: { api_token: 'hunter2' } };
  const opened = cloud.openCloud(account);
  const marks = { installation, pool: 'spot', worker: 'spot-009', run };
  const request = { ...marks, specifications: { provider_type: 'hetzner' }, userData: ['x'] };
  await opened.create(request, new AbortController().signal);
  await opened.close();
  await application.catchUp();
}

function runsOf(cloud: DummyCloud): readonly string[] {
  return cloud.instances().map(({ run }) => run);
}

async function usedSeconds(application: TestApplication): Promise<number> {
  await application.catchUp();
  const now = application.clock.now().epochMilliseconds;
  return poolMonthMilliseconds(await application.views.poolUsage.get('spot'), '2026-11', now) / 1000;
}

test('an instance of no run is ended once it is old enough and was seen twice, and what it cost is the pool’s', () =>
  withInstance(async (scene) => {
    const { application, cloud, runner } = scene;
    await makeUnknown(scene, 'stray');
    await runner.sweep();
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a', 'stray'], 'a new one may be one whose record is still on its way');
    await application.clock.advance({ minutes: 6 });
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a', 'stray'], 'seen once');
    await application.clock.advance({ minutes: 1 });
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a']);
    assert.match(await application.logText(), /"run":"stray","instance":\{.*"seconds":420\}/);
    assert.is(await usedSeconds(application), 420 + 420);
    await runner.sweep();
    assert.is((await application.providerAccounts.state('hcloud')).state.ended.length, 1);
  }));

test('an instance whose end its provider took for done and did not carry out is ended again, and paid for once', () =>
  withInstance(async ({ application, cloud }) => {
    const openCloud: OpenCloud = (account) => ({
      ...cloud.openCloud(account),
      terminate: async () => ({ outcome: 'ending', endedAt: null }),
    });
    await application.clock.advance({ hours: 1 });
    accepted(await terminateWorker('spot-001', { forced: false }, application.context, application));
    await openInstanceRunner(application, { openCloud }).settle();
    assert.equal([runsOf(cloud), await usedSeconds(application)], [['a'], 3_600]);
    const runner = openInstanceRunner(application, cloud);
    for (let minute = 0; minute < 9; minute += 1) {
      await application.clock.advance({ minutes: 1 });
      await runner.sweep();
    }
    const [{ createdAt, endedAt } = { createdAt: '', endedAt: null }] = cloud.everyInstance();
    assert.ok(endedAt);
    assert.is(await usedSeconds(application), (epochMilliseconds(endedAt) - epochMilliseconds(createdAt)) / 1000);
  }));

test('an instance of another installation in the same account is left alone', () =>
  withInstance(async (scene) => {
    await makeUnknown(scene, 'theirs', 'another-one');
    for (let minute = 0; minute < 10; minute += 1) {
      await scene.application.clock.advance({ minutes: 1 });
      await scene.runner.sweep();
    }
    assert.equal(runsOf(scene.cloud), ['a', 'theirs']);
  }));

test('under a restored log, which does not know what came after its copy was made, nothing unknown is ended', () =>
  withInstance(async (scene) => {
    const { application, cloud } = scene;
    await makeUnknown(scene, 'newer');
    const restored = openInstanceRunner(application, cloud, application, false);
    for (let minute = 0; minute < 10; minute += 1) {
      await application.clock.advance({ minutes: 1 });
      await restored.sweep();
    }
    assert.equal(runsOf(cloud), ['a', 'newer']);
  }));

test('an instance that appears after its launch was given up is ended', () =>
  withInstance(async (scene) => {
    const { application, cloud, runner } = scene;
    const data = { runs: ['late'], because: 'asked', at: application.clock.nowText(), partly: false };
    accepted(await application.workerPools.handle('spot', { type: 'ReserveInstances', data }, application.context));
    cloud.fail({ call: 'create', code: 'outcome-unknown' });
    await runner.tryAll();
    await runner.tryAll();
    await application.clock.advance({ minutes: 16 });
    await runner.settle();
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-002'))?.failure?.code, 'outcome-unknown');
    await makeUnknown(scene, 'late');
    await application.clock.advance({ minutes: 6 });
    await runner.sweep();
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a']);
  }));

test('an instance that the provider took away is closed at the provider’s time, and its place is freed', () =>
  withInstance(async ({ application, cloud, runner }) => {
    await application.clock.advance({ minutes: 10 });
    cloud.interrupt('a', 'spot capacity was reclaimed');
    const endedAt = application.clock.nowText();
    await application.clock.advance({ minutes: 10 });
    await runner.sweep();
    await runner.settle();
    assert.is(await usedSeconds(application), 600);
    assert.match(await application.logText(), `"terminatedAt":"${endedAt}","because":"spot capacity was reclaimed"`);
    assert.equal(
      (await application.workerPools.state('spot')).state.slots.filter(({ isActive }) => isActive),
      [],
    );
  }));

test('an instance that is not shown any more has vanished when two listings say so, and not when one fails', () =>
  withInstance(async ({ application, cloud, runner }) => {
    await application.clock.advance({ minutes: 10 });
    cloud.forget('a');
    await runner.sweep();
    cloud.fail({ call: 'list', code: 'unreachable' });
    await runner.sweep().then(
      () => assert.unreachable('it was to fail'),
      () => undefined,
    );
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.phase, 'booting');
    await application.clock.advance({ minutes: 1 });
    const seenGone = application.clock.now().epochMilliseconds;
    await runner.sweep();
    await runner.settle();
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.phase, 'stopped');
    const { createdAt } = (await firstInstance(application)) ?? { createdAt: '' };
    assert.is(await usedSeconds(application), (seenGone - epochMilliseconds(createdAt)) / 1000);
  }));

test('an instance that listings do not show and that is there when it is asked for by itself has not vanished', () =>
  withInstance(async ({ application, cloud }) => {
    // As when the installation has lost the mark by which it lists its instances.
    const openCloud: OpenCloud = (account) => ({ ...cloud.openCloud(account), list: async () => [] });
    const runner = openInstanceRunner(application, { openCloud });
    for (let minute = 0; minute < 10; minute += 1) {
      await application.clock.advance({ minutes: 1 });
      await runner.sweep();
    }
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.phase, 'booting');
    cloud.fail({ call: 'inspect', code: 'unreachable' });
    await runner.sweep();
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.phase, 'booting', 'nobody knows');
    const endedAt = application.clock.nowText();
    cloud.interrupt('a', 'spot capacity was reclaimed');
    await application.clock.advance({ minutes: 1 });
    await runner.sweep();
    assert.match(await application.logText(), `"terminatedAt":"${endedAt}","because":"spot capacity was reclaimed"`);
  }));

test('a worker that reports is not taken for vanished, whatever its provider says to the credentials that there are now', () =>
  withInstance(async ({ application, cloud }) => {
    const { clock } = application;
    const openCloud: OpenCloud = (account) => ({
      ...cloud.openCloud(account),
      list: async () => [],
      inspect: async () => undefined,
    });
    let heard = clock.monotonicMilliseconds();
    const runner = openInstanceRunner(application, { openCloud }, application, true, () => heard);
    const phase = async () => {
      await application.catchUp();
      return (await application.views.workers.get('spot-001'))?.phase;
    };
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance({ minutes: 1 });
      heard = clock.monotonicMilliseconds();
      await runner.sweep();
    }
    assert.is(await phase(), 'booting');
    await clock.advance({ minutes: 1 });
    await runner.sweep();
    assert.is(await phase(), 'stopped');
  }));

test('a worker that reports is not taken for ended because its provider does not know it', () =>
  withInstance(async ({ application, cloud }) => {
    const { clock } = application;
    const openCloud: OpenCloud = (account) => ({
      ...cloud.openCloud(account),
      terminate: async () => ({ outcome: 'unknown-to-provider', endedAt: null }),
    });
    await clock.advance({ minutes: 10 });
    const heard = clock.monotonicMilliseconds();
    accepted(await terminateWorker('spot-001', { forced: false }, application.context, application));
    const runner = openInstanceRunner(application, { openCloud }, application, true, () => heard);
    await runner.tryAll();
    await application.catchUp();
    assert.match(
      (await application.views.workers.get('spot-001'))?.callFailed?.because ?? '',
      'are the credentials those of another account?',
    );
    await clock.advance({ minutes: 1 });
    await runner.settle();
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.phase, 'stopped', 'it reports no more');
  }));

test('of two instances that a provider made for one run the one that is recorded stays, and the other is ended', () =>
  withInstance(async ({ application, cloud }) => {
    const [first] = cloud.instances();
    assert.ok(first);
    let second: CloudInstance = { ...first, data: { ...first.data, instance_id: 'i-second' } };
    const openCloud: OpenCloud = (account) => {
      const opened = cloud.openCloud(account);
      return {
        ...opened,
        list: async (...call) => [second, ...(await opened.list(...call))],
        terminate: async (data, signal) => {
          if (data['instance_id'] !== 'i-second') return opened.terminate(data, signal);
          second = { ...second, state: 'ended', endedAt: application.clock.nowText() };
          return { outcome: 'ending', endedAt: second.endedAt };
        },
      };
    };
    const runner = openInstanceRunner(application, { openCloud });
    for (let minute = 0; minute < 10; minute += 1) {
      await application.clock.advance({ minutes: 1 });
      await runner.sweep();
    }
    await application.catchUp();
    assert.is(
      (await application.views.workers.get('spot-001'))?.phase,
      'booting',
      'the end of the other is not its own',
    );
    assert.equal([second.state, runsOf(cloud)], ['ended', ['a']]);
    assert.ok(second.endedAt);
    const ofSecond = epochMilliseconds(second.endedAt) - epochMilliseconds(second.createdAt);
    assert.is(await usedSeconds(application), 600 + ofSecond / 1000, 'both were paid for');
  }));

async function firstInstance(application: TestApplication) {
  for await (const page of application.store.readAll(-1n)) {
    for (const { type, data } of page) {
      if (type === 'InstanceCreated' && 'instanceCreatedAt' in data)
        return { createdAt: String(data.instanceCreatedAt) };
    }
  }
  return undefined;
}

test('one unknown instance that can not be ended keeps none of the others', () =>
  withInstance(async (scene) => {
    const { application, cloud, runner } = scene;
    await makeUnknown(scene, 'protected');
    await makeUnknown(scene, 'stray');
    await application.clock.advance({ minutes: 6 });
    await runner.sweep();
    cloud.fail({ call: 'terminate', code: 'end-refused' });
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a', 'protected']);
    await runner.sweep();
    assert.equal(runsOf(cloud), ['a']);
  }));

test.run();
