import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import type { RouterChecks } from '../cli/house.ts';
import type { CommandContext } from '../commands/handle.ts';
import type { RegionCommand } from '../commands/ip-control/region.ts';
import type { Config } from '../config.ts';
import { RouterCaughtUp, RouterChecked } from '../events/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal } from '../kernel/decider.ts';
import type { Recorded } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { Log } from '../ports/log.ts';
import type { KeepRouterDuty } from '../processes/ip-control/keep-routers.ts';
import { createListTurns } from '../processes/ip-control/list-turns.ts';
import { performKeepRouter } from '../processes/ip-control/perform-keep-router.ts';
import type { Aggregates } from './aggregates.ts';
import { processesLease } from './leadership.ts';
import { openRouterDrivers } from './router-drivers.ts';
import type { Stores } from './stores.ts';

/** Of a router with thousands of lists. */
const CHECK_MILLISECONDS = 600_000;

type Told<T> = Readonly<{ milliseconds: number; find: (event: Recorded) => T | undefined }>;

/** A running server checks what is asked for; without one this process does, and keeps servers from starting meanwhile. */
export function openRouterChecks(aggregates: Aggregates, stores: Stores, config: Config, log: Log): RouterChecks {
  const { store, leases } = stores;

  /** Asks the region, has the duty done here or there, and waits until its outcome is told. */
  const done = async <T>(
    regionId: number,
    command: RegionCommand,
    duty: KeepRouterDuty,
    told: Told<T>,
    context: CommandContext,
  ): Promise<Refusal | T | undefined> => {
    const before = await store.end();
    const server = await leases.tryAcquire(processesLease(stores));
    try {
      const answer = await aggregates.regions.handle(regionId, command, context);
      if (isRefusal(answer)) return answer;
      if (!('heldBy' in server)) await payHere(duty, aggregates, stores, config, log);
    } finally {
      if (!('heldBy' in server)) await server.release();
    }
    const stream = streamName('region', regionId);
    for await (const page of store.follow(before, AbortSignal.timeout(told.milliseconds))) {
      for (const event of page) {
        const found = event.stream === stream ? told.find(event) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };

  return {
    check: (regionId, router, prune, context) => {
      const checkId = systemIds.uuid();
      const data = { regionId, router, checkId, prune };
      return done(
        regionId,
        { type: 'RequestRouterCheck', data: { router, checkId, prune } },
        { type: 'CheckRouter', id: checkId, data },
        { milliseconds: CHECK_MILLISECONDS, find: (event) => checkedIn(event, checkId) },
        context,
      );
    },
    enable: (regionId, router, context) =>
      done(
        regionId,
        { type: 'EnableRouter', data: { router } },
        { type: 'CatchUpRouter', id: `${regionId}/${router}`, data: { regionId, router } },
        {
          milliseconds: config.synchronousTimeoutMilliseconds,
          find: (event) => caughtUpIn(event, router),
        },
        context,
      ),
  };
}

async function payHere(
  duty: KeepRouterDuty,
  { customers, regions, directory }: Aggregates,
  { secrets }: Stores,
  config: Config,
  log: Log,
): Promise<void> {
  const drivers = openRouterDrivers(createOpenRouter({ secrets, clock: systemClock, ids: systemIds }));
  const perform = performKeepRouter({
    customers,
    regions,
    directory,
    driverOf: drivers.driverOf,
    turns: createListTurns(),
    clock: systemClock,
    ids: systemIds,
    log,
    timeoutMilliseconds: config.deployTimeoutMilliseconds,
  });
  try {
    await perform(duty, new AbortController().signal);
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
