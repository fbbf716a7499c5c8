import { systemIds } from '../adapters/ids.ts';
import type { RouterChecks } from '../application/application.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { RegionCommand } from '../commands/ip-control/region.ts';
import { RouterCaughtUp, RouterChecked } from '../events/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal, refuse } from '../kernel/decider.ts';
import type { RecordedEvent } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { KeepRouterDuty } from '../processes/ip-control/router-maintenance.ts';
import { holding, processesLease } from './leadership.ts';
import { type RouterRunners, type RouterWork, withRouterRunners } from './router-work.ts';

/** Of a router with thousands of lists. */
const CHECK_MILLISECONDS = 600_000;
/** Each call follows the log until its checks have ended, also for a client that has gone. */
const CHECK_CALLS_MAX = 64;

/** What is asked of a region, the duty that follows from it, and how its end is told. */
type Task<T> = Readonly<{
  regionId: number;
  command: RegionCommand;
  isDuty: (duty: KeepRouterDuty) => boolean;
  find: (event: RecordedEvent) => T | undefined;
}>;

/** A running server does what is asked for; without one this process does, and keeps servers from starting meanwhile. */
export function openRouterChecks(work: RouterWork): RouterChecks {
  const { config, aggregates, stores } = work;

  /** Asks for everything, and gives what was refused. */
  const ask = async <T>(tasks: readonly Task<T>[], context: CommandContext): Promise<Map<Task<T>, Refusal | T>> => {
    const refused = new Map<Task<T>, Refusal | T>();
    for (const task of tasks) {
      const answer = await aggregates.regions.handle(task.regionId, task.command, context);
      if (isRefusal(answer)) refused.set(task, answer);
    }
    return refused;
  };

  /** Asks for everything, has it done here or there, and waits until the end of each is told; undefined for what is not in time. */
  const done = async <T>(
    tasks: readonly Task<T>[],
    milliseconds: number,
    context: CommandContext,
  ): Promise<readonly (Refusal | T | undefined)[]> => {
    const before = await stores.store.end();
    const server = await stores.leases.tryAcquire(processesLease(stores));
    const askAndMaintain = async ({ maintain }: RouterRunners) => {
      const refused = await ask(tasks, context);
      const asked = tasks.filter((task) => !refused.has(task));
      await maintain((duty) => asked.some(({ isDuty }) => isDuty(duty)));
      return refused;
    };
    const ends =
      'heldBy' in server
        ? await ask(tasks, context)
        : await holding(server, () => withRouterRunners(work, server, askAndMaintain));
    if (ends.size < tasks.length) {
      // What the reading leaves out is answered as what does not come in time is: its end is in the region's history.
      for await (const page of stores.store.follow(before, AbortSignal.timeout(milliseconds))) {
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

  const inTurn = boundChecks();

  return {
    check: (routers, prune, context) => {
      const tasks = routers.map(({ regionId, router }) => {
        const checkId = systemIds.uuid();
        return {
          regionId,
          command: { type: 'RequestRouterCheck', data: { router, checkId, prune } },
          isDuty: (duty: KeepRouterDuty) => duty.type === 'CheckRouter' && duty.data.checkId === checkId,
          find: (event: RecordedEvent) => checkedIn(event, checkId),
        } as const;
      });
      return inTurn(routers, prune, () => done(tasks, CHECK_MILLISECONDS, context));
    },
    enable: async ({ regionId, router }, context) => {
      const task = {
        regionId,
        command: { type: 'EnableRouter', data: { router } },
        isDuty: ({ type, data }: KeepRouterDuty) =>
          type === 'CatchUpRouter' && data.regionId === regionId && data.router === router,
        find: (event: RecordedEvent) => caughtUpIn(event, router),
      } as const;
      const [end] = await done([task], config.synchronousTimeoutMilliseconds, context);
      return end;
    },
  };
}

type Check = RouterChecks['check'];
type Checked = ReturnType<Check>;

/** Lets each router be checked for one call at a time, and pruned for one, and bounds the calls in all; others are refused. */
function boundChecks() {
  const underWay = new Set<string>();
  let calls = 0;
  return async (routers: Parameters<Check>[0], prune: boolean, check: () => Checked): Checked => {
    const named = routers.map(({ regionId, router }) => ({ router, name: `${prune}/${regionId}/${router}` }));
    const busy = named.find(({ name }) => underWay.has(name));
    const because =
      busy === undefined
        ? `${calls} checks of routers are under way already.`
        : `router ${busy.router} is being ${prune ? 'pruned' : 'checked'} already.`;
    if (busy !== undefined || calls >= CHECK_CALLS_MAX) {
      const refusal = refuse('in-progress', because, 'router');
      return routers.map(() => refusal);
    }
    calls += 1;
    for (const { name } of named) underWay.add(name);
    try {
      return await check();
    } finally {
      calls -= 1;
      for (const { name } of named) underWay.delete(name);
    }
  };
}

function checkedIn(event: RecordedEvent, checkId: string) {
  const parsed = event.type === 'RouterChecked' ? RouterChecked.check.safeParse(event.data) : undefined;
  return parsed?.data?.checkId === checkId ? parsed.data : undefined;
}

function caughtUpIn(event: RecordedEvent, router: string) {
  const parsed = event.type === 'RouterCaughtUp' ? RouterCaughtUp.check.safeParse(event.data) : undefined;
  return parsed?.data?.router === router ? parsed.data : undefined;
}
