import type { Log } from '../../ports/log.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Application } from '../application.ts';

export type SilenceDependencies = Pick<Application, 'workers' | 'clock'> &
  Readonly<{
    views: Pick<Application['views'], 'workers'>;
    log: Log;
    /** When this server last heard of a worker, in monotonic milliseconds; `undefined`: not since it began. */
    lastHeard: (worker: string) => number | undefined;
    /** Other servers hear of workers as well. */
    areShared: boolean;
  }>;

/** Three heartbeats that did not come. */
const SUSPECT_MILLISECONDS = 60_000;
/** By then the provider has been asked several times; an instance that is there and says nothing is ended, and its task given to another. */
const GIVEN_UP_MILLISECONDS = 300_000;
const LOOK_MILLISECONDS = 10_000;

/**
 * Looks for workers of which nothing is heard any more, until `stop` aborts. First they are given no work, and their provider is asked
 * (`ask`): it may have taken the instance away. Who stays silent is given up. Times count from what this server has heard, at the earliest
 * from when it began to lead; where other servers hear of workers as well, only those that this one has heard of are judged.
 */
export async function judgeSilence(
  dependencies: SilenceDependencies,
  ask: () => void,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { views, clock, log } = dependencies;
  const begun = clock.monotonicMilliseconds();
  while (!stop.aborted) {
    await clock.wait(LOOK_MILLISECONDS, stop).catch(() => undefined);
    if (stop.aborted) return;
    try {
      for (const { view } of await views.workers.list()) await judge(view, begun, ask, dependencies);
    } catch (error) {
      if (!abort.aborted) log.error({ error }, 'which workers are silent could not be judged; trying again');
    }
  }
}

async function judge(
  view: WorkerView,
  begun: number,
  ask: () => void,
  dependencies: SilenceDependencies,
): Promise<void> {
  const { workers, clock, lastHeard, areShared } = dependencies;
  const { worker, pool, task, silentSince } = view;
  if (view.phase !== 'ready' && task === null) return;
  const heard = lastHeard(worker);
  if (heard === undefined && areShared) return;
  const now = clock.monotonicMilliseconds();
  const silent = now - Math.max(heard ?? begun, begun);
  // Nearly all are heard, and need no closer look.
  if (silent < SUSPECT_MILLISECONDS && silentSince === null) return;
  // Only those that report to the service can fall silent: they have a token.
  const { state } = await workers.state(worker);
  if ((pool === null ? state.tokenSha256 : state.instance?.tokenSha256) === undefined) return;
  const context = { actor: 'system:silent-workers', requestId: `silence/${worker}` };
  const at = clock.nowText();
  if (silent < SUSPECT_MILLISECONDS) {
    // A server that has just begun to lead has not heard it yet.
    if (heard === undefined || now - heard >= SUSPECT_MILLISECONDS) return;
    await workers.handle(worker, { type: 'RecordHeard', data: { at } }, context);
    return;
  }
  if (silentSince === null) {
    await workers.handle(worker, { type: 'RecordSilence', data: { at } }, context);
    ask();
  }
  if (silent < GIVEN_UP_MILLISECONDS) return;
  const because = `nothing was heard of ${worker} for ${Math.round(silent / 60_000)} min`;
  if (pool !== null) {
    const end = { code: 'silent', because, forced: true, at };
    await workers.handle(worker, { type: 'RequestTermination', data: end }, context);
  } else if (task !== null) {
    await workers.handle(worker, { type: 'LoseTask', data: { task: task.task, because, at } }, context);
  }
}
