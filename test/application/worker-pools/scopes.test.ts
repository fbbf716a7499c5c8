import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addScopeWorkerPool,
  createScope,
  editScopeWorkerPool,
  listScopes,
  removeScopeWorkerPool,
  scopeRevision,
  showScope,
} from '../../../src/application/worker-pools/scopes.ts';
import { recordingInto } from '../../../src/application/operations/recording.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const of = { scope: 'debian', pool: 'spot' };
const NO_LIMITS = { target_max_seconds_per_month: null, target_latency_seconds: null };

async function withApplication(work: (application: TestApplication) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    await foundPool(application, { instance_wide: false });
    await work(application);
  } finally {
    await application.close();
  }
}

test('a scope is created once', () =>
  withApplication(async (application) => {
    assert.equal(await createScope('kali', application.context, application), { created: true });
    assert.equal(await createScope('kali', application.context, application), { created: false });
    assert.equal(
      (await listScopes(application)).map(({ scope, pools }) => [scope, Object.keys(pools)]),
      [
        ['debian', ['spot']],
        ['kali', []],
      ],
    );
  }));

test('a membership asked for again changes what is named, and nothing where nothing differs', () =>
  withApplication(async (application) => {
    const add = (priority: number) => addScopeWorkerPool(of, { priority }, application.context, application);
    assert.equal(await add(7), { changed: true, terms: { priority: 7, limits: NO_LIMITS } });
    assert.equal(await add(7), { changed: false, terms: { priority: 7, limits: NO_LIMITS } });
    const limits = { ...NO_LIMITS, target_latency_seconds: 60 };
    const edited = await editScopeWorkerPool(of, { limits }, application.context, application);
    assert.equal(edited, { changed: true, terms: { priority: 7, limits } });
    assert.equal(accepted(await showScope('debian', application)).pools['spot']?.limits, limits);
  }));

test('who has said how a membership must be changes nothing where another is faster between the steps', () =>
  withApplication(async (application) => {
    const { revision } = await scopeRevision('debian', application);
    const others = application.anotherProcess().scopes;
    const { scopes } = application;
    const slow: typeof scopes = {
      ...scopes,
      handle: async (id, command, context, standing) => {
        const answer = await scopes.handle(id, command, context, standing);
        if (command.type === 'AddScopeWorkerPool')
          await others.handle(id, { type: 'EditScopeWorkerPool', data: { pool: 'spot', priority: 3 } }, context);
        return answer;
      },
    };
    const held = recordingInto({ ...application, scopes: slow }, [], { of: 'scopes', id: 'debian', revision });
    const put = await addScopeWorkerPool(of, { priority: 7 }, application.context, held);
    assert.ok(isRefusal(put) && put.refused === 'revision-differs');
    assert.is(accepted(await showScope('debian', application)).pools['spot']?.priority, 3);
  }));

test('a pool that is not instance-wide serves one scope; removed from it, it may serve another', () =>
  withApplication(async (application) => {
    await createScope('kali', application.context, application);
    const other = { scope: 'kali', pool: 'spot' };
    const taken = await addScopeWorkerPool(other, {}, application.context, application);
    assert.ok(isRefusal(taken) && taken.refused === 'worker-pool-taken');
    const gone = { changed: true, terms: undefined };
    assert.equal(await removeScopeWorkerPool(of, application.context, application), gone);
    assert.equal(await removeScopeWorkerPool(of, application.context, application), { ...gone, changed: false });
    assert.is(accepted(await addScopeWorkerPool(other, {}, application.context, application)).changed, true);
  }));

test('a scope that is not there uses nothing, and no pool has admitted it', () =>
  withApplication(async (application) => {
    const unknown = { scope: 'kali', pool: 'spot' };
    const because = 'scope kali not found.';
    assert.equal(await addScopeWorkerPool(unknown, {}, application.context, application), {
      refused: 'scope-not-found',
      because,
      field: 'scope',
    });
    const notFound = { refused: 'not-found', because, field: 'scope' };
    assert.equal(await removeScopeWorkerPool(unknown, application.context, application), notFound);
    assert.equal(await showScope('kali', application), notFound);
    assert.equal((await application.workerPools.state('spot')).state.scopes, ['debian']);
  }));

test.run();
