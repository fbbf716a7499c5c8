import type { CloudAccount } from '../../ports/clouds.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Assets } from './aggregates.ts';

/** A provider account with its credentials, or what is wrong with it. */
export async function accountOf(
  name: string,
  assets: Assets,
  secrets: Secrets,
): Promise<CloudAccount | Readonly<{ problem: string }>> {
  const { record, secretId } = (await assets.state(name)).state;
  if (record?.category !== 'cloud-provider-account') return { problem: `provider account ${name} does not exist` };
  const credentials = await credentialsOf(secretId, secrets);
  if (credentials === undefined)
    return { problem: `the credentials of provider account ${name} are not in the secret store` };
  return { name, providerType: record.provider_type, configuration: record.configuration, credentials };
}

/** The credentials of an asset by their names, none where it has none; undefined where they are not in the secret store. */
export async function credentialsOf(
  secretId: string | null | undefined,
  secrets: Secrets,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (secretId === null || secretId === undefined) return {};
  const text = await secrets.get(secretId);
  // It was checked to be texts by name before it was stored.
  return text === undefined ? undefined : (JSON.parse(text) as Readonly<Record<string, string>>);
}
