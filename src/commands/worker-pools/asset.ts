import { type Command, type Decider, type Decision, refuse } from '../../kernel/decider.ts';
import type { AssetRecord } from '../../events/worker-pools/asset-records.ts';
import { type AssetEvent, assetEvents } from '../../events/worker-pools/asset.ts';
import { sameJson } from './same-json.ts';

/** Plain JSON, so that it is its own snapshot. */
export type AssetState = Readonly<{ record?: AssetRecord; secretId?: string | null }>;

export type AssetCommand =
  /** The asset is to exist with this public part. `secretId`: where its credentials are; an asset that has the same ones keeps its id. */
  | Command<'EnsureAsset', { record: AssetRecord; secretId: string | null }>
  /** `usedBy`: pools that name it and workers whose instances were created with it, as they are to be told. */
  | Command<'DeleteAsset', { usedBy: readonly string[] }>;

/** The rules of one asset: its category and provider never change, since pools rely on them. */
export const assetDecider = {
  category: 'asset',
  handles: assetEvents.map(({ type }) => type),
  initial: {} as AssetState,
  evolve,
  decide,
} as const satisfies Decider<AssetCommand, AssetState, AssetEvent> &
  Readonly<{ handles: readonly AssetEvent['type'][] }>;

function evolve(state: AssetState, event: AssetEvent): AssetState {
  if (event.type === 'AssetCreated') return { record: event.data.record, secretId: event.data.secretId };
  if (event.type === 'AssetDeleted') return {};
  const { record } = state;
  if (record === undefined) return state;
  if (event.type === 'AssetConfigured') {
    // The configuration was checked against the record's category when it came in.
    return { ...state, record: { ...record, configuration: event.data.configuration } as AssetRecord };
  }
  const { secretId, credentialNames } = event.data;
  return { record: { ...record, credential_names: credentialNames }, secretId };
}

function decide(command: AssetCommand, state: AssetState): Decision<AssetEvent> {
  return command.type === 'DeleteAsset' ? remove(command.data.usedBy, state) : ensure(command, state);
}

function remove(usedBy: readonly string[], { record }: AssetState): Decision<AssetEvent> {
  if (record === undefined) return refuse('asset-not-found', 'asset not found.', 'name');
  if (usedBy.length > 0) return refuse('asset-in-use', `asset ${record.name} is used by ${usedBy.join(', ')}.`, 'name');
  return [{ type: 'AssetDeleted', data: { asset: record.name } }];
}

function ensure(
  command: Extract<AssetCommand, { type: 'EnsureAsset' }>,
  { record, secretId }: AssetState,
): Decision<AssetEvent> {
  const { record: wanted, secretId: wantedSecret } = command.data;
  const asset = wanted.name;
  if (record === undefined) return [{ type: 'AssetCreated', data: { asset, record: wanted, secretId: wantedSecret } }];
  if (record.category !== wanted.category) {
    return refuse('asset-name-taken', `${asset} is an asset of category ${record.category} already.`, 'name');
  }
  if (providerOf(record) !== providerOf(wanted)) {
    const was = providerOf(record) ?? '';
    return refuse(
      'provider-type-in-use',
      `${asset} is an account at ${was}; its provider_type can not change.`,
      'provider_type',
    );
  }
  const configured: readonly AssetEvent[] = sameJson(record.configuration, wanted.configuration)
    ? []
    : [{ type: 'AssetConfigured', data: { asset, configuration: wanted.configuration } }];
  const replaced: readonly AssetEvent[] =
    secretId === wantedSecret
      ? []
      : [
          {
            type: 'AssetCredentialsReplaced',
            data: { asset, secretId: wantedSecret, credentialNames: wanted.credential_names },
          },
        ];
  return [...configured, ...replaced];
}

function providerOf(record: AssetRecord): string | undefined {
  return record.category === 'cloud-provider-account' ? record.provider_type : undefined;
}
