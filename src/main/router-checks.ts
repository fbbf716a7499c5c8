import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import type { RouterChecks } from '../application/application.ts';
import type { CommandContext } from '../commands/handle.ts';
import type { RegionCommand } from '../commands/ip-control/region.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { Config } from '../config.ts';
import { RouterCaughtUp, RouterChecked } from '../events/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal } from '../kernel/decider.ts';
import type { Recorded } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { Log } from '../ports/log.ts';
import { type KeepRouterDuty, performKeepRouter } from '../processes/ip-control/router-maintenance.ts';
import type { Aggregates } from './contexts.ts';
import { processesLease } from './leadership.ts';
import { openRouterDrivers } from './router-drivers.ts';
import type { Stores } from './stores.ts';

/** Of a router with thousands of lists. */
const CHECK_MILLISECONDS = 600_000;

/** What is asked of a region, the duty that follows from it, and how its end is told. */
type Task<T> = Readonly<{
  regionId: number;
  command: RegionCommand;
  duty: KeepRouterDuty;
  find: (event: Recorded) => T | undefined;
}>;

/** A running server does what is asked for; without one this process does, and keeps servers from starting meanwhile. */
export function openRouterChecks(
  aggregates: Aggregates,
  stores: Stores,
  config: Config,
  beforePushing: () => Promise<void>,
  log: Log,
): RouterChecks {
  const { store, leases } = stores;

  /** Asks for everything, has it done here or there, and waits until the end of each is told; undefined for what is not in time. */
  const done = async <T>(
    tasks: readonly Task<T>[],
    milliseconds: number,
    context: CommandContext,
  ): Promise<readonly (Refusal | T | undefined)[]> => {
    const before = await store.end();
    const ends = new Map<Task<T>, Refusal | T>();
    const server = await leases.tryAcquire(processesLease(stores));
    try {
      if (!('heldBy' in server)) await beforePushing();
      for (const task of tasks) {
        const answer = await aggregates.regions.handle(task.regionId, task.command, context);
        if (isRefusal(answer)) ends.set(task, answer);
      }
      const duties = tasks.filter((task) => !ends.has(task)).map(({ duty }) => duty);
      if (!('heldBy' in server)) await payHere(duties, aggregates, stores, config, log);
    } finally {
      if (!('heldBy' in server)) await server.release();
    }
    if (ends.size < tasks.length) {
      for await (const page of store.follow(before, AbortSignal.timeout(milliseconds))) {
        for (const event of page) {
          for (const task of tasks) {
            const end = event.stream === streamName('region', task.regionId) ? task.find(event) : undefined;
            if (end !== undefined) ends.set(task, end);
          }
        }
        if (ends.size === tasks.length) break;
      }
    }
    return tasks.map((task) => ends.get(task));
  };

  return {
    check: (routers, prune, context) => {
      const tasks = routers.map(({ regionId, router }) => {
        const checkId = systemIds.uuid();
        return {
          regionId,
          command: { type: 'RequestRouterCheck', data: { router, checkId, prune } },
          duty: { type: 'CheckRouter', id: checkId, data: { regionId, router, checkId, prune } },
          find: (event: Recorded) => checkedIn(event, checkId),
        } as const;
      });
      return done(tasks, CHECK_MILLISECONDS, context);
    },
    enable: async ({ regionId, router }, context) => {
      const task = {
        regionId,
        command: { type: 'EnableRouter', data: { router } },
        duty: { type: 'CatchUpRouter', id: `${regionId}/${router}`, data: { regionId, router } },
        find: (event: Recorded) => caughtUpIn(event, router),
      } as const;
      const [end] = await done([task], config.synchronousTimeoutMilliseconds, context);
      return end;
    },
  };
}

async function payHere(
  duties: readonly KeepRouterDuty[],
  { customers, regions, directory }: Aggregates,
  { secrets, store }: Stores,
  config: Config,
  log: Log,
): Promise<void> {
  const drivers = openRouterDrivers(createOpenRouter({ secrets, clock: systemClock, ids: systemIds }));
  const perform = performKeepRouter({
    customers,
    regions,
    directory,
    store,
    driverOf: drivers.driverOf,
    turns: createKeyedMutex(),
    clock: systemClock,
    ids: systemIds,
    log,
    timeoutMilliseconds: config.deployTimeoutMilliseconds,
  });
  try {
    await Promise.all(duties.map((duty) => perform(duty, new AbortController().signal)));
  } finally {
    await drivers.close();
  }
}

function checkedIn(event: Recorded, checkId: string) {
  const parsed = event.type === 'RouterChecked' ? RouterChecked.check.safeParse(event.data) : undefined;
  return parsed?.data?.checkId === checkId ? parsed.data : undefined;
}

function caughtUpIn(event: Recorded, router: string) {
  const parsed = event.type === 'RouterCaughtUp' ? RouterCaughtUp.check.safeParse(event.data) : undefined;
  return parsed?.data?.router === router ? parsed.data : undefined;
}
