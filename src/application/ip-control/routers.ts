import { isDeepStrictEqual } from 'node:util';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { RegionRouter } from '../../commands/ip-control/region-state.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { RouterFailure, type RouterFailureCode } from '../../ports/routers.ts';
import type { Application } from '../application.ts';
import { allRegions, findRegion, findRouter, type RegionLookup, type RouterName } from './lookups.ts';
import { beyondReach, type RouterReach } from './router-reach.ts';
import { sightingKey } from './router-sightings.ts';

export type NewRouter = Readonly<{
  /** The region's name or number. */
  region: string;
  router: string;
  driver: string;
  options: Readonly<Record<string, string>>;
  /** Whether drift is put right. */
  repair: boolean;
}>;

/** A router by its own name and that of its region. */
export type NamedRouter = Readonly<{ region: string; router: string }>;

/** A router as it is configured, and what is known of it without asking it. */
export type RouterSummary = NamedRouter &
  Pick<RegionRouter, 'driver' | 'options' | 'phase' | 'repair' | 'unowned'> &
  Readonly<{
    /** Lists that were found to be other than they should. */
    drifted: readonly string[];
  }>;

/** What came of asking a router; `problem`: why lists can't be written to it. */
export type RouterTest = NamedRouter & Readonly<{ problem?: Readonly<{ code: RouterFailureCode; because: string }> }>;

const TEST_MILLISECONDS = 30_000;

/** Adds a router to a region, once its driver takes its options; it is connected to later. The folder that a router's driver writes into is made where it is missing. */
export async function addRouter(
  { region: regionName, router, driver, options, repair }: NewRouter,
  context: CommandContext,
  dependencies: RegionLookup &
    Pick<Application, 'openRouter'> &
    Readonly<{ makeFolder: (path: string) => Promise<unknown> }>,
): Promise<NamedRouter | Refusal> {
  const region = await findRegion(regionName, dependencies);
  if (isRefusal(region)) return region;
  let folder: string | undefined;
  try {
    // Opening a driver checks its options and connects to nothing.
    const opened = dependencies.openRouter({ name: router, driver, options });
    folder = opened.folder;
    await opened.close();
  } catch (error) {
    if (error instanceof RouterFailure) return refuse('bad-option', error.message, 'options');
    throw error;
  }
  const { regionId, name } = region;
  const command = { type: 'AddRouter', data: { router, driver, options } } as const;
  const added = await dependencies.regions.handle(regionId, command, context);
  if (isRefusal(added)) return added;
  if (folder !== undefined) await dependencies.makeFolder(folder);
  if (!repair) {
    const choose = { type: 'ChooseRouterRepair', data: { router, repair } } as const;
    const chosen = await dependencies.regions.handle(regionId, choose, context);
    if (isRefusal(chosen)) return chosen;
  }
  return { region: name, router };
}

/**
 * Makes a router of a region be as it is given, by an administrator who need not be allowed to read or write on the server: options that reach
 * further are refused with `bad-option`, but for a router that has them already. Refused with `router-name-taken` where it has another
 * driver or other options: it must be removed first, since what it holds stays as it is.
 */
export async function ensureRouter(
  wanted: NewRouter,
  context: CommandContext,
  dependencies: Parameters<typeof addRouter>[2] & Readonly<{ isRehearsal: boolean; routerReach: RouterReach }>,
): Promise<NamedRouter | Refusal> {
  const beyond = await reachRefusal(wanted, dependencies);
  if (beyond !== undefined) return beyond;
  const makeFolder = dependencies.isRehearsal ? () => Promise.resolve() : dependencies.makeFolder;
  const added = await addRouter({ ...wanted, repair: true }, context, { ...dependencies, makeFolder });
  if (isRefusal(added)) return added;
  const { regions } = dependencies;
  const { region, router } = wanted;
  const found = await findRouter({ region, router }, dependencies);
  if (isRefusal(found)) return found;
  const command = { type: 'ChooseRouterRepair', data: { router, repair: wanted.repair } } as const;
  const chosen = await regions.handle(found.region.regionId, command, context);
  return isRefusal(chosen) ? chosen : added;
}

/** A router that has just these options had them from an operator who was allowed to. */
async function reachRefusal(
  { region, router, driver, options }: NewRouter,
  dependencies: RegionLookup & Readonly<{ routerReach: RouterReach }>,
): Promise<Refusal | undefined> {
  const [problem] = Object.entries(beyondReach({ driver, options }, dependencies.routerReach));
  if (problem === undefined) return undefined;
  const found = await findRouter({ region, router }, dependencies);
  if (!isRefusal(found) && found.router.driver === driver && isDeepStrictEqual(found.router.options, options))
    return undefined;
  const [option, because] = problem;
  return refuse('bad-option', `option ${option} ${because}`, `options.${option}`);
}

/** A router as it is configured, and what is known of it, for those who list it. */
export function summaryOf(
  region: string,
  { router, driver, options, phase, repair, drifts, unowned }: RegionRouter,
): RouterSummary {
  return { region, router, driver, options, phase, repair, unowned, drifted: [...drifts.keys()].sort() };
}

/** The routers of all regions, or of one by name or number. */
export async function listRouters(
  region: string | undefined,
  lookup: RegionLookup,
): Promise<readonly RouterSummary[] | Refusal> {
  const only = region === undefined ? undefined : await findRegion(region, lookup);
  if (only !== undefined && isRefusal(only)) return only;
  const regions = only === undefined ? await allRegions(lookup) : [only];
  return regions.flatMap(({ name, routers }) => [...routers.values()].map((router) => summaryOf(name, router)));
}

/** Whether a router answers, as the server that leads has last found; disabled ones are not asked. */
export const ROUTER_STATUSES = ['reachable', 'unreachable', 'not-seen', 'catching-up', 'disabled'] as const;

/** A router with what was last seen of it. `lastSeen`: when it last did what it was asked; `addedAt`: when it came to its region. */
export type SeenRouterSummary = RouterSummary &
  Readonly<{ status: (typeof ROUTER_STATUSES)[number]; lastSeen: string | null; addedAt: string | null }>;

/** The same, with what was last seen of them. */
export async function routerStandings(
  region: string | undefined,
  dependencies: RegionLookup &
    Pick<Application, 'routerSightings' | 'catchUp'> &
    Readonly<{ views: Pick<Application['views'], 'regions'> }>,
): Promise<readonly SeenRouterSummary[] | Refusal> {
  const routers = await listRouters(region, dependencies);
  if (isRefusal(routers)) return routers;
  const sightings = await dependencies.routerSightings();
  await dependencies.catchUp();
  const views = await dependencies.views.regions.list();
  const addedAt = new Map(
    views.flatMap(({ view }) =>
      view.routers.map((one) => [sightingKey(view.regionId, one.name), one.addedAt] as const),
    ),
  );
  const numbers = new Map((await allRegions(dependencies)).map(({ name, regionId }) => [name, regionId]));
  return routers.map((router) => {
    const key = sightingKey(numbers.get(router.region) ?? 0, router.router);
    const seen = sightings.get(key);
    const answers = seen === undefined ? 'not-seen' : seen.isReachable ? 'reachable' : 'unreachable';
    const status = router.phase === 'enabled' ? answers : router.phase;
    return { ...router, status, lastSeen: seen?.seenAt ?? null, addedAt: addedAt.get(key) ?? null };
  });
}

/** Has commits pass a router by for good; what it holds stays as it is. */
export async function removeRouter(
  name: RouterName,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<NamedRouter | Refusal> {
  const found = await findRouter(name, lookup);
  if (isRefusal(found)) return found;
  const { region, router } = found;
  const command = { type: 'RemoveRouter', data: { router: router.router } } as const;
  const answer = await lookup.regions.handle(region.regionId, command, context);
  return isRefusal(answer) ? answer : { region: region.name, router: router.router };
}

/** Connects, logs in and sees whether lists can be written; changes nothing. */
export async function testRouter(
  name: RouterName,
  dependencies: RegionLookup & Pick<Application, 'openRouter'>,
): Promise<RouterTest | Refusal> {
  const found = await findRouter(name, dependencies);
  if (isRefusal(found)) return found;
  const { router, driver, options } = found.router;
  const tested = { region: found.region.name, router };
  const opened = dependencies.openRouter({ name: router, driver, options });
  try {
    await opened.check(AbortSignal.timeout(TEST_MILLISECONDS));
    return tested;
  } catch (error) {
    if (error instanceof RouterFailure) return { ...tested, problem: { code: error.code, because: error.message } };
    throw error;
  } finally {
    await opened.close();
  }
}
