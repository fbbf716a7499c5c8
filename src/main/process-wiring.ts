import type { Config } from '../config.ts';
import type { Event } from '../kernel/event.ts';
import type { Duty, Perform, Process, Since } from '../kernel/process.ts';
import type { Clock } from '../ports/clock.ts';
import type { CloudDriver, OpenCloud } from '../ports/clouds.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { openProcess, type ProcessDependencies, type RunningProcess, statesOf } from '../processes/process-manager.ts';
import type { ProjectionTarget } from '../projections/engine/fed-views.ts';
import type { Projector } from '../projections/engine/projector.ts';
import { type ViewCache, viewCacheOf } from '../projections/engine/view-cache.ts';
import type { Aggregates, OpenedViews } from './contexts.ts';
import type { RouterDrivers } from './router-drivers.ts';

/** What the performers of duties work with. */
export type ProcessTools = Readonly<{
  config: Config;
  aggregates: Aggregates;
  routerDrivers: RouterDrivers;
  sender: WebhookSender;
  openCloud: OpenCloud;
  cloudDrivers: readonly CloudDriver[];
  store: EventStore;
  secrets: Secrets;
  clock: Clock;
  ids: Ids;
  log: Log;
}>;

/** What a server's own loops work with beside: the views as well. */
export type ServerTools = ProcessTools &
  Readonly<{
    views: OpenedViews;
    /** Whether the log may be taken for the whole truth: one that was put back from an older copy does not know what came after it. */
    isLogWhole: () => Promise<boolean>;
    /** When this server last heard of a worker, in monotonic milliseconds; `undefined`: not since it began. */
    lastHeard: (worker: string) => number | undefined;
    /** Other servers hear of workers as well. */
    areShared: boolean;
  }>;

/** Resolves when the views show this position; `false`: not in time. */
export type Reached = (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;

/** A process manager with what performs its duties; its states can be kept, and made again, without tools. */
export type RegisteredProcess<T = ProcessTools, D extends Duty = Duty> = Readonly<{
  statesIn: (readModels: ReadModels) => ProjectionTarget;
  wire: (readModels: ReadModels, tools: T) => WiredProcess<D>;
}>;

/** One process manager with the cache of its states; it runs once there is a projector to feed it. */
export type WiredProcess<D extends Duty = Duty> = Readonly<{
  viewCache: ProjectionTarget;
  start: (projector: Pick<Projector, 'reached'>) => RunningProcess;
  /**
   * Pays those duties that are meant, each once and all at the same moment, and what is owed then, until nothing is: for a command, with a
   * projector that brings the states up to the end of the log. @throws what a performer throws
   */
  settle: (projector: Pick<Projector, 'catchUp'>, isMeant: (duty: D) => boolean) => Promise<void>;
}>;

type Bounds<S extends object, D extends Duty> = Pick<
  ProcessDependencies<S, D>,
  'concurrency' | 'partitions' | 'everyMilliseconds'
>;

/** Connects a process manager with what performs its duties; `beside` runs as long as it does. */
export function registerProcess<
  E extends Event,
  S extends object,
  D extends Duty,
  T extends Pick<ProcessTools, 'store' | 'clock' | 'log'>,
>(
  process: Process<E, S, D>,
  performWith: (tools: T) => Perform<D>,
  bounds: Bounds<S, D>,
  beside?: (tools: T, reached: Reached) => RunningProcess['run'],
): RegisteredProcess<T, D> {
  return {
    statesIn: (readModels) => viewCacheOf(statesOf(process), readModels),
    wire: (readModels, tools) => {
      const { store, clock, log } = tools;
      const viewCache: ViewCache<S> = viewCacheOf(statesOf(process), readModels);
      const perform = performWith(tools);
      return {
        viewCache,
        start: (projector) => {
          const reached: Reached = (position, timeoutMilliseconds) => projector.reached(position, timeoutMilliseconds);
          const states = viewCache;
          const { touched, run } = openProcess(process, perform, { states, store, clock, log, reached, ...bounds });
          return { touched, run: beside === undefined ? run : together(run, beside(tools, reached)) };
        },
        settle: async (projector, isMeant) => {
          const paid = new Set<string>();
          for (;;) {
            await projector.catchUp();
            const owed = (await viewCache.list()).flatMap(({ view }) => process.owed(view, NO_TIME_HAS_PASSED));
            const duties = owed.filter((duty) => isMeant(duty) && !paid.has(duty.id));
            if (duties.length === 0) return;
            for (const { id } of duties) paid.add(id);
            await Promise.all(duties.map((duty) => perform(duty, new AbortController().signal)));
          }
        },
      };
    },
  };
}

/** A command waits for no time to pass: what is owed later is a server's. */
const NO_TIME_HAS_PASSED: Since = () => 0;

function together(...runs: readonly RunningProcess['run'][]): RunningProcess['run'] {
  return async (stop, abort) => {
    await Promise.all(runs.map((run) => run(stop, abort)));
  };
}
