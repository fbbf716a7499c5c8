import type { CommandContext } from '../../commands/aggregate.ts';
import { assetDecider } from '../../commands/worker-pools/asset.ts';
import type { GivenAsset } from '../../domain/worker-pools/documents.ts';
import type { AssetRecord } from '../../events/worker-pools/asset-records.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { AssetView } from '../../projections/worker-pools/asset-view.ts';
import type { Application } from '../application.ts';
import { type Difference, differences } from './difference.ts';

/** What came of making an asset be as it is given; no secret is in it. `notes`: what an administrator should know though it is accepted. */
export type AssetChanged = Readonly<{
  created: boolean;
  differences: readonly Difference[];
  notes: readonly string[];
}>;

export type EnsureAssetDependencies = Pick<Application, 'assets' | 'secrets' | 'ids'>;

export type ReadAssetsDependencies = Pick<Application, 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'assets'> }>;

/** What drivers log in with. Other names are kept as they are; a driver says what it misses. */
const EXPECTED_CREDENTIALS = { aws: ['access_key_id', 'secret_access_key'], hetzner: ['api_token'] } as const;

const REPLACED: Difference = { path: 'credentials', before: 'secret', after: 'another secret' };

/**
 * Makes an asset be as it is given. Credentials are stored before the event names them: a crash in between leaves an unused
 * secret, never an event without its secret. Equal credentials are not stored again.
 */
export async function ensureAsset(
  { record, credentials }: GivenAsset,
  context: CommandContext,
  { assets, secrets, ids }: EnsureAssetDependencies,
): Promise<Refusal | AssetChanged> {
  const { state } = await assets.state(record.name);
  const known = state.secretId ?? null;
  const text = canonicalJson(credentials);
  const hasCredentials = Object.keys(credentials).length > 0;
  const isKnown = hasCredentials ? known !== null && (await secrets.get(known)) === text : known === null;
  const secretId = isKnown ? known : hasCredentials ? `asset-${record.name}-${ids.uuid()}` : null;
  const command = { type: 'EnsureAsset', data: { record, secretId } } as const;
  const foreseen = assetDecider.decide(command, state);
  if (isRefusal(foreseen)) return foreseen;
  if (!isKnown && secretId !== null) await secrets.put(secretId, text);
  const answer = await assets.handle(record.name, command, context);
  if (isRefusal(answer)) return answer;
  if (!isKnown && known !== null) await secrets.remove(known);
  const isReplaced = answer.events.some(({ type }) => type === 'AssetCredentialsReplaced');
  return {
    created: state.record === undefined,
    differences: [...differences(state.record ?? {}, answer.state.record ?? {}), ...(isReplaced ? [REPLACED] : [])],
    notes: assetNotes(record),
  };
}

/** All assets without their secrets, by name. */
export async function listAssets({ catchUp, views }: ReadAssetsDependencies): Promise<readonly AssetView[]> {
  await catchUp();
  return (await views.assets.list()).map(({ view }) => view);
}

/** One asset without its secrets. */
export async function showAsset(
  name: string,
  { catchUp, views }: ReadAssetsDependencies,
): Promise<Refusal | AssetView> {
  await catchUp();
  return (await views.assets.get(name)) ?? refuse('not-found', `asset ${name} not found.`, 'name');
}

function assetNotes(record: AssetRecord): readonly string[] {
  if (record.category !== 'cloud-provider-account') return [];
  const missing = EXPECTED_CREDENTIALS[record.provider_type].filter((name) => !record.credential_names.includes(name));
  return missing.length === 0
    ? []
    : [`an account at ${record.provider_type} logs in with ${missing.join(' and ')}, which is not there`];
}
