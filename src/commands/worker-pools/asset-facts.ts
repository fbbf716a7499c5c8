import type { PoolChanges, PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { Assets } from './aggregates.ts';
import type { AssetFacts } from './worker-pool.ts';

/** What a pool has to know of the assets that it names, now or after a change. Assets that do not exist are left out. */
export async function assetFacts(
  assets: Assets,
  record: PoolRecord | undefined,
  given: PoolChanges,
): Promise<readonly AssetFacts[]> {
  const named = [
    record?.provider_account,
    record?.apt_authentication,
    given.provider_account,
    given.apt_authentication,
  ];
  const names = new Set(named.filter((name) => typeof name === 'string'));
  const states = await Promise.all([...names].map((name) => assets.state(name)));
  return states.flatMap(({ state }): readonly AssetFacts[] => {
    if (state.record === undefined) return [];
    const { name, category } = state.record;
    return [{ name, category, providerType: 'provider_type' in state.record ? state.record.provider_type : null }];
  });
}
