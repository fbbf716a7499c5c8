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
/** Of a worker that another server was the last to hear of, this server asks by the log: rarely, since each question and its answer stay there. */
const ASKED_OF_OTHERS_MILLISECONDS = 600_000;
/** Whoever hears of a worker that is suspect says so at its next heartbeat: before that it is given up by nobody. */
const ANSWER_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 10_000;

/** What one term knows of workers beside what was heard; monotonic milliseconds. */
type Memory = Readonly<{
  begun: number;
  /** Since when this server takes them for silent, and nobody has said otherwise. */
  suspectSince: Map<string, number>;
  /** When another server said that it hears of them. */
  heardElsewhere: Map<string, number>;
}>;

/**
 * Looks for workers of which nothing is heard any more, until `stop` aborts. First they are given no work, and their provider is asked
 * (`ask`): it may have taken the instance away. Who stays silent is given up. Times count from what this server has heard, at the earliest
 * from when it began to lead. Where other servers hear of workers as well, that a worker is suspect is a question to them: the one that hears
 * of it says so in the worker's stream.
 */
export async function judgeSilence(
  dependencies: SilenceDependencies,
  ask: () => void,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { views, clock, log } = dependencies;
  const memory: Memory = { begun: clock.monotonicMilliseconds(), suspectSince: new Map(), heardElsewhere: new Map() };
  while (!stop.aborted) {
    await clock.wait(LOOK_MILLISECONDS, stop).catch(() => undefined);
    if (stop.aborted) return;
    try {
      for (const { view } of await views.workers.list()) await judge(view, memory, ask, dependencies);
    } catch (error) {
      if (!abort.aborted) log.error({ error }, 'which workers are silent could not be judged; trying again');
    }
  }
}

async function judge(
  view: WorkerView,
  memory: Memory,
  ask: () => void,
  dependencies: SilenceDependencies,
): Promise<void> {
  const { workers, clock, lastHeard, areShared } = dependencies;
  const { begun, suspectSince, heardElsewhere } = memory;
  const { worker, pool, task, silentSince } = view;
  if (view.phase !== 'ready' && task === null) return;
  const now = clock.monotonicMilliseconds();
  const heard = lastHeard(worker);
  const elsewhere = heardElsewhere.get(worker) ?? begun;
  const isOfOthers = areShared && (heard === undefined || heard < elsewhere);
  const silent = now - Math.max(heard ?? begun, elsewhere);
  const suspectAfter = isOfOthers ? ASKED_OF_OTHERS_MILLISECONDS : SUSPECT_MILLISECONDS;
  // Nearly all are heard, and need no closer look.
  if (silent < suspectAfter && silentSince === null) return void suspectSince.delete(worker);
  // Only those that report to the service can fall silent: they have a token.
  const { state } = await workers.state(worker);
  if ((pool === null ? state.tokenSha256 : state.instance?.tokenSha256) === undefined) return;
  const context = { actor: 'system:silent-workers', requestId: `silence/${worker}` };
  const at = clock.nowText();
  const since = suspectSince.get(worker);
  if (silent < suspectAfter && !(isOfOthers && state.isSilent === true)) {
    suspectSince.delete(worker);
    // A server that has just begun to lead has not heard it yet.
    if (heard === undefined || now - heard >= SUSPECT_MILLISECONDS) return;
    await workers.handle(worker, { type: 'RecordHeard', data: { at } }, context);
    return;
  }
  if (state.isSilent !== true && since !== undefined) {
    suspectSince.delete(worker);
    heardElsewhere.set(worker, now);
    return;
  }
  if (since === undefined) {
    suspectSince.set(worker, now);
    await workers.handle(worker, { type: 'RecordSilence', data: { at } }, context);
    if (!isOfOthers) ask();
    return;
  }
  if (silent < GIVEN_UP_MILLISECONDS || now - since < ANSWER_MILLISECONDS) return;
  const because = `nothing was heard of ${worker} for ${Math.round(silent / 60_000)} min`;
  if (pool !== null) {
    const end = { code: 'silent', because, forced: true, at };
    await workers.handle(worker, { type: 'RequestTermination', data: end }, context);
  } else if (task !== null) {
    await workers.handle(worker, { type: 'LoseTask', data: { task: task.task, because, at } }, context);
  }
}
