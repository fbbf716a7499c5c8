import type { Assets } from '../../commands/worker-pools/aggregates.ts';
import { accountOf, credentialsOf } from '../../commands/worker-pools/cloud-account.ts';
import type { AptRepository } from '../../domain/worker-pools/first-boot.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Cloud, CloudFailure, type OpenCloud } from '../../ports/clouds.ts';
import type { Secrets } from '../../ports/secrets.ts';

export type ProviderAccountDependencies = Readonly<{
  assets: Assets;
  secrets: Secrets;
  openCloud: OpenCloud;
  clock: Pick<Clock, 'monotonicMilliseconds'>;
}>;

/** How an account is called: its name, and the configuration of the run that it is called for, where that was kept. */
export type AccountOfRun = Readonly<{
  providerAccount: string;
  accountConfiguration?: Readonly<Record<string, unknown>>;
}>;

/** Opens an account, does the work with it and closes it. @throws CloudFailure, `bad-account` where the account can't be opened */
export type WithAccount = <T>(account: AccountOfRun, work: (cloud: Cloud) => Promise<T>) => Promise<T>;

/** Whose wish to be left alone is remembered. */
const ACCOUNTS_MAX = 10_000;

/** The accounts of one server's term. An account that wants to be left alone for a while is not called before that is over. */
export function openProviderAccounts({ assets, secrets, openCloud, clock }: ProviderAccountDependencies): WithAccount {
  const restsUntil = new BoundedMap<string, number>(ACCOUNTS_MAX);
  return async ({ providerAccount, accountConfiguration }, work) => {
    const rest = (restsUntil.get(providerAccount) ?? 0) - clock.monotonicMilliseconds();
    if (rest > 0) {
      const because = `provider account ${providerAccount} is left alone for ${Math.ceil(rest / 1000)} s, as its provider asks for`;
      throw new CloudFailure('throttled', because, { retryAfterMilliseconds: rest });
    }
    const account = await accountOf(providerAccount, assets, secrets);
    if ('problem' in account) throw new CloudFailure('bad-account', account.problem);
    const cloud = openCloud({ ...account, configuration: accountConfiguration ?? account.configuration });
    try {
      return await work(cloud);
    } catch (error) {
      if (error instanceof CloudFailure && error.retryAfterMilliseconds !== null) {
        restsUntil.set(providerAccount, clock.monotonicMilliseconds() + error.retryAfterMilliseconds);
      }
      throw error;
    } finally {
      await cloud.close();
    }
  };
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
