import type { CommandContext } from '../../commands/aggregate.ts';
import type { RegionRouter } from '../../commands/ip-control/region-state.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { RouterFailure, type RouterFailureCode } from '../../ports/routers.ts';
import type { Application } from '../application.ts';
import { allRegions, findRegion, findRouter, type RegionLookup, type RouterName } from './lookups.ts';

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

/** Adds a router to a region, once its driver takes its options; it is connected to later. The folder of a file router is made where it is missing. */
export async function addRouter(
  { region: regionName, router, driver, options, repair }: NewRouter,
  context: CommandContext,
  dependencies: RegionLookup &
    Pick<Application, 'openRouter'> &
    Readonly<{ makeFolder: (path: string) => Promise<unknown> }>,
): Promise<NamedRouter | Refusal> {
  const region = await findRegion(regionName, dependencies);
  if (isRefusal(region)) return region;
  try {
    // Opening a driver checks its options and connects to nothing.
    await dependencies.openRouter({ name: router, driver, options }).close();
  } catch (error) {
    if (error instanceof RouterFailure) return refuse('bad-option', error.message, 'options');
    throw error;
  }
  const { path } = options;
  if (driver === 'file' && path !== undefined) await dependencies.makeFolder(path);
  const { regionId, name } = region;
  const command = { type: 'AddRouter', data: { router, driver, options } } as const;
  const added = await dependencies.regions.handle(regionId, command, context);
  if (isRefusal(added)) return added;
  if (!repair) {
    const choose = { type: 'ChooseRouterRepair', data: { router, repair } } as const;
    const chosen = await dependencies.regions.handle(regionId, choose, context);
    if (isRefusal(chosen)) return chosen;
  }
  return { region: name, router };
}

/** The routers of all regions, or of one by name or number. */
export async function listRouters(
  region: string | undefined,
  lookup: RegionLookup,
): Promise<readonly RouterSummary[] | Refusal> {
  const only = region === undefined ? undefined : await findRegion(region, lookup);
  if (only !== undefined && isRefusal(only)) return only;
  const regions = only === undefined ? await allRegions(lookup) : [only];
  return regions.flatMap(({ name, routers }) =>
    [...routers.values()].map(({ router, driver, options, phase, repair, drifts, unowned }) => ({
      region: name,
      router,
      driver,
      options,
      phase,
      repair,
      unowned,
      drifted: [...drifts.keys()].sort(),
    })),
  );
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
