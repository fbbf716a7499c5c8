import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { AssetRecord, Credentials } from '../../events/worker-pools/asset-records.ts';
import type { AssetEvent } from '../../events/worker-pools/asset.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { CommandContext, Handled } from '../handle.ts';
import type { Assets } from './aggregates.ts';
import { type AssetState, assetDecider } from './asset.ts';

export type KeepAssetDependencies = Readonly<{ assets: Assets; secrets: Secrets; ids: Ids }>;

/**
 * Makes an asset be as it is given. Credentials are stored before the event names them: a crash in between leaves an unused
 * secret, never an event without its secret. Equal credentials are not stored again.
 */
export async function keepAsset(
  record: AssetRecord,
  credentials: Credentials,
  context: CommandContext,
  { assets, secrets, ids }: KeepAssetDependencies,
): Promise<Refusal | Handled<AssetState, AssetEvent>> {
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
  const isReplaced = !isRefusal(answer) && !isKnown && known !== null;
  if (isReplaced) await secrets.remove(known);
  return answer;
}
