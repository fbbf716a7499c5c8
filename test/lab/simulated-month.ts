import type { Architecture } from '../../src/events/worker-pools/architectures.ts';
import { decideScaling, type TerminationCode } from '../../src/domain/worker-pools/scaling/decision.ts';
import type {
  PoolSnapshot,
  ScopeSnapshot,
  WorkerActivity,
  WorkerSnapshot,
} from '../../src/domain/worker-pools/scaling/snapshot.ts';

/** A pool of the simulation: what an administrator sets, and how its provider behaves. */
export type SimulatedPool = Readonly<{
  settings: Omit<PoolSnapshot, 'usedSeconds' | 'launchesFromMilliseconds'>;
  bootSeconds: number;
  pricePerHour: number;
  launchFailures: number;
  /** Chance that an instance is taken away during an hour. */
  interruptionsPerHour: number;
}>;

export type SimulatedScope = Readonly<{
  name: string;
  pools: ReadonlyArray<Omit<ScopeSnapshot['pools'][number], 'usedSeconds'>>;
  tasks: number;
  architectures: readonly Architecture[];
  meanSeconds: number;
}>;

export type Month = Readonly<{
  seed: number;
  days: number;
  pools: readonly SimulatedPool[];
  scopes: readonly SimulatedScope[];
  staticWorkers: number;
}>;

export type PoolReport = Readonly<{
  launches: number;
  failedLaunches: number;
  interruptions: number;
  peak: number;
  usedSeconds: number;
  busySeconds: number;
  idleSeconds: number;
  cost: number;
  terminations: Readonly<Partial<Record<TerminationCode, number>>>;
}>;

export type ScopeReport = Readonly<{
  done: number;
  waitSeconds: Readonly<{ median: number; p95: number; most: number }>;
}>;

export type MonthReport = Readonly<{
  decisions: number;
  tasks: number;
  killedByScaling: number;
  pools: ReadonlyMap<string, PoolReport>;
  scopes: ReadonlyMap<string, ScopeReport>;
}>;

type Task = { scope: string; architecture: Architecture; arrived: number; seconds: number };
type Instance = {
  name: string;
  pool: string | null;
  architectures: readonly Architecture[];
  created: number;
  activity: WorkerActivity;
  task: Task | undefined;
  taskEnds: number;
  idleFrom: number;
  life: number;
};
type Tally = {
  launches: number;
  failedLaunches: number;
  interruptions: number;
  peak: number;
  closedSeconds: number;
  busySeconds: number;
  idleSeconds: number;
  failures: number;
  launchesFrom: number;
  terminations: Partial<Record<TerminationCode, number>>;
};

const START = 1_793_491_200_000; // 2026-11-01T00:00:00Z
const DECIDE_EVERY = 120;

/** One task of the first scope at a time of its own. */
export type PlannedTask = Readonly<{ at: number; seconds: number }>;

/** Runs a month of work against the scaling decisions, second by second where something happens. Same seed, same month. */
export function simulateMonth(month: Month, planned: readonly PlannedTask[] = []): MonthReport {
  const world = openWorld(month, planned);
  for (let next = world.agenda.pop(); next !== undefined; next = world.agenda.pop()) {
    world.now = next.at;
    next.run();
  }
  return world.report();
}

function openWorld(month: Month, planned: readonly PlannedTask[]) {
  const random = generator(month.seed);
  const agenda = openAgenda();
  const pools = new Map(month.pools.map((pool) => [pool.settings.name, pool]));
  const tallies = new Map(month.pools.map(({ settings }) => [settings.name, newTally()]));
  const instances = new Map<string, Instance>();
  const queue: Task[] = [];
  const waits = new Map<string, number[]>(month.scopes.map(({ name }) => [name, []]));
  const scopeSeconds = new Map<string, number>();
  const links = month.scopes.flatMap((scope) => scope.pools);
  const ranks = new Map(
    [...pools.keys()].map((name) => [
      name,
      Math.max(...links.filter(({ pool }) => pool === name).map(({ priority }) => priority)),
    ]),
  );
  const end = month.days * 86_400;
  let decisionPlanned = Number.POSITIVE_INFINITY;
  let decisions = 0;
  let killedByScaling = 0;
  let serial = 0;

  const world = { now: 0, agenda, report };
  for (let index = 0; index < month.staticWorkers; index += 1) addInstance(null, ['amd64'], 0).activity = idleNow();
  for (const scope of month.scopes) for (const task of tasksOf(scope)) agenda.push(task.arrived, () => arrive(task));
  for (const { at, seconds } of planned) {
    const task: Task = { scope: month.scopes[0]?.name ?? '', architecture: 'amd64', arrived: at, seconds };
    agenda.push(at, () => arrive(task));
  }
  return world;

  function tasksOf(scope: SimulatedScope): Task[] {
    return Array.from({ length: scope.tasks }, () => {
      const day = Math.floor(random() * month.days);
      // Most work comes by day.
      const hour = (random() + random() + random()) * 8;
      const seconds = Math.ceil(scope.meanSeconds * (0.3 - Math.log(1 - random()) * 0.7));
      const architecture = scope.architectures[Math.floor(random() * scope.architectures.length)] ?? 'amd64';
      return { scope: scope.name, architecture, arrived: Math.floor(day * 86_400 + hour * 3600), seconds };
    });
  }

  function arrive(task: Task): void {
    queue.push(task);
    dispatch();
    decideSoon();
  }

  function addInstance(pool: string | null, architectures: readonly Architecture[], life: number): Instance {
    serial += 1;
    const instance: Instance = {
      name: `${pool ?? 'static'}-${serial}`,
      pool,
      architectures,
      created: world.now,
      activity: { state: 'booting', since: START + world.now * 1000 },
      task: undefined,
      taskEnds: 0,
      idleFrom: world.now,
      life,
    };
    instances.set(instance.name, instance);
    return instance;
  }

  function idleNow(tasksRun = 0): WorkerActivity {
    return { state: 'idle', since: START + world.now * 1000, tasksRun };
  }

  function dispatch(): void {
    if (queue.length === 0) return;
    const idle = [...instances.values()].filter(({ activity }) => activity.state === 'idle').sort(byRank);
    for (const instance of idle) {
      const at = queue.findIndex((task) => mayRun(instance, task));
      const [task] = at < 0 ? [] : queue.splice(at, 1);
      if (task !== undefined) start(instance, task);
    }
  }

  function byRank(a: Instance, b: Instance): number {
    return rankOf(b) - rankOf(a) || (a.name < b.name ? -1 : 1);
  }

  function rankOf({ pool }: Instance): number {
    return pool === null ? Number.POSITIVE_INFINITY : (ranks.get(pool) ?? 0);
  }

  function mayRun({ pool, architectures }: Instance, { scope, architecture }: Task): boolean {
    if (!architectures.includes(architecture)) return false;
    return (
      pool === null ||
      month.scopes.some(({ name, pools: linked }) => name === scope && linked.some((link) => link.pool === pool))
    );
  }

  function start(instance: Instance, task: Task): void {
    waits.get(task.scope)?.push(world.now - task.arrived);
    closeIdle(instance);
    instance.task = task;
    instance.taskEnds = world.now + task.seconds;
    instance.activity = { state: 'busy', scope: task.scope, remainingSeconds: 0, draining: false };
    agenda.push(instance.taskEnds, () => finish(instance, task));
  }

  function finish(instance: Instance, task: Task): void {
    if (instance.task !== task || !instances.has(instance.name)) return;
    instance.task = undefined;
    const tally = instance.pool === null ? undefined : tallies.get(instance.pool);
    if (tally !== undefined) tally.busySeconds += task.seconds;
    const key = `${task.scope} ${instance.pool ?? ''}`;
    scopeSeconds.set(key, (scopeSeconds.get(key) ?? 0) + task.seconds);
    const draining = instance.activity.state === 'busy' && instance.activity.draining;
    instance.idleFrom = world.now;
    instance.activity = idleNow(1);
    if (draining) terminate(instance);
    lookAgain();
  }

  function closeIdle(instance: Instance): void {
    const tally = instance.pool === null ? undefined : tallies.get(instance.pool);
    if (tally !== undefined && instance.activity.state === 'idle') tally.idleSeconds += world.now - instance.idleFrom;
  }

  function launch(pool: SimulatedPool): void {
    const tally = tallies.get(pool.settings.name)!;
    if (random() < pool.launchFailures) {
      tally.failedLaunches += 1;
      tally.failures += 1;
      tally.launchesFrom = world.now + Math.min(30 * 2 ** tally.failures, 900);
      return decideSoon(tally.launchesFrom - world.now);
    }
    tally.failures = 0;
    tally.launches += 1;
    const life =
      pool.interruptionsPerHour === 0
        ? Number.POSITIVE_INFINITY
        : (-Math.log(1 - random()) / pool.interruptionsPerHour) * 3600;
    const instance = addInstance(pool.settings.name, pool.settings.architectures, life);
    const active = [...instances.values()].filter((other) => other.pool === pool.settings.name).length;
    tally.peak = Math.max(tally.peak, active);
    agenda.push(world.now + pool.bootSeconds, () => ready(instance));
    if (Number.isFinite(life) && world.now + life < end)
      agenda.push(world.now + Math.ceil(life), () => interrupt(instance));
  }

  function ready(instance: Instance): void {
    if (!instances.has(instance.name) || instance.activity.state !== 'booting') return;
    instance.idleFrom = world.now;
    instance.activity = idleNow();
    lookAgain();
  }

  /** The provider takes an instance away: its task starts anew elsewhere. */
  function interrupt(instance: Instance): void {
    if (!instances.has(instance.name)) return;
    tallies.get(instance.pool ?? '')!.interruptions += 1;
    if (instance.task !== undefined) queue.unshift(instance.task);
    remove(instance);
    decideSoon();
  }

  function terminate(instance: Instance): void {
    if (instance.task !== undefined) killedByScaling += 1;
    remove(instance);
  }

  function remove(instance: Instance): void {
    closeIdle(instance);
    instances.delete(instance.name);
    const tally = tallies.get(instance.pool ?? '');
    if (tally !== undefined) tally.closedSeconds += world.now - instance.created;
  }

  function decideSoon(seconds = 0): void {
    const at = Math.ceil((world.now + seconds) / DECIDE_EVERY) * DECIDE_EVERY;
    if (at >= decisionPlanned || at > end * 2) return;
    decisionPlanned = at;
    agenda.push(at, () => {
      if (decisionPlanned !== at) return;
      decisionPlanned = Number.POSITIVE_INFINITY;
      decide();
    });
  }

  function decide(): void {
    decisions += 1;
    const decision = decideScaling({
      nowMilliseconds: START + world.now * 1000,
      bootSeconds: Math.max(...month.pools.map((pool) => pool.bootSeconds)),
      bootTimeoutSeconds: 1800,
      pools: month.pools.map(snapshotOf),
      scopes: month.scopes.map((scope) => ({
        name: scope.name,
        pools: scope.pools.map((link) => ({
          ...link,
          usedSeconds: scopeSeconds.get(`${scope.name} ${link.pool}`) ?? 0,
        })),
      })),
      workers: [...instances.values()].map(workerOf),
      queue: queue.map(({ scope, architecture, seconds }) => ({
        scope,
        architecture,
        count: 1,
        expectedSeconds: seconds,
      })),
    });
    for (const { pool, count } of decision.launches)
      for (let index = 0; index < count; index += 1) launch(pools.get(pool)!);
    for (const { worker, pool, afterTask, code } of decision.terminations) {
      const instance = instances.get(worker)!;
      const { terminations } = tallies.get(pool)!;
      terminations[code] = (terminations[code] ?? 0) + 1;
      if (!afterTask) terminate(instance);
      else if (instance.activity.state === 'busy') instance.activity = { ...instance.activity, draining: true };
    }
    lookAgain();
  }

  /** Work that waits is looked at soon, an idle worker when its time is over. */
  function lookAgain(): void {
    dispatch();
    if (queue.length > 0) return decideSoon(300);
    for (const { activity, pool } of instances.values()) {
      const settings = pools.get(pool ?? '')?.settings;
      if (activity.state !== 'idle' || settings === undefined) continue;
      decideSoon(Math.max(1, settings.maxIdleSeconds - (world.now - (activity.since - START) / 1000)));
    }
  }

  function snapshotOf({ settings }: SimulatedPool): PoolSnapshot {
    const { closedSeconds, launchesFrom } = tallies.get(settings.name)!;
    return {
      ...settings,
      usedSeconds: closedSeconds + runningSeconds(settings.name),
      launchesFromMilliseconds: START + launchesFrom * 1000,
    };
  }

  function runningSeconds(pool: string): number {
    let seconds = 0;
    for (const instance of instances.values()) if (instance.pool === pool) seconds += world.now - instance.created;
    return seconds;
  }

  function workerOf({ name, pool, architectures, activity, taskEnds }: Instance): WorkerSnapshot {
    const doing = activity.state === 'busy' ? { ...activity, remainingSeconds: taskEnds - world.now } : activity;
    return { name, pool, architectures, activity: doing };
  }

  function report(): MonthReport {
    return {
      decisions,
      killedByScaling,
      tasks: [...waits.values()].reduce((sum, list) => sum + list.length, 0),
      pools: new Map(
        month.pools.map(({ settings, pricePerHour }) => {
          const tally = tallies.get(settings.name)!;
          const usedSeconds = tally.closedSeconds + runningSeconds(settings.name);
          return [settings.name, { ...tally, usedSeconds, cost: (usedSeconds / 3600) * pricePerHour }];
        }),
      ),
      scopes: new Map([...waits].map(([scope, list]) => [scope, { done: list.length, waitSeconds: quantiles(list) }])),
    };
  }
}

function newTally(): Tally {
  return {
    launches: 0,
    failedLaunches: 0,
    interruptions: 0,
    peak: 0,
    closedSeconds: 0,
    busySeconds: 0,
    idleSeconds: 0,
    failures: 0,
    launchesFrom: 0,
    terminations: {},
  };
}

function quantiles(list: readonly number[]) {
  const sorted = list.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), p95: at(0.95), most: at(1) };
}

type Entry = Readonly<{ at: number; order: number; run: () => void }>;

/** A binary heap by time, then by the order of planning. */
function openAgenda() {
  const heap: Entry[] = [];
  let order = 0;
  return {
    push: (at: number, run: () => void): void => {
      heap.push({ at, order: (order += 1), run });
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (!isBefore(heap[index]!, heap[parent]!)) return;
        [heap[index], heap[parent]] = [heap[parent]!, heap[index]!];
        index = parent;
      }
    },
    pop: (): Entry | undefined => {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || heap.length === 0) return first;
      heap[0] = last;
      for (let index = 0; ;) {
        let least = index;
        for (const child of [index * 2 + 1, index * 2 + 2])
          if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
        if (least === index) return first;
        [heap[index], heap[least]] = [heap[least]!, heap[index]!];
        index = least;
      }
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Two providers, two scopes that share them, a daily rhythm, launches that fail and instances that are taken away. */
export const BUSY_MONTH: Month = {
  seed: 20_261_101,
  days: 30,
  staticWorkers: 2,
  pools: [
    {
      settings: {
        name: 'hetzner',
        enabled: true,
        architectures: ['amd64'],
        instanceWide: true,
        ephemeral: false,
        maxActiveInstances: 6,
        targetMaxSecondsPerMonth: 2_500_000,
        maxIdleSeconds: 1_800,
      },
      bootSeconds: 60,
      pricePerHour: 0.0113,
      launchFailures: 0.02,
      interruptionsPerHour: 0,
    },
    {
      settings: {
        name: 'aws-spot',
        enabled: true,
        architectures: ['amd64', 'arm64'],
        instanceWide: true,
        ephemeral: false,
        maxActiveInstances: 20,
        targetMaxSecondsPerMonth: 3_000_000,
        maxIdleSeconds: 900,
      },
      bootSeconds: 120,
      pricePerHour: 0.041,
      launchFailures: 0.1,
      interruptionsPerHour: 0.05,
    },
  ],
  scopes: [
    {
      name: 'debian',
      pools: [
        { pool: 'hetzner', priority: 10, targetMaxSecondsPerMonth: null, targetLatencySeconds: 600 },
        { pool: 'aws-spot', priority: 1, targetMaxSecondsPerMonth: null, targetLatencySeconds: 1_800 },
      ],
      tasks: 4_000,
      architectures: ['amd64', 'amd64', 'arm64'],
      meanSeconds: 900,
    },
    {
      name: 'kali',
      pools: [
        { pool: 'hetzner', priority: 10, targetMaxSecondsPerMonth: null, targetLatencySeconds: 600 },
        { pool: 'aws-spot', priority: 1, targetMaxSecondsPerMonth: 600_000, targetLatencySeconds: 1_800 },
      ],
      tasks: 2_000,
      architectures: ['amd64'],
      meanSeconds: 600,
    },
  ],
};
