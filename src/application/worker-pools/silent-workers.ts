import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
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
/**
 * Where other servers hear of workers as well, a question to them may stay unanswered for so long before a worker is given up: the server that
 * hears of it may be out of reach of the log, or of an older release, which answers none, until it is restarted.
 */
const UNANSWERED_MILLISECONDS = 3_600_000;
/** Other servers are asked of a worker after this time, or up to twice as much: rarely, since each question and its answer stay in the log. */
const ASKED_OF_OTHERS_MILLISECONDS = 1_800_000;
/** Whoever hears of a worker that is suspect says so at its next heartbeat: before that it is given up by nobody. */
const ANSWER_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 10_000;

/** Since when this server takes a worker for silent, and nobody has said otherwise. */
type Suspect = Readonly<{ since: number; isProviderAsked: boolean }>;

/** What one term knows of workers beside what was heard; monotonic milliseconds. */
type Memory = Readonly<{
  begun: number;
  suspects: Map<string, Suspect>;
  /** When another server said that it hears of them. */
  heardElsewhere: Map<string, number>;
  /** What they do by the log, and when this server saw it first: who begins or ends a task is there, whichever server hears of it. */
  deeds: Map<string, Readonly<{ what: string; seenAt: number }>>;
}>;

/**
 * Looks for workers of which nothing is heard any more, until `stop` aborts. First they are given no work, and their provider is asked
 * (`ask`): it may have taken the instance away. Who stays silent is given up. Times count from what this server has heard, at the earliest
 * from when it began to lead. Where other servers hear of workers as well, that a worker is suspect is a question to them: the one that hears
 * of it says so in the worker's stream. One that no server answers for is given up late, since a healthy worker is not to pay for its server.
 */
export async function judgeSilence(
  dependencies: SilenceDependencies,
  ask: () => void,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { views, clock, log } = dependencies;
  const begun = clock.monotonicMilliseconds();
  const memory: Memory = { begun, suspects: new Map(), heardElsewhere: new Map(), deeds: new Map() };
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
  const { begun, suspects, heardElsewhere } = memory;
  const { worker, pool, task, silentSince } = view;
  if (view.phase !== 'ready' && task === null) return;
  const now = clock.monotonicMilliseconds();
  const heard = lastHeard(worker) ?? Number.NEGATIVE_INFINITY;
  const acted = areShared ? actedAt(view, now, memory) : begun;
  const isOfOthers = areShared && (heard < begun || heardElsewhere.has(worker));
  const silent = now - Math.max(begun, heard, heardElsewhere.get(worker) ?? begun, acted);
  const suspectAfter = isOfOthers ? askedAfter(worker) : SUSPECT_MILLISECONDS;
  // Nearly all are heard, and need no closer look.
  if (silent < suspectAfter && silentSince === null) return void suspects.delete(worker);
  // Only those that report to the service can fall silent: they have a token.
  const { state } = await workers.state(worker);
  if ((pool === null ? state.tokenSha256 : state.instance?.tokenSha256) === undefined) return;
  const at = clock.nowText();
  const suspect = suspects.get(worker);
  const isHeardHere = now - heard < SUSPECT_MILLISECONDS;
  if (isHeardHere || (suspect !== undefined && acted > suspect.since)) {
    suspects.delete(worker);
    if (!isHeardHere) heardElsewhere.set(worker, now);
    await workers.handle(worker, { type: 'RecordHeard', data: { at } }, contextOf(worker));
    return;
  }
  if (state.isSilent !== true && suspect !== undefined) {
    suspects.delete(worker);
    heardElsewhere.set(worker, now);
    return;
  }
  if (suspect === undefined) {
    if (state.isSilent !== true && silent < suspectAfter) return;
    suspects.set(worker, { since: now, isProviderAsked: !isOfOthers });
    await workers.handle(worker, { type: 'RecordSilence', data: { at } }, contextOf(worker));
    if (!isOfOthers) ask();
    return;
  }
  const unanswered = now - suspect.since;
  if (unanswered < ANSWER_MILLISECONDS) return;
  if (!suspect.isProviderAsked) {
    suspects.set(worker, { ...suspect, isProviderAsked: true });
    ask();
  }
  if (areShared ? unanswered >= UNANSWERED_MILLISECONDS : silent >= GIVEN_UP_MILLISECONDS) {
    await giveUp(view, silent, memory, dependencies);
  }
}

async function giveUp(
  { worker, pool, task }: WorkerView,
  silent: number,
  { deeds }: Memory,
  { workers, clock }: SilenceDependencies,
): Promise<void> {
  const at = clock.nowText();
  const because = `nothing was heard of ${worker} for ${Math.round(silent / 60_000)} min`;
  if (pool !== null) {
    const end = { code: 'silent', because, forced: true, at };
    await workers.handle(worker, { type: 'RequestTermination', data: end }, contextOf(worker));
  } else if (task !== null) {
    await workers.handle(worker, { type: 'LoseTask', data: { task: task.task, because, at } }, contextOf(worker));
    // That it has this task no more is no deed of its own.
    deeds.delete(worker);
  }
}

/** When the log has told of a worker that it began or ended a task, or was ready. */
function actedAt({ worker, task, idleSince }: WorkerView, now: number, { begun, deeds }: Memory): number {
  const what = task === null ? `idles since ${idleSince ?? ''}` : `${task.task} since ${task.startedAt}`;
  const known = deeds.get(worker);
  if (known?.what === what) return known.seenAt;
  const seenAt = known === undefined ? begun : now;
  deeds.set(worker, { what, seenAt });
  return seenAt;
}

/** After which silence other servers are asked of a worker: of each after another time, so that a term does not ask of all in one look. */
function askedAfter(worker: string): number {
  const share = createHash('sha256').update(worker).digest().readUInt32BE(0) / 2 ** 32;
  return ASKED_OF_OTHERS_MILLISECONDS * (1 + share);
}

function contextOf(worker: string): CommandContext {
  return { actor: 'system:silent-workers', requestId: `silence/${worker}` };
}
