import { Semaphore, stopOf } from '../../concurrency/semaphore.ts';
import { type Cloud, type CloudDriver, CloudFailure, type OpenCloud } from '../../ports/clouds.ts';
import { AWS_DRIVER } from './aws/aws.ts';
import { HETZNER_DRIVER } from './hetzner/hetzner.ts';

/** The drivers that ship, in the order in which messages name them. Nothing else knows a provider's name. */
export const CLOUD_DRIVERS: readonly CloudDriver[] = [AWS_DRIVER, HETZNER_DRIVER];

/** Milliseconds within which each call of a `Cloud` has ended, its wait for a turn included. */
export type CallBounds = Readonly<Record<Exclude<keyof Cloud, 'close'>, number>>;

/** A creation may wait for the provider's own actions; the others are a few requests. */
const BOUNDS: CallBounds = {
  create: 300_000,
  terminate: 60_000,
  list: 120_000,
  inspect: 60_000,
  removeLeftovers: 300_000,
  check: 60_000,
};
/** Under way at the same moment in one account: providers count an account's requests together. */
const CALLS_OF_ACCOUNT_MAX = 4;
const WAITING_MAX = 10_000;

/** Opens each account with the driver of its provider. @throws CloudFailure `no-driver`, `bad-account` */
export function createOpenCloud(
  drivers: readonly CloudDriver[] = CLOUD_DRIVERS,
  bounds: CallBounds = BOUNDS,
): OpenCloud {
  const lanes = new Map<string, Semaphore>();
  return (account) => {
    const { name, providerType } = account;
    const driver = drivers.find((other) => other.providerType === providerType);
    if (driver === undefined) {
      const because = `this edgeward has no driver for provider ${providerType}: it can not create or end its instances`;
      throw new CloudFailure('no-driver', because);
    }
    const cloud = driver.open(account);
    const lane = lanes.get(name) ?? new Semaphore(CALLS_OF_ACCOUNT_MAX, WAITING_MAX);
    lanes.set(name, lane);
    return inLane(name, cloud, lane, bounds);
  };
}

/** Each call in its turn and within its bound. */
function inLane(name: string, cloud: Cloud, lane: Semaphore, bounds: CallBounds): Cloud {
  const take = async <T>(
    within: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const limit = AbortSignal.timeout(within);
    const either = AbortSignal.any([signal, limit]);
    try {
      await lane.enter(stopOf(either));
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      const because = `account ${name} has ${CALLS_OF_ACCOUNT_MAX} calls under way that do not end: this one was not made`;
      throw new CloudFailure('throttled', because, { cause });
    }
    try {
      return await work(either);
    } catch (error) {
      if (!limit.aborted || signal.aborted || error instanceof CloudFailure) throw error;
      throw new CloudFailure('timed-out', `account ${name}: not done within ${within / 1000} s`, { cause: error });
    } finally {
      lane.leave();
    }
  };
  return {
    create: (request, signal) => take(bounds.create, signal, (either) => cloud.create(request, either)),
    terminate: (data, signal) => take(bounds.terminate, signal, (either) => cloud.terminate(data, either)),
    list: (installation, signal) => take(bounds.list, signal, (either) => cloud.list(installation, either)),
    inspect: (data, signal) => take(bounds.inspect, signal, (either) => cloud.inspect(data, either)),
    removeLeftovers: (installation, isOver, signal) =>
      take(bounds.removeLeftovers, signal, (either) => cloud.removeLeftovers(installation, isOver, either)),
    check: (signal) => take(bounds.check, signal, (either) => cloud.check(either)),
    close: cloud.close,
  };
}
