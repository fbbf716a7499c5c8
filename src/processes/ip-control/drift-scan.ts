import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { Log } from '../../ports/log.ts';
import { reconcileRouter, type ReconcileDependencies } from './pushing/reconcile-router.ts';

export type DriftRoundsDependencies = ReconcileDependencies &
  Readonly<{
    /** From the end of one round to the start of the next, give or take a quarter. Zero: there are none. */
    everyMilliseconds: number;
    /** Regions whose routers are looked at at the same moment, and routers in each: one that hangs takes places of its own region alone. */
    regionsAtOnce: number;
    routersAtOnce: number;
    /** A number from 0 up to 1. */
    random: () => number;
  }>;

/** Looks at all routers, round after round, until `stop` aborts; `abort` breaks off a round that is under way. */
export async function runDriftScans(
  dependencies: DriftRoundsDependencies,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { everyMilliseconds, clock, log, random } = dependencies;
  if (everyMilliseconds === 0) return;
  // Servers that start together don't look together; under a restored log it is urgent to know what routers hold.
  let rest = (await isUnderRestored(dependencies, log)) ? 0 : everyMilliseconds * random();
  while (!stop.aborted) {
    await clock.wait(rest, stop).catch(() => undefined);
    if (stop.aborted) return;
    try {
      await lookAtAll(dependencies, stop, abort);
    } catch (error) {
      if (!abort.aborted) log.error({ error }, 'a round over all routers could not be begun');
    }
    rest = everyMilliseconds * (0.75 + random() / 2);
  }
}

async function isUnderRestored({ directory }: Pick<ReconcileDependencies, 'directory'>, log: Log): Promise<boolean> {
  try {
    return (await directory.state(DIRECTORY_ID)).state.restored !== undefined;
  } catch (error) {
    log.warn(
      { error },
      'whether the log was restored could not be seen: the first round over all routers comes in its time',
    );
    return false;
  }
}

async function lookAtAll(
  { regionsAtOnce, routersAtOnce, ...dependencies }: DriftRoundsDependencies,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { directory, regions, log } = dependencies;
  const regionIds = [...(await directory.state(DIRECTORY_ID)).state.regions.keys()];
  await forEach(regionIds, regionsAtOnce, stop, async (regionId) => {
    try {
      const { state } = await regions.state(regionId);
      if (state.phase === 'absent') return;
      const enabled = [...state.routers.values()].filter(({ phase }) => phase === 'enabled');
      await forEach(enabled, routersAtOnce, stop, ({ router }) => lookAtOne(regionId, router));
    } catch (error) {
      if (!abort.aborted) log.error({ regionId, error }, 'the routers of a region could not be compared');
    }
  });

  async function lookAtOne(regionId: number, router: string): Promise<void> {
    try {
      const look = await reconcileRouter(regionId, router, 'drift', dependencies, abort, stop);
      if (look === undefined) return;
      const isNews = look.drifted.length > 0 || look.problems.length > 0 || look.unowned.length > 0;
      log[isNews ? 'warn' : 'debug']({ regionId, router, ...look }, 'router compared');
    } catch (error) {
      if (!stop.aborted && !abort.aborted) log.error({ regionId, router, error }, 'a router could not be compared');
    }
  }
}

/** Does the work for all, for so many at the same moment, in order; begins no more once `stop` has aborted. */
async function forEach<T>(
  all: readonly T[],
  atOnce: number,
  stop: AbortSignal,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const queue = [...all];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined && !stop.aborted; next = queue.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
}
