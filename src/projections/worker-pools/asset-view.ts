import type { AssetRecord } from '../../events/worker-pools/asset-records.ts';
import { type AssetEvent, assetEvents } from '../../events/worker-pools/asset.ts';
import type { Projection } from '../../kernel/projection.ts';

/** The public part of an asset: which credentials it has, and none of them. */
export type AssetView = Readonly<{
  category: AssetRecord['category'];
  name: string;
  providerType: string | null;
  configuration: Readonly<Record<string, unknown>>;
  credentialNames: readonly string[];
  createdAt: string;
}>;

/** Assets by name. */
export const assetProjection: Projection<AssetEvent, AssetView> = {
  name: 'assets',
  version: 1,
  handles: assetEvents.map(({ type }) => type),
  keysOf: ({ data }) => [data.asset],
  evolve: (view, event) => {
    if (event.type === 'AssetCreated') {
      const { record } = event.data;
      const { category, name, configuration, credential_names: credentialNames } = record;
      const providerType = record.category === 'cloud-provider-account' ? record.provider_type : null;
      return { category, name, providerType, configuration, credentialNames, createdAt: event.metadata.at };
    }
    if (view === undefined || event.type === 'AssetDeleted') return undefined;
    if (event.type === 'AssetConfigured') return { ...view, configuration: event.data.configuration };
    return { ...view, credentialNames: event.data.credentialNames };
  },
};
