import type { WorkerPoolHouse } from './worker-pool-application.ts';
import { addScopeWorkerPool } from '../../src/commands/worker-pools/scope-membership.ts';
import { assetFacts } from '../../src/commands/worker-pools/asset-facts.ts';
import { keepAsset } from '../../src/commands/worker-pools/keep-asset.ts';
import { isRefusal, type Refusal } from '../../src/kernel/decider.ts';
import type { AssetRecord } from '../../src/events/worker-pools/asset-records.ts';
import type { PoolChanges } from '../../src/events/worker-pools/pool-record.ts';

type Founding = Pick<WorkerPoolHouse, 'workerPools' | 'scopes' | 'assets' | 'secrets' | 'ids' | 'context'>;

/** A provider account, a pool `spot` of it and a scope `debian` that uses the pool. */
export async function foundPool(application: Founding, changes: PoolChanges = {}): Promise<void> {
  const account: AssetRecord = {
    category: 'cloud-provider-account',
    name: 'hcloud',
    provider_type: 'hetzner',
    configuration: {},
    credential_names: ['api_token'],
  };
  accepted(await keepAsset(account, { api_token: 'hunter2' }, application.context, application));
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
  const assets = await assetFacts(application.assets, undefined, given);
  const command = { type: 'EnsureWorkerPool', data: { pool: 'spot', given, assets } } as const;
  accepted(await application.workerPools.handle('spot', command, application.context));
  const scope = { type: 'CreateScope', data: { scope: 'debian' } } as const;
  accepted(await application.scopes.handle('debian', scope, application.context));
  accepted(await addScopeWorkerPool({ scope: 'debian', pool: 'spot' }, {}, application.context, application));
}

/** The answer, where the rules said yes. */
export function accepted<T extends object>(answer: T | Refusal): T {
  if (!isRefusal(answer)) return answer;
  throw new Error(answer.because);
}
