import type { Clock } from '../ports/clock.ts';
import type { RouterDriver } from '../ports/routers.ts';
import type { RouterDrivers } from './router-drivers.ts';

/** Drivers that remember when their routers last did what they were asked, since this process began. */
export type SeenRouters = Readonly<{
  drivers: RouterDrivers;
  /** By the wall clock, in milliseconds since 1970; undefined when it has not done anything yet. */
  lastSeen: (regionId: number, router: string) => number | undefined;
}>;

/** Every call that a router has answered as it should counts: a look without a difference leaves no other trace. */
export function seeRouters(drivers: RouterDrivers, clock: Pick<Clock, 'now'>): SeenRouters {
  const seen = new Map<string, number>();
  return {
    drivers: {
      ...drivers,
      driverOf: (regionId, router) => {
        const note = (): void => void seen.set(`${regionId}/${router.name}`, clock.now().epochMilliseconds);
        return noting(drivers.driverOf(regionId, router), note);
      },
    },
    lastSeen: (regionId, router) => seen.get(`${regionId}/${router}`),
  };
}

function noting(driver: RouterDriver, note: () => void): RouterDriver {
  const { prepare, save } = driver;
  const noted = async <T>(call: Promise<T>): Promise<T> => {
    const answer = await call;
    note();
    return answer;
  };
  return {
    ...driver,
    read: (...call) => noted(driver.read(...call)),
    replace: (...call) => noted(driver.replace(...call)),
    remove: (...call) => noted(driver.remove(...call)),
    lists: (...call) => noted(driver.lists(...call)),
    check: (...call) => noted(driver.check(...call)),
    ...(save === undefined ? {} : { save: (...call) => noted(save(...call)) }),
    ...(prepare === undefined ? {} : { prepare: (...call) => noted(prepare(...call)) }),
  };
}
