import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import type { RouterChecks } from '../application/application.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { RegionCommand } from '../commands/ip-control/region.ts';
import { withDeadline } from '../concurrency/deadline.ts';
import { RouterCaughtUp, RouterChecked } from '../events/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal, refuse } from '../kernel/decider.ts';
import type { RecordedEvent } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { Lease } from '../ports/leases.ts';
import type { KeepRouterDuty } from '../processes/ip-control/router-maintenance.ts';
import { holding, processesLease } from './leadership.ts';
import { insteadOfOthers, type RouterRunners, type RouterWork, withRouterRunners } from './router-work.ts';

/** Of a router with thousands of lists. */
const CHECK_MILLISECONDS = 600_000;
/** Each call follows the log until its checks have ended, also for a client that has gone. */
const CHECK_CALLS_MAX = 64;
const NEVER = new AbortController().signal;

/** What is asked of a region, the duty that follows from it, and how its end is told. */
type Task<T> = Readonly<{
  regionId: number;
  command: RegionCommand;
  isDuty: (duty: KeepRouterDuty) => boolean;
  find: (event: RecordedEvent) => T | undefined;
}>;

type Asked<T> = Readonly<{ tasks: readonly Task<T>[]; context: CommandContext; milliseconds: number }>;

/** What has come of tasks: why one was refused, or its end. */
type Ends<T> = Map<Task<T>, Refusal | T>;

/**
 * A running server does what is asked for; without one a command does, and keeps servers from starting meanwhile. Beside another command, which
 * does nothing but its own, it does so when that has ended.
 */
export function openRouterChecks(work: RouterWork, { isCommand }: Readonly<{ isCommand: boolean }>): RouterChecks {
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
      const asked = { tasks, context, milliseconds: CHECK_MILLISECONDS };
      return inTurn(routers, prune, () => done(asked, work, isCommand));
    },
    enable: async ({ regionId, router }, context) => {
      const task = {
        regionId,
        command: { type: 'EnableRouter', data: { router } },
        isDuty: ({ type, data }: KeepRouterDuty) =>
          type === 'CatchUpRouter' && data.regionId === regionId && data.router === router,
        find: (event: RecordedEvent) => caughtUpIn(event, router),
      } as const;
      const milliseconds = work.config.synchronousTimeoutMilliseconds;
      const [end] = await done({ tasks: [task], context, milliseconds }, work, isCommand);
      return end;
    },
  };
}

/** Asks for everything, has it done here or there, and waits until the end of each is told; undefined for what is not in time. */
async function done<T>(
  asked: Asked<T>,
  work: RouterWork,
  isCommand: boolean,
): Promise<readonly (Refusal | T | undefined)[]> {
  const { stores } = work;
  const before = await stores.store.end();
  const ends: Ends<T> = new Map();
  const lease = await stores.leases.tryAcquire(processesLease(stores));
  if (!('heldBy' in lease)) {
    await holding(lease, () =>
      withRouterRunners(work, lease, async (runners) => {
        await ask(asked, work, ends);
        await maintainAll(asked, ends, runners);
      }),
    );
    await endsOf(asked, ends, before, work);
  } else {
    await ask(asked, work, ends);
    const over = new AbortController();
    const here = (taken: Lease): Promise<void> =>
      withRouterRunners(work, taken, (runners) => maintainAll(asked, ends, runners));
    const instead = isCommand ? insteadOfOthers(work, over.signal, here) : undefined;
    try {
      await endsOf(asked, ends, before, work);
    } finally {
      over.abort();
      await instead;
    }
  }
  return asked.tasks.map((task) => ends.get(task));
}

/** Asks for everything, and notes what is refused. */
async function ask<T>({ tasks, context }: Asked<T>, { aggregates }: RouterWork, ends: Ends<T>): Promise<void> {
  for (const task of tasks) {
    const answer = await aggregates.regions.handle(task.regionId, task.command, context);
    if (isRefusal(answer)) ends.set(task, answer);
  }
}

/** Does what was not refused. */
async function maintainAll<T>({ tasks }: Asked<T>, ends: Ends<T>, { maintain }: RouterRunners): Promise<void> {
  const open = tasks.filter((task) => !ends.has(task));
  await maintain((duty) => open.some(({ isDuty }) => isDuty(duty)));
}

/** Notes how each ends, as long as there is time. What the reading leaves out is as what is late: its end is in the region's history. */
async function endsOf<T>(
  { tasks, milliseconds }: Asked<T>,
  ends: Ends<T>,
  before: bigint,
  { stores: { store } }: RouterWork,
): Promise<void> {
  const follow = async (within: AbortSignal): Promise<void> => {
    if (ends.size === tasks.length) return;
    for await (const page of store.follow(before, within)) {
      for (const event of page) noteEnds(event, tasks, ends);
      if (ends.size === tasks.length) return;
    }
  };
  await withDeadline(follow, milliseconds, late, systemClock, NEVER);
}

function noteEnds<T>(event: RecordedEvent, tasks: readonly Task<T>[], ends: Ends<T>): void {
  for (const task of tasks) {
    const end = event.stream === streamName('region', task.regionId) ? task.find(event) : undefined;
    if (end !== undefined) ends.set(task, end);
  }
}

function late(milliseconds: number): Error {
  return new Error(`not every end was told within ${milliseconds} ms`);
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
