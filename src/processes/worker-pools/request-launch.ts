import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Assets, WorkerPools, Workers } from '../../commands/worker-pools/aggregates.ts';
import { workerToken } from '../../domain/worker-pools/worker-token.ts';
import { firstBootUserData } from '../../domain/worker-pools/first-boot.ts';
import type { WorkersUrl } from '../../domain/worker-pools/workers-url.ts';
import type { LaunchRequest } from '../../events/worker-pools/worker-pool.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Clock } from '../../ports/clock.ts';
import { type CloudDriver, CloudFailure } from '../../ports/clouds.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { repositoryOf } from './provider-accounts.ts';

export type RequestLaunchDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  assets: Assets;
  secrets: Secrets;
  clock: Clock;
  ids: Ids;
  cloudDrivers: readonly Pick<CloudDriver, 'providerType' | 'firstBoots' | 'userDataBytesMax'>[];
  /** Unless the account's configuration says `server_url`. */
  workersUrl: WorkersUrl;
}>;

type Requested = Readonly<{ worker: string; pool: string; run: string; because: string }>;

type Failure = Readonly<{ code: string; because: string }>;

const TOKEN_BYTES = 32;

/**
 * Registers the worker of a reserved place and freezes what the provider will be asked for: the request is that of the reservation, and the
 * user data are kept as they are rendered now, so that every try sends the same bytes. They are stored before the event knows the token's
 * hash: what a crash leaves is a token for no worker.
 */
export async function requestLaunch(
  { worker, pool, run, because }: Requested,
  context: CommandContext,
  dependencies: RequestLaunchDependencies,
): Promise<void> {
  const { workerPools, workers, assets, secrets, clock, ids } = dependencies;
  const { record, slots } = (await workerPools.state(pool)).state;
  const request = slots.find((slot) => slot.run === run)?.request ?? record;
  // Deleted by force in between: the next state owes the release.
  if (request === undefined || record === undefined) return;
  if ((await workers.state(worker)).state.lastRun === run) return;
  const { architectures, provider_account: providerAccount } = request;
  const registration = { worker, pool, architectures, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RegisterWorker', data: registration }, context));
  const token = workerToken(worker, Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url'));
  const activationSha256 = createHash('sha256').update(token).digest('hex');
  const account = (await assets.state(providerAccount)).state.record;
  const accountConfiguration = account?.category === 'cloud-provider-account' ? account.configuration : {};
  const userData = await userDataOf(worker, token, request, accountConfiguration, dependencies);
  if (!('code' in userData)) await secrets.put(activationSecretId(run), JSON.stringify(userData));
  const { ephemeral } = request;
  const asked = { run, providerAccount, accountConfiguration, architectures, ephemeral, activationSha256, because };
  accept(await workers.handle(worker, { type: 'RequestLaunch', data: { ...asked, at: clock.nowText() } }, context));
  if (!('code' in userData)) return;
  const failed = { run, ...userData, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RecordLaunchFailed', data: failed }, context));
}

async function userDataOf(
  worker: string,
  activationToken: string,
  { specifications, ephemeral, apt_authentication, exec }: LaunchRequest,
  accountConfiguration: Readonly<Record<string, unknown>>,
  { assets, secrets, workersUrl, cloudDrivers }: RequestLaunchDependencies,
): Promise<readonly string[] | Failure> {
  const apt = await repositoryOf(apt_authentication, assets, secrets);
  if (apt !== null && 'problem' in apt) return { code: 'bad-apt-authentication', because: apt.problem };
  const { server_url: ownUrl } = accountConfiguration;
  const found: WorkersUrl = typeof ownUrl === 'string' ? { url: ownUrl } : workersUrl;
  if ('problem' in found) return { code: 'no-public-url', because: found.problem };
  const driver = cloudDrivers.find(({ providerType }) => providerType === specifications.provider_type);
  if (driver === undefined) {
    return { code: 'no-driver', because: `this edgeward has no driver for provider ${specifications.provider_type}` };
  }
  try {
    const rendered = firstBootUserData({
      worker,
      serverUrl: found.url,
      activationToken,
      ephemeral,
      exec: exec ?? null,
      specifications,
      apt,
      variants: driver.firstBoots(specifications),
      bytesMax: driver.userDataBytesMax,
    });
    return rendered.ok ? rendered.texts : { code: rendered.code, because: rendered.because };
  } catch (error) {
    if (error instanceof CloudFailure) return { code: error.code, because: error.message };
    throw error;
  }
}

function accept(answer: Refusal | object): void {
  if (isRefusal(answer)) throw new Error(answer.because);
}
