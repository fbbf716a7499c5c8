import type { OpenRouter, RouterDriver, RouterSettings } from '../ports/routers.ts';

/** Keeps one open driver for each router, so that its changes come one after another and its session is used again. */
export type RouterDrivers = Readonly<{
  driverOf: (regionId: number, router: RouterSettings) => RouterDriver;
  close: () => Promise<void>;
}>;

export function openRouterDrivers(openRouter: OpenRouter): RouterDrivers {
  const open = new Map<string, Readonly<{ settings: string; driver: RouterDriver }>>();
  return {
    driverOf: (regionId, router) => {
      const key = `${regionId}/${router.name}`;
      const settings = JSON.stringify([router.driver, router.options]);
      const known = open.get(key);
      if (known?.settings === settings) return known.driver;
      const driver = openRouter(router);
      open.set(key, { settings, driver });
      // The router was configured again: what runs on the old one ends by itself, as a driver closes only when it is idle.
      void known?.driver.close();
      return driver;
    },
    close: async () => {
      await Promise.all([...open.values()].map(({ driver }) => driver.close()));
    },
  };
}
