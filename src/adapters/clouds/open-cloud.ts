import { type CloudAccount, CloudFailure, type OpenCloud } from '../../ports/clouds.ts';

/** Drivers by provider type. */
export type CloudDrivers = Readonly<Partial<Record<CloudAccount['providerType'], OpenCloud>>>;

/** Opens each account with the driver of its provider. @throws CloudFailure `no-driver` */
export function createOpenCloud(drivers: CloudDrivers): OpenCloud {
  return (account) => {
    const open = drivers[account.providerType];
    if (open !== undefined) return open(account);
    const because = `this edgeward has no driver for provider ${account.providerType}: it can not create or end its instances`;
    throw new CloudFailure('no-driver', because);
  };
}
