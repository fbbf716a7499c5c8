import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  deleteAsset,
  ensureAsset,
  listAssets,
  showAsset,
  testAsset,
} from '../../../src/application/worker-pools/assets.ts';
import type { AssetRecord, Credentials } from '../../../src/events/worker-pools/asset-records.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { createDummyCloud } from '../../support/worker-pools/dummy-cloud.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const record: AssetRecord = {
  category: 'cloud-provider-account',
  name: 'aws-main',
  provider_type: 'aws',
  configuration: { region_name: 'eu-central-1' },
  credential_names: ['access_key_id', 'secret_access_key'],
};
const credentials = { access_key_id: 'hunter2', secret_access_key: 'hunter2' };

async function withApplication(work: (application: TestApplication) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    await work(application);
  } finally {
    await application.close();
  }
}

function ensure(application: TestApplication, given: Partial<AssetRecord> = {}, secrets: Credentials = credentials) {
  const asset = { record: { ...record, ...given } as AssetRecord, credentials: secrets };
  return ensureAsset(asset, application.context, application);
}

test('credentials go to the secret store and to nowhere else; the same ones are not stored again', () =>
  withApplication(async (application) => {
    assert.is(accepted(await ensure(application)).created, true);
    assert.equal(accepted(await ensure(application)), { created: false, differences: [], notes: [] });
    const [first] = application.secretIds();
    assert.is(application.secretIds().length, 1);
    const replaced = accepted(await ensure(application, {}, { ...credentials, access_key_id: 'hunter3' }));
    assert.equal(replaced.differences, [{ path: 'credentials', before: 'secret', after: 'another secret' }]);
    const [second = '', ...others] = application.secretIds();
    assert.equal(others, []);
    assert.is.not(second, first);
    assert.equal(await application.secrets.get(second), '{"access_key_id":"hunter3","secret_access_key":"hunter2"}');
    assert.not.match(await application.logText(), /hunter/);
  }));

test('of two that give an asset its credentials at the same moment one comes last, and no secret is missing or left over', () =>
  withApplication(async (application) => {
    await ensure(application);
    const { secrets } = application;
    let hasCome = false;
    /** The other one comes between the look at what is kept and the record. */
    const interrupted = async (id: string): Promise<string | undefined> => {
      const kept = await secrets.get(id);
      if (!hasCome) {
        hasCome = true;
        accepted(await ensure(application, {}, { ...credentials, access_key_id: 'hunter3' }));
      }
      return kept;
    };
    const given = { record, credentials };
    accepted(
      await ensureAsset(given, application.context, { ...application, secrets: { ...secrets, get: interrupted } }),
    );
    const { secretId } = (await application.assets.state('aws-main')).state;
    assert.equal(application.secretIds(), [secretId]);
    assert.is(await secrets.get(secretId ?? ''), '{"access_key_id":"hunter2","secret_access_key":"hunter2"}');
  }));

test('what differs is told, of credentials their names alone', () =>
  withApplication(async (application) => {
    await ensure(application);
    const bare = { configuration: {}, credential_names: ['access_key_id'] };
    const changed = accepted(await ensure(application, bare, { access_key_id: 'hunter2' }));
    assert.equal(changed, {
      created: false,
      differences: [
        { path: 'configuration.region_name', before: 'eu-central-1' },
        {
          path: 'credential_names',
          before: ['access_key_id', 'secret_access_key'],
          after: ['access_key_id'],
        },
        { path: 'credentials', before: 'secret', after: 'another secret' },
      ],
      notes: [],
    });
  }));

test('an asset of another provider is refused, and no secret is stored for it', () =>
  withApplication(async (application) => {
    await ensure(application);
    const before = application.secretIds();
    const answer = await ensure(application, { provider_type: 'hetzner' }, { api_token: 'hunter3' });
    assert.ok(isRefusal(answer) && answer.refused === 'provider-type-in-use');
    assert.equal(application.secretIds(), before);
  }));

test('assets are listed and shown by the names of their credentials; one that does not exist is not found', () =>
  withApplication(async (application) => {
    await ensure(application);
    const view = accepted(await showAsset('aws-main', application));
    assert.equal(view.credentialNames, ['access_key_id', 'secret_access_key']);
    assert.equal(await listAssets(application), [view]);
    assert.not.match(JSON.stringify(view), /hunter/);
    assert.equal(await showAsset('gcp', application), {
      refused: 'not-found',
      because: 'asset gcp not found.',
      field: 'name',
    });
  }));

test('an asset is deleted with its credentials, once nothing uses it; deleted twice it is not found', () =>
  withApplication(async (application) => {
    await foundPool(application);
    await ensure(application);
    const inUse = await deleteAsset('hcloud', application.context, application);
    assert.ok(isRefusal(inUse) && inUse.refused === 'asset-in-use');
    assert.is(inUse.because, 'asset hcloud is used by worker pool spot.');
    assert.is(application.secretIds().length, 2);
    accepted(await deleteAsset('aws-main', application.context, application));
    assert.is(application.secretIds().length, 1);
    assert.equal(
      (await listAssets(application)).map(({ name }) => name),
      ['hcloud'],
    );
    const again = await deleteAsset('aws-main', application.context, application);
    assert.equal(again, { refused: 'not-found', because: 'asset aws-main not found.', field: 'name' });
  }));

test('an account is kept while an instance runs that it has created, whatever the pool names by then', () =>
  withApplication(async (application) => {
    await foundPool(application);
    await ensure(application);
    const at = application.clock.nowText();
    const worker = { worker: 'old-001', pool: 'old', architectures: ['amd64'] as const, at };
    accepted(
      await application.workers.handle('old-001', { type: 'RegisterWorker', data: worker }, application.context),
    );
    const launch = {
      run: 'r',
      providerAccount: 'aws-main',
      architectures: ['amd64'] as const,
      activationSha256: 'x',
      because: 'asked',
      at,
    };
    accepted(await application.workers.handle('old-001', { type: 'RequestLaunch', data: launch }, application.context));
    const inUse = await deleteAsset('aws-main', application.context, application);
    assert.ok(isRefusal(inUse) && inUse.because === 'asset aws-main is used by worker old-001.');
  }));

test('an account is tested by its provider', () =>
  withApplication(async (application) => {
    await ensure(application);
    const { openCloud, fail, openCount } = createDummyCloud(application.clock);
    const signal = new AbortController().signal;
    const parts = { ...application, openCloud };
    assert.equal(await testAsset('aws-main', signal, parts), { works: true });
    fail({ call: 'check', code: 'login-refused' });
    const refused = accepted(await testAsset('aws-main', signal, parts));
    assert.ok(!refused.works && refused.code === 'login-refused');
    assert.is(openCount(), 0);
    const missing = await testAsset('gcp', signal, parts);
    assert.ok(isRefusal(missing) && missing.refused === 'not-found');
  }));

test.run();
