import type { CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { isRestored } from '../../commands/ip-control/restore.ts';
import { isSameOptions } from '../../commands/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { type RouterDriver, RouterFailure, type RouterSettings } from '../../ports/routers.ts';
import type { Application } from '../application.ts';
import { findRouter, type RegionLookup, type RouterName } from './lookups.ts';
import { beyondReach, type RouterReach } from './router-reach.ts';
import type { NamedRouter } from './routers.ts';

/** What is to be otherwise: options by name, null for one that is to go. */
export type RouterChanges = RouterName & Readonly<{ options: Readonly<Record<string, string | null>>; force: boolean }>;

/** A router with the options that it has now. */
export type ReconfiguredRouter = NamedRouter &
  Readonly<{ driver: string; options: Readonly<Record<string, string>>; isChanged: boolean }>;

/** What was taken off a router, or would be in a rehearsal; commits pass it by from then on. */
export type DrainedRouter = NamedRouter & Readonly<{ removed: readonly string[]; problems: readonly string[] }>;

const TEST_MILLISECONDS = 30_000;
const CALL_MILLISECONDS = 60_000;
/** Longer than a push may take that began before the router was disabled. */
const UNDER_WAY_MILLISECONDS = 120_000;
const LOOK_MILLISECONDS = 250;
/** What others put there meanwhile is seen by the next pass. */
const PASSES = 3;

/**
 * Has a router be spoken to with other options: address, login, host key, time limits. They are tried first, and refused with
 * `router-not-usable` where lists could not be written with them, unless that is forced. `routerReach`: options come from afar, and may reach no further than that.
 */
export async function reconfigureRouter(
  { options: changes, force, ...name }: RouterChanges,
  context: CommandContext,
  dependencies: RegionLookup & Pick<Application, 'openRouter'> & Readonly<{ routerReach?: RouterReach }>,
): Promise<ReconfiguredRouter | Refusal> {
  const found = await findRouter(name, dependencies);
  if (isRefusal(found)) return found;
  const { region, router: before } = found;
  const { router, driver } = before;
  const merged = Object.entries({ ...before.options, ...changes });
  const options = Object.fromEntries(merged.flatMap(([option, value]) => (value === null ? [] : [[option, value]])));
  const named = { region: region.name, router, driver, options };
  if (isSameOptions(before.options, options)) return { ...named, isChanged: false };
  const beyond = reachRefusal({ driver, options }, changes, dependencies.routerReach);
  if (beyond !== undefined) return beyond;
  const problem = await problemOf({ name: router, driver, options }, force, dependencies);
  if (problem !== undefined) return problem;
  const command = { type: 'ReconfigureRouter', data: { router, options } } as const;
  const answer = await dependencies.regions.handle(region.regionId, command, context);
  return isRefusal(answer) ? answer : { ...named, isChanged: answer.events.length > 0 };
}

/** Options that are left as they are were allowed before. */
function reachRefusal(
  router: Readonly<{ driver: string; options: Readonly<Record<string, string>> }>,
  changes: RouterChanges['options'],
  reach: RouterReach | undefined,
): Refusal | undefined {
  if (reach === undefined) return undefined;
  const [problem] = Object.entries(beyondReach(router, reach));
  if (problem === undefined) return undefined;
  const [option, because] = problem;
  return refuse('bad-option', `option ${option} ${because}`, option in changes ? `options.${option}` : 'options');
}

async function problemOf(
  settings: RouterSettings,
  force: boolean,
  { openRouter }: Pick<Application, 'openRouter'>,
): Promise<Refusal | undefined> {
  try {
    const opened = openRouter(settings);
    try {
      if (!force) await opened.check(AbortSignal.timeout(TEST_MILLISECONDS));
      return undefined;
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof RouterFailure)) throw error;
    if (error.code === 'bad-option') return refuse('bad-option', error.message, 'options');
    const advice = 'nothing was changed (--force, or force: true, takes it all the same)';
    return refuse('router-not-usable', `router ${settings.name}: ${error.message}; ${advice}.`, 'options');
  }
}

/**
 * Disables a router and takes every list of ours off it, once commits that were under way have ended, so that it can be removed and leaves
 * nothing behind. Refused with `log-restored` while a restored log does not explain what routers hold. A rehearsal looks at the router, and takes nothing off.
 */
export async function drainRouter(
  name: RouterName,
  context: CommandContext,
  dependencies: RegionLookup &
    Pick<Application, 'customers' | 'openRouter' | 'clock'> &
    Readonly<{ isRehearsal?: boolean }>,
): Promise<DrainedRouter | Refusal> {
  const { directory, regions, openRouter, isRehearsal = false } = dependencies;
  const found = await findRouter(name, dependencies);
  if (isRefusal(found)) return found;
  const { regionId, name: region } = found.region;
  const { router, driver, options } = found.router;
  if (isRestored((await directory.state(DIRECTORY_ID)).state, regionId)) {
    const because = `the log was restored: what ${router} holds may be all that tells of it. edgeward restore accept first.`;
    return refuse('log-restored', because, 'router');
  }
  const request = { type: 'RequestRouterDrain', data: { router } } as const;
  const requested = await regions.handle(regionId, request, context);
  if (isRefusal(requested)) return requested;
  const taken =
    isRehearsal || (await haveEnded(regionId, dependencies))
      ? await takenOff(() => openRouter({ name: router, driver, options }), isRehearsal ? wouldTakeOff : takeOff)
      : { removed: [], problems: ['commits are under way with it still: drain it again'] };
  const command = { type: 'RecordRouterDrained', data: { router, ...taken } } as const;
  const recorded = await regions.handle(regionId, command, context);
  return isRefusal(recorded) ? recorded : { region, router, ...taken };
}

/**
 * Waits for the commits whose attempts may push to a router which they have met before it was disabled; later ones pass it by. An attempt that a
 * newer one goes on with may push still: its commit is settled only when all pushes to such routers are over.
 */
async function haveEnded(
  regionId: number,
  { directory, customers, clock }: Pick<Application, 'directory' | 'customers' | 'clock'>,
): Promise<boolean> {
  const end = clock.monotonicMilliseconds() + UNDER_WAY_MILLISECONDS;
  const known = [...(await directory.state(DIRECTORY_ID)).state.customers.keys()];
  for (const customerId of known) {
    const commits = await commitsUnderWay(customerId, regionId, { customers });
    while ((await commitsUnderWay(customerId, regionId, { customers })).some((commit) => commits.includes(commit))) {
      if (clock.monotonicMilliseconds() > end) return false;
      await clock.wait(LOOK_MILLISECONDS);
    }
  }
  return true;
}

async function commitsUnderWay(
  customerId: number,
  regionId: number,
  { customers }: Pick<Application, 'customers'>,
): Promise<readonly string[]> {
  const { state } = await customers.state(customerId);
  if (state.phase === 'unregistered') return [];
  return [...state.commits]
    .filter(([key, { phase }]) => phase === 'deploying' && key.startsWith(`${regionId}/`))
    .map(([key, { commitSetId }]) => `${key}/${commitSetId}`);
}

type TakenOff = Omit<DrainedRouter, keyof NamedRouter>;

async function takenOff(
  open: () => RouterDriver,
  take: (driver: RouterDriver) => Promise<TakenOff>,
): Promise<TakenOff> {
  try {
    const opened = open();
    try {
      return await take(opened);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof RouterFailure)) throw error;
    return { removed: [], problems: [error.message] };
  }
}

async function wouldTakeOff(driver: RouterDriver): Promise<TakenOff> {
  return { removed: (await driver.lists(AbortSignal.timeout(CALL_MILLISECONDS))).toSorted(), problems: [] };
}

async function takeOff(driver: RouterDriver): Promise<TakenOff> {
  const removed = new Set<string>();
  const problems = new Map<string, string>();
  for (let pass = 0; pass < PASSES; pass += 1) {
    const lists = await driver.lists(AbortSignal.timeout(CALL_MILLISECONDS));
    if (lists.length === 0) break;
    for (const list of lists) {
      try {
        await driver.remove(list, AbortSignal.timeout(CALL_MILLISECONDS));
        problems.delete(list);
      } catch (error) {
        if (!(error instanceof RouterFailure)) throw error;
        problems.set(list, `${list}: ${error.message}`);
        if (error.code !== 'not-saved') continue;
      }
      removed.add(list);
    }
  }
  for (const list of await driver.lists(AbortSignal.timeout(CALL_MILLISECONDS))) {
    removed.delete(list);
    if (!problems.has(list)) problems.set(list, `${list}: it is there again, put back by another`);
  }
  return { removed: [...removed].toSorted(), problems: [...problems.values()] };
}
