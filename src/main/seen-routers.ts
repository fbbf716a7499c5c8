import type { LookUpSeen, SeenRouter } from '../http/operations/router-metrics.ts';
import {
  keepRouterSightings,
  readRouterSightings,
  type RouterSightings,
  sightingKey,
} from '../application/ip-control/router-sightings.ts';
import { epochMilliseconds } from '../domain/instants.ts';
import type { Clock } from '../ports/clock.ts';
import { type RouterDriver, RouterFailure, type RouterFailureCode, type RouterSettings } from '../ports/routers.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { RouterDrivers } from './router-drivers.ts';

/** Drivers that remember how their routers answered. */
export type SeenRouters = Readonly<{
  drivers: RouterDrivers;
  seen: LookUpSeen;
  /**
   * What was seen by then says nothing any more: others have led since. Takes over what the last of them has kept: a router that could not be
   * reached stays so until it is asked again.
   */
  takeOver: () => Promise<void>;
  /** Has what was seen kept for commands, the last of it too. */
  stop: () => Promise<void>;
}>;

/** Hears of each change of a list: `outcome` is `success` or the code of the failure. */
export type PushEnded = (regionId: number, router: RouterSettings, outcome: string, seconds: number) => void;

/** With these nothing came of asking; with all others the router has answered. */
const OUT_OF_REACH: ReadonlySet<RouterFailureCode> = new Set([
  'bad-option',
  'unreachable',
  'host-key-mismatch',
  'login-refused',
  'timed-out',
]);

/** Every call that a router has answered as it should counts: a look without a difference leaves no other trace. */
export function seeRouters(
  drivers: RouterDrivers,
  pushEnded: PushEnded,
  { readModels, clock, log }: Readonly<{ readModels: ReadModels; clock: Clock; log: Log }>,
): SeenRouters {
  const seen = new Map<string, SeenRouter>();
  let kept: RouterSightings = new Map();
  const sightings = keepRouterSightings(readModels, { clock, log });
  return {
    drivers: {
      ...drivers,
      driverOf: (regionId, router) => {
        const key = sightingKey(regionId, router.name);
        const note = (now: SeenRouter): void => {
          seen.set(key, now);
          sightings.note(sightingKey(regionId, router.name), now);
        };
        const answered = (): void => note({ seenAt: clock.now().epochMilliseconds, isReachable: true });
        const failed = (error: unknown): void => {
          if (!(error instanceof RouterFailure)) return;
          note({ seenAt: seen.get(key)?.seenAt ?? seenAtOf(kept, key), isReachable: !OUT_OF_REACH.has(error.code) });
        };
        const pushed = async (call: Promise<void>): Promise<void> => {
          const began = clock.monotonicMilliseconds();
          const outcome = await call.then(
            () => 'success',
            (error: unknown) => (error instanceof RouterFailure ? error.code : 'failed'),
          );
          pushEnded(regionId, router, outcome, (clock.monotonicMilliseconds() - began) / 1000);
          return call;
        };
        return noting(
          openedOr(() => drivers.driverOf(regionId, router), failed),
          { answered, failed, pushed },
        );
      },
    },
    seen: (regionId, router) => {
      const key = sightingKey(regionId, router);
      // What answered before is to answer again before it counts.
      const isOut = kept.get(key)?.isReachable === false;
      return seen.get(key) ?? (isOut ? { seenAt: seenAtOf(kept, key), isReachable: false } : undefined);
    },
    takeOver: async () => {
      seen.clear();
      kept = new Map();
      try {
        kept = await readRouterSightings(readModels);
      } catch (error) {
        log.warn({ error }, 'what was seen of routers before could not be read');
      }
    },
    stop: sightings.stop,
  };
}

function seenAtOf(kept: RouterSightings, key: string): number | undefined {
  const seenAt = kept.get(key)?.seenAt ?? undefined;
  return seenAt === undefined ? undefined : epochMilliseconds(seenAt);
}

/** A driver that can't be opened, as an option of it is wrong, tells as much as one that fails. */
function openedOr(open: () => RouterDriver, failed: (error: unknown) => void): RouterDriver {
  try {
    return open();
  } catch (error) {
    failed(error);
    throw error;
  }
}

type Notes = Readonly<{
  answered: () => void;
  failed: (error: unknown) => void;
  pushed: (call: Promise<void>) => Promise<void>;
}>;

function noting(driver: RouterDriver, { answered, failed, pushed }: Notes): RouterDriver {
  const { prepare, save, text } = driver;
  const noted = async <T>(call: Promise<T>): Promise<T> => {
    try {
      const answer = await call;
      answered();
      return answer;
    } catch (error) {
      failed(error);
      throw error;
    }
  };
  return {
    ...driver,
    read: (...call) => noted(driver.read(...call)),
    replace: (...call) => pushed(noted(driver.replace(...call))),
    remove: (...call) => pushed(noted(driver.remove(...call))),
    lists: (...call) => noted(driver.lists(...call)),
    check: (...call) => noted(driver.check(...call)),
    ...(text === undefined
      ? {}
      : {
          text: {
            read: (...call) => noted(text.read(...call)),
            replace: (...call) => pushed(noted(text.replace(...call))),
          },
        }),
    ...(save === undefined ? {} : { save: (...call) => noted(save(...call)) }),
    ...(prepare === undefined ? {} : { prepare: (...call) => noted(prepare(...call)) }),
  };
}
