import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { type RegionEvent, regionEvents } from '../../events/ip-control/region.ts';
import type { DeployPolicy, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import { isHandled, type RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { NO_STREAM } from '../../ports/event-store.ts';
import type { RouterUpkeep } from '../../projections/ip-control/router-upkeep-view.ts';
import type { Application } from '../application.ts';
import { type LoggedCommit, pageCommits } from './commits.ts';
import { allRegions, notFound } from './lookups.ts';
import { type RouterSummary, summaryOf } from './routers.ts';

export type RegionStandingDependencies = Pick<Application, 'directory' | 'customers' | 'regions' | 'views' | 'store'>;

/** A router as it is configured, and how it stands. `upkeep`: what is kept of it; undefined for one that was just added. */
export type RouterStanding = RouterSummary &
  Readonly<{ upkeep: RouterUpkeep | undefined; unsaved: string | undefined; checks: number }>;

/** A region with its routers. */
export type RegionStanding = Readonly<{
  regionId: number;
  name: string;
  deployPolicy: DeployPolicy;
  routers: readonly RouterStanding[];
}>;

/** What the newest commit of a list came to on one router. */
export type ListOutcome = Readonly<{ commit: LoggedCommit; outcome: RouterOutcome }>;

/** One router, with the newest outcomes on it and what has happened with it. */
export type RouterHistory = Readonly<{
  region: RegionStanding;
  router: RouterStanding;
  /** Of each list whose commits are among the latest of the region: its newest outcome on this router. */
  outcomes: readonly ListOutcome[];
  /** When a commit was last confirmed on it, as far as the latest commits of the region tell. */
  confirmedAt: string | null;
  /** The newest events of it, the newest first. */
  events: readonly RecordedEvent<RegionEvent>[];
}>;

/** Commits of a region that are looked through for the outcomes on a router, and events of its stream for what has happened. */
const COMMITS_MAX = 100;
const STREAM_EVENTS_MAX = 500n;
const EVENTS_MAX = 50;

const REGION_EVENTS: ReadonlySet<string> = new Set(regionEvents.map(({ type }) => type));

/** All regions with their routers, by number. */
export async function regionStandings(dependencies: RegionStandingDependencies): Promise<readonly RegionStanding[]> {
  const regions = await allRegions(dependencies);
  const standings = await Promise.all(regions.map(({ regionId }) => standingOf(regionId, dependencies)));
  return standings.flatMap((standing) => standing ?? []);
}

/** A region by its number; refused with `not-found`. */
export async function regionStanding(
  regionId: string,
  dependencies: RegionStandingDependencies,
): Promise<RegionStanding | Refusal> {
  const isNumber = /^[1-9]\d{0,14}$/.test(regionId);
  const standing = isNumber ? await standingOf(Number(regionId), dependencies) : undefined;
  return standing ?? notFound(`There is no region ${regionId}.`, 'region');
}

/** The latest commits of a region, the newest first. */
export async function latestCommits(
  region: Pick<RegionStanding, 'name'>,
  limit: number,
  dependencies: RegionStandingDependencies,
): Promise<readonly LoggedCommit[]> {
  const found = await pageCommits({ region: region.name, after: undefined, limit }, dependencies);
  return isRefusal(found) ? [] : found;
}

/** One router of a region, by the region's number and its own name; refused with `not-found`. */
export async function routerHistory(
  { regionId, router: name }: Readonly<{ regionId: string; router: string }>,
  dependencies: RegionStandingDependencies,
): Promise<RouterHistory | Refusal> {
  const region = await regionStanding(regionId, dependencies);
  if (isRefusal(region)) return region;
  const router = region.routers.find((known) => known.router === name);
  if (router === undefined) return notFound(`There is no router ${name} in ${region.name}.`, 'router');
  const [commits, events] = await Promise.all([
    latestCommits(region, COMMITS_MAX, dependencies),
    newestEventsOf(region.regionId, name, dependencies),
  ]);
  const outcomes = outcomesOn(name, commits);
  const confirmed = outcomes.filter(({ outcome }) => outcome.result === 'confirmed');
  return {
    region,
    router,
    outcomes,
    confirmedAt: confirmed[0]?.commit.view.completedAt ?? null,
    events,
  };
}

async function standingOf(
  regionId: number,
  { directory, regions, views }: RegionStandingDependencies,
): Promise<RegionStanding | undefined> {
  // One that was removed has a stream still.
  if (!(await directory.state(DIRECTORY_ID)).state.regions.has(regionId)) return undefined;
  const { state } = await regions.state(regionId);
  if (state.phase !== 'created') return undefined;
  const { name, deployPolicy } = state;
  const kept = (await views.routerUpkeep.get(String(regionId)))?.routers ?? [];
  const upkeep = new Map(kept.map((router) => [router.name, router]));
  const routers = [...state.routers.values()].map((router) => ({
    ...summaryOf(name, router),
    upkeep: upkeep.get(router.router),
    unsaved: router.unsaved,
    checks: router.checks.size,
  }));
  return { regionId, name, deployPolicy, routers };
}

/** Of each customer's list the newest commit that has come to something on this router. */
function outcomesOn(router: string, commits: readonly LoggedCommit[]): readonly ListOutcome[] {
  const newest = new Map<string, ListOutcome>();
  for (const commit of commits) {
    const key = `${commit.view.customerId}/${commit.view.list}`;
    const outcome = commit.view.outcomes.find((one) => one.router === router);
    if (outcome !== undefined && !newest.has(key)) newest.set(key, { commit, outcome });
  }
  return [...newest.values()];
}

/** From the last stretch of the region's stream, so that a long one costs no more. */
async function newestEventsOf(
  regionId: number,
  router: string,
  { regions, store }: RegionStandingDependencies,
): Promise<readonly RecordedEvent<RegionEvent>[]> {
  const { revision } = await regions.state(regionId);
  const after = revision - STREAM_EVENTS_MAX;
  const found: RecordedEvent<RegionEvent>[] = [];
  for await (const page of store.read(streamName('region', regionId), after < NO_STREAM ? NO_STREAM : after))
    for (const event of page)
      if (isHandled<RegionEvent>(REGION_EVENTS, event) && 'router' in event.data && event.data.router === router)
        found.push(event);
  return found.slice(-EVENTS_MAX).toReversed();
}
