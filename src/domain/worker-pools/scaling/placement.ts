import { type Demand, type UsablePool, workersFor } from './demand.ts';
import { type LaunchRoom, launchRoom, scopeRoom, type WorkerGroup, workerGroups } from './seats.ts';
import type { ScalingSnapshot } from './snapshot.ts';

/** One worker's worth of a demand. */
type Unit = { readonly demand: Demand; seat: Seat | undefined };

/** Something that holds a bounded number of units. */
type Bounded = { readonly free: number; readonly units: Set<Unit> };

/** Workers that are there, or those that a pool may launch. */
type Place =
  | Readonly<{ kind: 'workers'; group: WorkerGroup; bound: Bounded }>
  | Readonly<{ kind: 'launch'; pool: string; bound: Bounded }>;

/** A pool (or the workers without one) as a demand sees it: within the scope's own bound there, any of the places. */
type Way = Readonly<{ scopeBound: Bounded; workersMax: number; places: readonly Place[] }>;

type Seat = Readonly<{ way: Way; place: Place }>;

/** How the wanted workers of all demands were placed. */
export type Placement = Readonly<{
  launches: readonly Readonly<{ pool: string; demand: Demand }>[];
  /** Wanted workers that found no place, by demand. */
  unplaced: ReadonlyMap<Demand, number>;
  /** Free and booting workers that are needed, by pool. */
  needed: ReadonlyMap<string, number>;
  /** Workers there or on their way that the demand was given. */
  held: ReadonlyMap<Demand, number>;
  rooms: ReadonlyMap<string, LaunchRoom>;
  scopeRooms: ReadonlyMap<Demand, ReadonlyMap<string, LaunchRoom>>;
}>;

/**
 * Gives every wanted worker a place: first on what is there, then by launching. Scopes take turns, the one that holds the fewest
 * workers first. A unit that finds its pools full may move another one aside (an augmenting path), so that as many as possible are
 * placed; that is why more room, wherever it comes from, never means fewer workers.
 */
export function placeAll(snapshot: ScalingSnapshot, demands: readonly Demand[]): Placement {
  const board = boardOf(snapshot, demands);
  const units = turns(snapshot, demands, board);
  const seated = new Map<Demand, number>();
  // Those whose latency asks for it come first, then those that can use what they left.
  seatAll(units, { waysOf: board.toWorkers, leftovers: 'for-nobody' }, seated);
  seatAll(units, { waysOf: board.toWorkers, leftovers: 'for-moved' }, seated);
  seatAll(units, { waysOf: board.toWorkers, leftovers: 'for-all' }, seated);
  seatAll(units, { waysOf: board.toAll, leftovers: 'for-moved' }, seated);
  return summary(units, demands, board);
}

/** Where one unit of a demand finds no way, none that comes after it does. */
function seatAll(
  units: readonly Unit[],
  round: Pick<Search, 'waysOf' | 'leftovers'>,
  seated: Map<Demand, number>,
): void {
  const stuck = new Set<Demand>();
  for (const unit of units) {
    const { demand } = unit;
    if (unit.seat !== undefined || stuck.has(demand)) continue;
    const workers = (of: Demand) => (seated.get(of) ?? 0) + (of === demand ? 1 : 0);
    if (seat(unit, { ...round, workers, tried: new Set() })) seated.set(demand, workers(demand));
    else stuck.add(demand);
  }
}

type WaysOf = ReadonlyMap<Demand, readonly Way[]>;

type Board = Readonly<{
  toWorkers: WaysOf;
  toAll: WaysOf;
  rooms: ReadonlyMap<string, LaunchRoom>;
  scopeRooms: ReadonlyMap<Demand, ReadonlyMap<string, LaunchRoom>>;
}>;

function boardOf(snapshot: ScalingSnapshot, demands: readonly Demand[]): Board {
  const groups = workerGroups(snapshot)
    .map((group) => ({ kind: 'workers' as const, group, bound: bounded(group.count) }))
    .sort((a, b) => a.group.freeInSeconds - b.group.freeInSeconds);
  const rooms = new Map(snapshot.pools.map((pool) => [pool.name, launchRoom(pool, demands, snapshot)]));
  const launches = new Map(
    [...rooms].map(([pool, { free }]) => [pool, { kind: 'launch' as const, pool, bound: bounded(free) }]),
  );
  const scopeBounds = new Map<string, Readonly<{ room: LaunchRoom; bound: Bounded }>>();
  const toWorkers = new Map<Demand, readonly Way[]>();
  const toAll = new Map<Demand, readonly Way[]>();
  const scopeRooms = new Map<Demand, Map<string, LaunchRoom>>();
  for (const demand of demands) {
    const there = groups.filter(({ group }) => group.architectures.includes(demand.architecture));
    const latency = Math.min(...demand.pools.map(({ latencySeconds }) => latencySeconds));
    const withoutPool: Way = {
      scopeBound: bounded(Number.POSITIVE_INFINITY),
      workersMax: demand.wanted,
      places: there.filter(
        ({ group }) => demand.onlyPool === undefined && group.pool === null && group.freeInSeconds <= latency,
      ),
    };
    const ofScope = new Map<string, LaunchRoom>();
    const ways = demand.pools.map((usable) => {
      const { name } = usable.pool;
      const key = `${name} ${demand.scope}`;
      const known = scopeBounds.get(key) ?? newScopeBound(demand.scope, usable, demands, snapshot);
      scopeBounds.set(key, known);
      ofScope.set(name, known.room);
      // A busy worker counts where it is free within the latency that the scope has for its pool.
      const places = there.filter(({ group }) => group.pool === name && group.freeInSeconds <= usable.latencySeconds);
      const workersMax = launchWorkersMax(demand, usable);
      return { way: { scopeBound: known.bound, workersMax, places }, launch: launches.get(name) };
    });
    scopeRooms.set(demand, ofScope);
    toWorkers.set(demand, [withoutPool, ...ways.map(({ way }) => way)]);
    toAll.set(demand, [
      withoutPool,
      ...ways.map(({ way, launch }) => ({
        ...way,
        places: launch === undefined ? way.places : [...way.places, launch],
      })),
    ]);
  }
  return { toWorkers, toAll, rooms, scopeRooms };
}

function newScopeBound(scope: string, usable: UsablePool, demands: readonly Demand[], snapshot: ScalingSnapshot) {
  const room = scopeRoom(scope, usable, demands, snapshot);
  return { room, bound: bounded(room.free) };
}

function bounded(free: number): Bounded {
  return { free, units: new Set() };
}

/** A pool is launched until the demand has this many workers, wherever they are: a looser latency is content with fewer. */
export function launchWorkersMax(demand: Demand, { pool, latencySeconds }: UsablePool): number {
  return pool.ephemeral ? demand.wanted : Math.min(demand.wanted, workersFor(demand.tasks, latencySeconds));
}

/** The wanted workers in the order of asking: the scope that holds the fewest first, its architectures by turns. */
function turns(snapshot: ScalingSnapshot, demands: readonly Demand[], board: Board): readonly Unit[] {
  const busy = new Map<string, number>();
  for (const { activity } of snapshot.workers)
    if (activity.state === 'busy') busy.set(activity.scope, (busy.get(activity.scope) ?? 0) + 1);
  const asked: { unit: Unit; turn: number }[] = [];
  for (const scope of new Set(demands.map((demand) => demand.scope))) {
    const own = demands.filter((demand) => demand.scope === scope);
    const units = alternating(own.map((demand) => unitsOf(demand, board.toAll.get(demand) ?? [])));
    units.forEach((unit, index) => asked.push({ unit, turn: (busy.get(scope) ?? 0) + index }));
  }
  asked.sort((a, b) => a.turn - b.turn || compare(a.unit.demand.scope, b.unit.demand.scope));
  return asked.map(({ unit }) => unit);
}

/** No more units than there are places: what is beyond is only counted. */
function unitsOf(demand: Demand, ways: readonly Way[]): readonly Unit[] {
  const places = ways.flatMap((way) => way.places).reduce((sum, { bound }) => sum + bound.free, 0);
  return Array.from({ length: Math.min(demand.wanted, places) }, () => ({ demand, seat: undefined }));
}

function alternating(lists: readonly (readonly Unit[])[]): readonly Unit[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/**
 * Who may take a free worker of a pool in which its latency is met already:
 * no task; one that moves aside for another that needs the place; any task (then none moves).
 */
type Leftovers = 'for-nobody' | 'for-moved' | 'for-all';

/** One search for a place. `workers`: how many a demand has once the search has succeeded. `tried`: bounds found to be stuck. */
type Search = Readonly<{
  waysOf: WaysOf;
  leftovers: Leftovers;
  workers: (demand: Demand) => number;
  tried: Set<Bounded>;
}>;

/** Seats a unit: on the best open place, and only where there is none by moving others aside. */
function seat(unit: Unit, search: Search): boolean {
  const ways = search.waysOf.get(unit.demand) ?? [];
  for (const way of ways) {
    const isShut = search.tried.has(way.scopeBound) || !isWithin(unit, way);
    const place = isShut ? undefined : otherPlaces(unit, way).find((other) => isOpenTo(unit, way, other, search));
    if (place !== undefined) return settle(unit, { way, place });
  }
  if (search.leftovers === 'for-all') return false;
  for (const way of ways) {
    if (search.tried.has(way.scopeBound) || !isWanting(unit, way, search)) continue;
    search.tried.add(way.scopeBound);
    if (isWithin(unit, way) ? seatOn(unit, way, search) : seatInstead(unit, way, search)) return true;
  }
  return false;
}

/** Who already counts within the scope's bound stays within it on any other place of the pool. */
function isWithin(unit: Unit, { scopeBound }: Way): boolean {
  return isOpen(scopeBound) || scopeBound.units.has(unit);
}

function isOpenTo(unit: Unit, way: Way, place: Place, search: Search): boolean {
  if (!isOpen(place.bound)) return false;
  if (isWanting(unit, way, search)) return true;
  const { leftovers } = search;
  return (
    place.kind === 'workers' && (leftovers === 'for-all' || (leftovers === 'for-moved' && unit.seat !== undefined))
  );
}

/** On a place that one leaves for another. */
function seatOn(unit: Unit, way: Way, search: Search): boolean {
  for (const place of otherPlaces(unit, way)) {
    if (search.tried.has(place.bound)) continue;
    search.tried.add(place.bound);
    for (const other of oneOfEach(place.bound)) if (seat(other, search)) return settle(unit, { way, place });
  }
  return false;
}

function otherPlaces(unit: Unit, way: Way): readonly Place[] {
  return way.places.filter(({ bound }) => bound !== unit.seat?.place.bound);
}

/** The scope's bound is full: another unit of the scope has to leave the pool, and leaves its place. */
function seatInstead(unit: Unit, way: Way, search: Search): boolean {
  for (const other of oneOfEach(way.scopeBound)) {
    const place = other.seat?.place;
    if (place === undefined || !way.places.includes(place)) continue;
    if (seat(other, search)) return settle(unit, { way, place });
  }
  return false;
}

/** The demand's latency in this pool asks for as many workers as it has with this one. */
function isWanting(unit: Unit, way: Way, { workers }: Search): boolean {
  return workers(unit.demand) <= way.workersMax;
}

function isOpen(bound: Bounded): boolean {
  return bound.units.size < bound.free;
}

/** Units of one demand on one place are alike: one of each is enough to ask. */
function oneOfEach(bound: Bounded): readonly Unit[] {
  const found = new Map<Demand, Unit[]>();
  for (const unit of bound.units) {
    const alike = found.get(unit.demand) ?? [];
    if (alike.some(({ seat: taken }) => taken?.place === unit.seat?.place)) continue;
    found.set(unit.demand, [...alike, unit]);
  }
  return [...found.values()].flat();
}

function settle(unit: Unit, taken: Seat): true {
  unit.seat?.place.bound.units.delete(unit);
  unit.seat?.way.scopeBound.units.delete(unit);
  unit.seat = taken;
  taken.place.bound.units.add(unit);
  taken.way.scopeBound.units.add(unit);
  return true;
}

function summary(units: readonly Unit[], demands: readonly Demand[], { rooms, scopeRooms }: Board): Placement {
  const launches: { pool: string; demand: Demand }[] = [];
  const needed = new Map<string, number>();
  const held = new Map<Demand, number>();
  const unplaced = new Map(demands.map((demand) => [demand, demand.wanted]));
  for (const { demand, seat: taken } of units) {
    if (taken === undefined) continue;
    unplaced.set(demand, (unplaced.get(demand) ?? 0) - 1);
    if (taken.place.kind === 'launch') {
      launches.push({ pool: taken.place.pool, demand });
      continue;
    }
    held.set(demand, (held.get(demand) ?? 0) + 1);
    const { pool, freeInSeconds } = taken.place.group;
    if (pool !== null && freeInSeconds === 0) needed.set(pool, (needed.get(pool) ?? 0) + 1);
  }
  for (const [demand, count] of unplaced) if (count <= 0) unplaced.delete(demand);
  return { launches, unplaced, needed, held, rooms, scopeRooms };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
