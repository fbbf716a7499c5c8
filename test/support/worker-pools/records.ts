import type { TestApplication } from '../test-application.ts';
import { ensureAsset } from '../../../src/application/worker-pools/assets.ts';
import { ensurePool } from '../../../src/application/worker-pools/pools.ts';
import { addScopeWorkerPool, createScope } from '../../../src/application/worker-pools/scopes.ts';
import { isRefusal, type Refusal } from '../../../src/kernel/decider.ts';
import type { AssetRecord } from '../../../src/events/worker-pools/asset-records.ts';
import type { PoolChanges } from '../../../src/events/worker-pools/pool-record.ts';

type Founding = Pick<
  TestApplication,
  'workerPools' | 'scopes' | 'assets' | 'secrets' | 'ids' | 'clock' | 'views' | 'catchUp' | 'cloudDrivers' | 'context'
>;

/** A provider account, a pool `spot` of it and a scope `debian` that uses the pool. */
export async function foundPool(application: Founding, changes: PoolChanges = {}): Promise<void> {
  const account: AssetRecord = {
    category: 'cloud-provider-account',
    name: 'hcloud',
    provider_type: 'hetzner',
    configuration: {},
    credential_names: ['api_token'],
  };
  const asset = { record: account, credentials: { api_token: 'hunter2' } };
  accepted(await ensureAsset(asset, application.context, application));
  const given: PoolChanges = {
    provider_account: 'hcloud',
    architectures: ['amd64'],
    specifications: {
      provider_type: 'hetzner',
      server_type: 'cx32',
      image_name: 'debian-13',
      enable_ipv4: true,
      enable_ipv6: true,
      worker_install_source: 'release',
    },
    ...changes,
  };
  accepted(await ensurePool('spot', given, { dryRun: false }, application.context, application));
  accepted(await createScope('debian', application.context, application));
  accepted(await addScopeWorkerPool({ scope: 'debian', pool: 'spot' }, {}, application.context, application));
}

/** A pool of the provider account `cloud`, as it is written by hand; the rest of its fields have defaults. */
export const POOL_DOCUMENT = {
  provider_account: 'cloud',
  architectures: ['arm64'],
  specifications: {
    provider_type: 'hetzner',
    server_type: 'cax11',
    image_name: 'debian-12',
    location: 'fsn1',
    networks: [],
    ssh_keys: [],
  },
};

/** The answer, where the rules said yes. */
export function accepted<T extends object>(answer: T | Refusal): T {
  if (!isRefusal(answer)) return answer;
  throw new Error(answer.because);
}
