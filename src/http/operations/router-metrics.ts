import { Temporal } from '@js-temporal/polyfill';
import type { CommitWatch, EndedCommits, SlicedCommits } from '../../application/ip-control/commit-watch.ts';
import { LIST_KINDS, waitingSeconds } from '../../domain/ip-control/waiting-changes.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyedView } from '../../projections/engine/keyed-views.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import type { RouterUpkeep, RouterUpkeepView } from '../../projections/ip-control/router-upkeep-view.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { Collector, Sample } from './metrics.ts';

/** What was seen of a router when something was asked of it, in milliseconds since 1970. */
export type SeenRouter = Readonly<{
  /** When it last did what it was asked; undefined when it has not yet. */
  seenAt: number | undefined;
  /** Whether it could be reached and logged in to the last time. */
  isReachable: boolean;
}>;

/** `undefined`: this server has asked nothing of it yet, and it is not known to be out of reach. */
export type LookUpSeen = (regionId: number, router: string) => SeenRouter | undefined;

/** A region, and whether its routers keep what a restored log does not explain. */
export type RestoredRegion = Readonly<{ region: string; restored: boolean }>;

type Regions = readonly KeyedView<RouterUpkeepView>[];

type RouterMetric = Readonly<{
  name: string;
  help: string;
  of: (router: RouterUpkeep, seen: SeenRouter | undefined) => number | undefined;
}>;

const ROUTER_METRICS: readonly RouterMetric[] = [
  {
    name: 'edgeward_router_enabled',
    help: 'Whether commits count the router: 0 when it is disabled or still being brought up to date.',
    of: ({ phase }) => Number(phase === 'enabled'),
  },
  {
    name: 'edgeward_router_reachable',
    help: 'Whether the router could be reached and logged in to when something was last asked of it. Only the server that leads tells, which asks; one that could be reached before it began to is left out until it is asked again, as are disabled routers.',
    of: ({ phase }, seen) => (seen === undefined || phase === 'disabled' ? undefined : Number(seen.isReachable)),
  },
  {
    name: 'edgeward_router_last_seen_timestamp_seconds',
    help: 'When the router last did what this server asked of it: a look, a push, reading back. Not of disabled routers.',
    of: ({ phase }, seen) => (seen?.seenAt === undefined || phase === 'disabled' ? undefined : seen.seenAt / 1000),
  },
  {
    name: 'edgeward_router_drifted_lists',
    help: 'Our lists on the router that are not as the last commits left them.',
    of: ({ drifted }) => drifted.length,
  },
  {
    name: 'edgeward_router_unowned_lists',
    help: 'Lists with our prefix on the router that belong to no customer.',
    of: ({ unowned }) => unowned,
  },
  {
    name: 'edgeward_router_unsaved',
    help: 'Whether something is in force on the router that it could not save: a restart loses it.',
    of: ({ unsavedSince }) => Number(unsavedSince !== null),
  },
  {
    name: 'edgeward_router_last_drift_timestamp_seconds',
    help: 'When a list was last found changed by others.',
    of: ({ driftedAt }) => secondsOf(driftedAt),
  },
  {
    name: 'edgeward_router_last_repair_timestamp_seconds',
    help: 'When such a list was last put right, or found so.',
    of: ({ repairedAt }) => secondsOf(repairedAt),
  },
];

const FAILING = 'edgeward_router_failing_lists';
const WAITING = 'edgeward_oldest_waiting_change_seconds';
const COMMITS = 'edgeward_commits_total';
const SLICES = 'edgeward_slices_missing_prefixes';
const RESTORED = 'edgeward_restored';
const OF_ROUTER = ['region', 'router'];
const OF_LIST = ['region', 'list'];

/** How routers stand, and what has not come to them. */
export function routerCollector(
  views: Readonly<{
    routerUpkeep: Pick<Views<RouterUpkeepView>, 'list'>;
    waitingChanges: Pick<Views<WaitingChangeView>, 'list'>;
  }>,
  seen: LookUpSeen,
  clock: Pick<Clock, 'now'>,
): Collector {
  return {
    name: 'routers',
    metrics: [
      ...ROUTER_METRICS.map(({ name, help }) => ({ name, help, labels: OF_ROUTER })),
      {
        name: FAILING,
        help: 'Lists that the router did not take in their newest commit, and has not taken since.',
        labels: OF_ROUTER,
      },
      {
        name: WAITING,
        help: 'The age of the oldest change that is not on all routers of the region; 0 when there is none.',
        labels: OF_LIST,
      },
    ],
    read: async () => {
      const [regions, waiting] = await Promise.all([views.routerUpkeep.list(), views.waitingChanges.list()]);
      const changes = waiting.map(({ view }) => view);
      return [
        ...routerSamples(regions, seen),
        ...failingSamples(regions, changes),
        ...waitingSamples(regions, changes, clock.now().epochMilliseconds),
      ];
    },
  };
}

/** All that is known of each router. */
export function routerSamples(regions: Regions, seen: LookUpSeen): readonly Sample[] {
  return regions.flatMap(({ key, view: { region, routers } }) =>
    routers.flatMap((router) =>
      ROUTER_METRICS.flatMap(({ name, of }) => {
        const value = of(router, seen(Number(key), router.name));
        return value === undefined ? [] : [{ name, labels: { region, router: router.name }, value }];
      }),
    ),
  );
}

/** How many lists each router did not take in their newest commit, and has not taken since. */
export function failingSamples(regions: Regions, changes: readonly WaitingChangeView[]): readonly Sample[] {
  const failing = new Map<string, number>();
  for (const { regionId, failingOn = [] } of changes) {
    for (const router of failingOn) {
      const key = `${regionId}/${router}`;
      failing.set(key, (failing.get(key) ?? 0) + 1);
    }
  }
  return regions.flatMap(({ key, view: { region, routers } }) =>
    routers.map(({ name: router }) => ({
      name: FAILING,
      labels: { region, router },
      value: failing.get(`${key}/${router}`) ?? 0,
    })),
  );
}

/** How long the oldest change of each region and list waits; 0 where all are on the routers. */
export function waitingSamples(
  regions: Regions,
  changes: readonly WaitingChangeView[],
  nowMilliseconds: number,
): readonly Sample[] {
  return regions.flatMap(({ key, view: { region } }) =>
    LIST_KINDS.map((list) => {
      const own = changes.filter((change) => change.regionId === Number(key) && change.list === list);
      const value = own.reduce((oldest, change) => Math.max(oldest, waitingSeconds(change, nowMilliseconds)), 0);
      return { name: WAITING, labels: { region, list }, value };
    }),
  );
}

/** Tries of commits that have ended, and lists that come to their routers in slices. */
export function commitCollector(
  routerUpkeep: Pick<Views<RouterUpkeepView>, 'list'>,
  { ended, sliced }: Pick<CommitWatch, 'ended' | 'sliced'>,
): Collector {
  return {
    name: 'commits',
    metrics: [
      {
        name: COMMITS,
        help: 'Tries of commits that have ended since this server began, whichever server made them.',
        type: 'counter',
        labels: [...OF_LIST, 'status'],
      },
      {
        name: SLICES,
        help: 'Prefixes that are still to come to the slowest router, of commits that are deployed in slices.',
        labels: OF_LIST,
      },
    ],
    read: async () => {
      const regions = await routerUpkeep.list();
      return [...commitSamples(regions, ended()), ...sliceSamples(regions, sliced())];
    },
  };
}

const ENDS = ['success', 'failed'] as const;

/** The counter of tries of commits that have ended since this server began; 0 where none has. */
export function commitSamples(regions: Regions, ended: readonly EndedCommits[]): readonly Sample[] {
  const counts = new Map(ended.map(({ regionId, list, status, count }) => [`${regionId}/${list}/${status}`, count]));
  return regions.flatMap(({ key, view: { region } }) =>
    LIST_KINDS.flatMap((list) =>
      ENDS.map((status) => ({
        name: COMMITS,
        labels: { region, list, status },
        value: counts.get(`${key}/${list}/${status}`) ?? 0,
      })),
    ),
  );
}

/** How many prefixes are still to come in slices; 0 where none are. */
export function sliceSamples(regions: Regions, sliced: readonly SlicedCommits[]): readonly Sample[] {
  return regions.flatMap(({ key, view: { region } }) =>
    LIST_KINDS.map((list) => {
      const own = sliced.filter((commit) => commit.regionId === Number(key) && commit.list === list);
      return { name: SLICES, labels: { region, list }, value: own.reduce((sum, { missing }) => sum + missing, 0) };
    }),
  );
}

/** Where a restored log keeps things on the routers. */
export function restoredCollector(regions: () => Promise<readonly RestoredRegion[]>): Collector {
  const help =
    'Whether the log was restored from an older copy, so that the routers of the region keep what it does not explain.';
  return {
    name: 'restored',
    metrics: [{ name: RESTORED, help, labels: ['region'] }],
    read: async () =>
      (await regions()).map(({ region, restored }) => ({
        name: RESTORED,
        labels: { region },
        value: Number(restored),
      })),
  };
}

function secondsOf(instant: string | null): number | undefined {
  return instant === null ? undefined : Temporal.Instant.from(instant).epochMilliseconds / 1000;
}
