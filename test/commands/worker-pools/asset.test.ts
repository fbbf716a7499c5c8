import { test } from 'uvu';
import { assetDecider } from '../../../src/commands/worker-pools/asset.ts';
import type { AssetRecord } from '../../../src/events/worker-pools/asset-records.ts';
import type { AssetEvent } from '../../../src/events/worker-pools/asset.ts';
import { specify } from '../../specification.ts';

const { given } = specify(assetDecider);

const record: AssetRecord = {
  category: 'cloud-provider-account',
  name: 'aws-main',
  provider_type: 'aws',
  configuration: { region_name: 'eu-central-1' },
  credential_names: ['access_key_id'],
};
const created: AssetEvent = { type: 'AssetCreated', data: { asset: 'aws-main', record, secretId: 's1' } };

test('an asset is created once; the event names where its secrets are, and holds none', () => {
  given()
    .when({ type: 'EnsureAsset', data: { record, secretId: 's1' } })
    .yields(created);
  given(created)
    .when({ type: 'EnsureAsset', data: { record, secretId: 's1' } })
    .yieldsNothing();
});

test('its configuration and its credentials can change, its category and provider can not', () => {
  given(created)
    .when({ type: 'EnsureAsset', data: { record: { ...record, configuration: {} }, secretId: 's2' } })
    .yields(
      { type: 'AssetConfigured', data: { asset: 'aws-main', configuration: {} } },
      {
        type: 'AssetCredentialsReplaced',
        data: { asset: 'aws-main', secretId: 's2', credentialNames: ['access_key_id'] },
      },
    );
  given(created)
    .when({ type: 'EnsureAsset', data: { record: { ...record, provider_type: 'hetzner' }, secretId: 's1' } })
    .isRefused('provider-type-in-use', 'aws-main is an account at aws; its provider_type can not change.');
  const apt: AssetRecord = {
    category: 'apt-authentication',
    name: 'aws-main',
    configuration: { url: 'https://deb.example.com/', components: ['main'] },
    credential_names: [],
  };
  given(created)
    .when({ type: 'EnsureAsset', data: { record: apt, secretId: null } })
    .isRefused('asset-name-taken');
});

test('an asset that nothing uses is deleted, and may be made again as another one', () => {
  given(created)
    .when({ type: 'DeleteAsset', data: { usedBy: [] } })
    .yields({ type: 'AssetDeleted', data: { asset: 'aws-main' } });
  given(created)
    .when({ type: 'DeleteAsset', data: { usedBy: ['worker pool spot', 'worker old-001'] } })
    .isRefused('asset-in-use', 'asset aws-main is used by worker pool spot, worker old-001.');
  const deleted: AssetEvent = { type: 'AssetDeleted', data: { asset: 'aws-main' } };
  given(created, deleted)
    .when({ type: 'DeleteAsset', data: { usedBy: [] } })
    .isRefused('asset-not-found');
  const another = { ...record, provider_type: 'hetzner', configuration: {} };
  given(created, deleted)
    .when({ type: 'EnsureAsset', data: { record: another, secretId: 's2' } })
    .yields({ type: 'AssetCreated', data: { asset: 'aws-main', record: another, secretId: 's2' } });
});

test.run();
