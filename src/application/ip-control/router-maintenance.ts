import type { CommandContext } from '../../commands/aggregate.ts';
import type { RouterCheckResult } from '../../events/ip-control/router-upkeep.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { allRegions, findRouter, type RegionLookup, type RouterName } from './lookups.ts';
import type { NamedRouter } from './routers.ts';

type MaintenanceDependencies = RegionLookup & Pick<Application, 'routerChecks'>;

/** A router that is to be compared, with the number of its region. */
type Target = NamedRouter & Readonly<{ regionId: number }>;

/** What was found on a router, and what was done about it. */
export type CheckedRouter = NamedRouter & RouterCheckResult;

/** A router that commits count. `caughtUp`: what bringing it up to date took, where it was disabled. */
export type EnabledRouter = NamedRouter &
  Readonly<{ phase: 'enabled'; caughtUp?: Readonly<{ lists: number; changed: number }> }>;

/** A router that is enabled, and not up to date yet: commits do not wait for it until then. */
export type CatchingUpRouter = NamedRouter & Readonly<{ phase: 'catching-up' }>;

/** Chooses whether drift on a router is put right. */
export async function chooseRouterRepair(
  { repair, ...name }: RouterName & Readonly<{ repair: boolean }>,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<NamedRouter | Refusal> {
  const target = await targetOf(name, lookup);
  if (isRefusal(target)) return target;
  const { regionId, region, router } = target;
  const command = { type: 'ChooseRouterRepair', data: { router, repair } } as const;
  const answer = await lookup.regions.handle(regionId, command, context);
  return isRefusal(answer) ? answer : { region, router };
}

/** Has commits pass a router by: they are complete without it. */
export async function disableRouter(
  name: RouterName,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<NamedRouter | Refusal> {
  const target = await targetOf(name, lookup);
  if (isRefusal(target)) return target;
  const { regionId, region, router } = target;
  const answer = await lookup.regions.handle(regionId, { type: 'DisableRouter', data: { router } }, context);
  return isRefusal(answer) ? answer : { region, router };
}

/** Brings a disabled router up to date, after which commits count it again. What takes too long goes on without the caller. */
export async function enableRouter(
  name: RouterName,
  context: CommandContext,
  dependencies: MaintenanceDependencies,
): Promise<EnabledRouter | CatchingUpRouter | Refusal> {
  const found = await findRouter(name, dependencies);
  if (isRefusal(found)) return found;
  const { router, phase } = found.router;
  const named = { region: found.region.name, router };
  if (phase === 'enabled') return { ...named, phase };
  const { regionId } = found.region;
  const caughtUp = await dependencies.routerChecks.enable({ regionId, router }, context);
  if (caughtUp === undefined) return { ...named, phase: 'catching-up' };
  if (isRefusal(caughtUp)) return caughtUp;
  const { lists, changed } = caughtUp;
  return { ...named, phase: 'enabled', caughtUp: { lists, changed } };
}

/** Compares one router, or all that are not disabled, with what they should hold, now; refused with `in-progress` where that takes too long. */
export async function checkRouters(
  which: RouterName | 'all',
  context: CommandContext,
  dependencies: MaintenanceDependencies,
): Promise<readonly CheckedRouter[] | Refusal> {
  if (which === 'all') return checked(await enabledRouters(dependencies), false, context, dependencies);
  const target = await targetOf(which, dependencies);
  return isRefusal(target) ? target : checked([target], false, context, dependencies);
}

/** Removes lists with our prefix that belong to no customer from a router, and compares the others. */
export async function pruneRouter(
  name: RouterName,
  context: CommandContext,
  dependencies: MaintenanceDependencies,
): Promise<(NamedRouter & Partial<RouterCheckResult>) | Refusal> {
  const target = await targetOf(name, dependencies);
  if (isRefusal(target)) return target;
  const results = await checked([target], true, context, dependencies);
  if (isRefusal(results)) return results;
  return results[0] ?? { region: target.region, router: target.router };
}

async function targetOf(name: RouterName, lookup: RegionLookup): Promise<Target | Refusal> {
  const found = await findRouter(name, lookup);
  if (isRefusal(found)) return found;
  return { regionId: found.region.regionId, region: found.region.name, router: found.router.router };
}

async function enabledRouters(lookup: RegionLookup): Promise<readonly Target[]> {
  return (await allRegions(lookup)).flatMap(({ regionId, name: region, routers }) =>
    [...routers.values()].flatMap(({ router, phase }) => (phase === 'disabled' ? [] : [{ regionId, region, router }])),
  );
}

async function checked(
  targets: readonly Target[],
  prune: boolean,
  context: CommandContext,
  { routerChecks }: MaintenanceDependencies,
): Promise<readonly CheckedRouter[] | Refusal> {
  const answers = await routerChecks.check(targets, prune, context);
  const results: CheckedRouter[] = [];
  for (const [at, { region, router }] of targets.entries()) {
    const answer = answers[at];
    if (answer === undefined) return refuse('in-progress', `router ${router} is still being checked.`, 'router');
    if (isRefusal(answer)) return answer;
    results.push({ region, router, ...answer });
  }
  return results;
}
