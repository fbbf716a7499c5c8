import type { Assets } from '../../commands/worker-pools/aggregates.ts';
import type { CloudAccount } from '../../ports/clouds.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { AptRepository } from './first-boot.ts';

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

/** The repository of an apt-authentication asset with its credentials, or what is wrong with it. */
export async function repositoryOf(
  name: string | null,
  assets: Assets,
  secrets: Secrets,
): Promise<AptRepository | null | Readonly<{ problem: string }>> {
  if (name === null) return null;
  const { record, secretId } = (await assets.state(name)).state;
  if (record?.category !== 'apt-authentication') return { problem: `apt authentication ${name} does not exist` };
  const { configuration } = record;
  if (secretId === null || secretId === undefined) return { configuration, credentials: null };
  const { username, password } = (await credentialsOf(secretId, secrets)) ?? {};
  if (username === undefined || password === undefined) {
    return { problem: `the credentials of apt authentication ${name} are not in the secret store` };
  }
  return { configuration, credentials: { username, password } };
}

async function credentialsOf(
  secretId: string | null | undefined,
  secrets: Secrets,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (secretId === null || secretId === undefined) return {};
  const text = await secrets.get(secretId);
  // It was checked to be texts by name before it was stored.
  return text === undefined ? undefined : (JSON.parse(text) as Readonly<Record<string, string>>);
}
