import { type OpenRouter, RouterFailure } from '../../ports/routers.ts';
import { BIRD_DRIVER } from './bird/bird.ts';
import { FILE_DRIVER } from './file/file-driver.ts';
import { FRR_DRIVER } from './frr/frr.ts';
import { JUNOS_DRIVER, OPENCONFIG_DRIVER } from './netconf/netconf.ts';
import type { RouterContext, RouterDriverKind } from './driver-kit/router-options.ts';

/** The drivers that ship, in the order in which help texts show them. */
export const ROUTER_DRIVERS: readonly RouterDriverKind[] = [
  FILE_DRIVER,
  FRR_DRIVER,
  BIRD_DRIVER,
  JUNOS_DRIVER,
  OPENCONFIG_DRIVER,
];

/** Opens routers by their driver's name. Opening checks the options; nothing is connected to before the first call. */
export function createOpenRouter(
  context: RouterContext,
  drivers: readonly RouterDriverKind[] = ROUTER_DRIVERS,
): OpenRouter {
  return (router) => {
    const kind = drivers.find(({ driver }) => driver === router.driver);
    if (kind !== undefined) return kind.open(router, context);
    const known = drivers.map(({ driver }) => driver).join(', ');
    throw new RouterFailure(
      'bad-option',
      `router ${router.name}: driver ${JSON.stringify(router.driver)} is unknown; the drivers are ${known}`,
    );
  };
}
