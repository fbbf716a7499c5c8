import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureAsset, listAssets, showAsset } from '../../../src/application/worker-pools/assets.ts';
import type { AssetRecord, Credentials } from '../../../src/events/worker-pools/asset-records.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openWorkerPoolHouse, type WorkerPoolHouse } from '../../support/worker-pool-application.ts';
import { accepted } from '../../support/worker-pool-records.ts';

const record: AssetRecord = {
  category: 'cloud-provider-account',
  name: 'aws-main',
  provider_type: 'aws',
  configuration: { region_name: 'eu-central-1' },
  credential_names: ['access_key_id', 'secret_access_key'],
};
const credentials = { access_key_id: 'hunter2', secret_access_key: 'hunter2' };

async function inHouse(work: (application: WorkerPoolHouse) => Promise<void>): Promise<void> {
  const application = await openWorkerPoolHouse();
  try {
    await work(application);
  } finally {
    await application.close();
  }
}

function ensure(application: WorkerPoolHouse, given: Partial<AssetRecord> = {}, secrets: Credentials = credentials) {
  const asset = { record: { ...record, ...given } as AssetRecord, credentials: secrets };
  return ensureAsset(asset, application.context, application);
}

test('credentials go to the secret store and to nowhere else; the same ones are not stored again', () =>
  inHouse(async (application) => {
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

test('what differs is told; an account without what its provider logs in with is kept, with a note', () =>
  inHouse(async (application) => {
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
      notes: ['an account at aws logs in with secret_access_key, which is not there'],
    });
  }));

test('an asset of another provider is refused, and no secret is stored for it', () =>
  inHouse(async (application) => {
    await ensure(application);
    const before = application.secretIds();
    const answer = await ensure(application, { provider_type: 'hetzner' }, { api_token: 'hunter3' });
    assert.ok(isRefusal(answer) && answer.refused === 'provider-type-in-use');
    assert.equal(application.secretIds(), before);
  }));

test('assets are listed and shown by the names of their credentials; one that does not exist is not found', () =>
  inHouse(async (application) => {
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

test.run();
