import type { CommandContext } from '../../commands/aggregate.ts';
import { assetDecider } from '../../commands/worker-pools/asset.ts';
import { accountOf, credentialsOf } from '../../commands/worker-pools/cloud-account.ts';
import type { GivenAsset } from '../../domain/worker-pools/documents.ts';
import type { AssetCategory, Credentials } from '../../events/worker-pools/asset-records.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { CloudFailure } from '../../ports/clouds.ts';
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

export type TestAssetDependencies = Pick<Application, 'assets' | 'secrets' | 'openCloud'>;

export type DeleteAssetDependencies = Pick<Application, 'assets' | 'secrets' | 'workers' | 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'workerPools' | 'workers'> }>;

export type ReadAssetsDependencies = Pick<Application, 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'assets'> }>;

/** So often others may be faster. */
const RACES_MAX = 5;
const REPLACED: Difference = { path: 'credentials', before: 'secret', after: 'another secret' };

/**
 * Makes an asset be as it is given. Credentials are stored before the event names them: a crash in between leaves an unused
 * secret, never an event without its secret. Equal credentials are not stored again.
 */
export async function ensureAsset(
  given: GivenAsset,
  context: CommandContext,
  dependencies: EnsureAssetDependencies,
): Promise<Refusal | AssetChanged> {
  for (let race = 1; ; race += 1) {
    const answer = await ensureOnce(given, context, dependencies);
    if (!isRefusal(answer) || answer.refused !== 'revision-differs' || race === RACES_MAX) return answer;
  }
}

/** On the asset as it was looked at: of one that was given other credentials meanwhile the old ones are gone, and can not be gone back to. */
async function ensureOnce(
  { record, credentials }: GivenAsset,
  context: CommandContext,
  { assets, secrets, ids }: EnsureAssetDependencies,
): Promise<Refusal | AssetChanged> {
  const { state, revision } = await assets.state(record.name);
  const known = state.secretId ?? null;
  const text = canonicalJson(credentials);
  const hasCredentials = Object.keys(credentials).length > 0;
  const isKnown = hasCredentials ? known !== null && (await secrets.get(known)) === text : known === null;
  const secretId = isKnown ? known : hasCredentials ? `asset-${record.name}-${ids.uuid()}` : null;
  const command = { type: 'EnsureAsset', data: { record, secretId } } as const;
  const foreseen = assetDecider.decide(command, state);
  if (isRefusal(foreseen)) return foreseen;
  if (!isKnown && secretId !== null) await secrets.put(secretId, text);
  const answer = await assets.handle(record.name, command, context, revision);
  if (isRefusal(answer)) {
    if (!isKnown && secretId !== null) await secrets.remove(secretId);
    return answer;
  }
  if (!isKnown && known !== null) await secrets.remove(known);
  const isReplaced = answer.events.some(({ type }) => type === 'AssetCredentialsReplaced');
  return {
    created: state.record === undefined,
    differences: [...differences(state.record ?? {}, answer.state.record ?? {}), ...(isReplaced ? [REPLACED] : [])],
    notes: [],
  };
}

/** An asset as it is written by hand, its category beside it. Its credentials are in it: it is for what checks it, and for no answer. */
export type AssetDocument = Readonly<{
  category: AssetCategory;
  document: Readonly<{ name: string; configuration: unknown; provider_type?: string; credentials?: Credentials }>;
}>;

/** The asset as it is, for a change of what is named alone. @throws when its credentials are not in the secret store */
export async function assetDocument(
  name: string,
  { assets, secrets }: Pick<Application, 'assets' | 'secrets'>,
): Promise<Refusal | AssetDocument> {
  const { record, secretId } = (await assets.state(name)).state;
  if (record === undefined) return assetNotFound(name);
  const { category, configuration } = record;
  const credentials = await credentialsOf(secretId, secrets);
  if (credentials === undefined) throw new Error(`the credentials of asset ${name} are not in the secret store`);
  const document = {
    name,
    configuration,
    ...(category === 'cloud-provider-account' ? { provider_type: record.provider_type } : {}),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
  return { category, document };
}

/** Whether there is an asset of this name, and how far its stream is. */
export async function assetRevision(
  name: string,
  { assets }: Pick<Application, 'assets'>,
): Promise<Readonly<{ isThere: boolean; revision: bigint }>> {
  const { state, revision } = await assets.state(name);
  return { isThere: state.record !== undefined, revision };
}

/** Asks the provider whether an account works; nothing is changed there. What the provider says no to is an answer, not an error. */
export async function testAsset(
  name: string,
  signal: AbortSignal,
  { assets, secrets, openCloud }: TestAssetDependencies,
): Promise<Refusal | Readonly<{ works: true } | { works: false; code: string; because: string }>> {
  const { record } = (await assets.state(name)).state;
  if (record === undefined) return assetNotFound(name);
  if (record.category !== 'cloud-provider-account')
    return refuse(
      'not-a-provider-account',
      `${name} is an asset of category ${record.category}: it has no provider to ask.`,
      'name',
    );
  const account = await accountOf(name, assets, secrets);
  if ('problem' in account) return { works: false, code: 'bad-account', because: account.problem };
  try {
    const cloud = openCloud(account);
    try {
      await cloud.check(signal);
    } finally {
      await cloud.close();
    }
    return { works: true };
  } catch (error) {
    if (!(error instanceof CloudFailure)) throw error;
    return { works: false, code: error.code, because: error.message };
  }
}

/** Deletes an asset that nothing uses, and its credentials. An instance is ended with the account that created it, whatever its pool names by then. */
export async function deleteAsset(
  name: string,
  context: CommandContext,
  dependencies: DeleteAssetDependencies,
): Promise<Refusal | Readonly<{ name: string }>> {
  const { assets, secrets } = dependencies;
  const { secretId } = (await assets.state(name)).state;
  const usedBy = await usesOf(name, dependencies);
  const answer = await assets.handle(name, { type: 'DeleteAsset', data: { usedBy } }, context);
  if (isRefusal(answer)) return answer.refused === 'asset-not-found' ? assetNotFound(name) : answer;
  if (secretId !== undefined && secretId !== null) await secrets.remove(secretId);
  return { name };
}

async function usesOf(name: string, { catchUp, views, workers }: DeleteAssetDependencies): Promise<readonly string[]> {
  await catchUp();
  const pools = (await views.workerPools.list()).flatMap(({ view: { record } }) =>
    record.provider_account === name || record.apt_authentication === name ? [`worker pool ${record.name}`] : [],
  );
  const running: string[] = [];
  for (const { view } of await views.workers.list()) {
    if (view.phase === 'stopped') continue;
    const { instance } = (await workers.state(view.worker)).state;
    if (instance?.providerAccount === name) running.push(`worker ${view.worker}`);
  }
  return [...pools, ...running];
}

function assetNotFound(name: string): Refusal {
  return refuse('not-found', `asset ${name} not found.`, 'name');
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
  return (await views.assets.get(name)) ?? assetNotFound(name);
}
