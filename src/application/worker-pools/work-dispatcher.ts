import type { CommandContext } from '../../commands/aggregate.ts';
import { refusesTasks } from '../../commands/worker-pools/worker.ts';
import type { WorkRequestState } from '../../commands/worker-pools/work-request.ts';
import { aborted } from '../../concurrency/deadline.ts';
import type { WorkRequestEvent } from '../../events/worker-pools/work-request.ts';
import { isRefusal } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamCategory } from '../../kernel/stream-name.ts';
import type { Log } from '../../ports/log.ts';
import { openWholeStreams } from '../../projections/engine/whole-streams.ts';
import type { OpenWork, WaitingWork } from '../../projections/worker-pools/work-request-view.ts';
import type { Application } from '../application.ts';
import { dispatchTerms, type DispatchTerms } from './dispatch-terms.ts';
import type { KnownWorker } from './worker-sessions.ts';

/** Work that was given to a worker. */
export type TakenWork = Readonly<{
  id: string;
  scope: string;
  architecture: string;
  pool: string | null;
  payload: unknown;
  expectedSeconds: number | null;
  worker: string | null;
  attempts: number;
  submittedAt: string;
  startedAt: string | null;
  /** Why it was given back before. */
  because: string | null;
}>;

/** Gives waiting work to waiting workers. */
export type WorkDispatcher = Readonly<{
  /** Work for this worker: what it has already, or the next that it may have; `undefined` when `signal` aborts before there is any. */
  take: (worker: KnownWorker, signal: AbortSignal) => Promise<TakenWork | undefined>;
  /** Follows the queue until `signal` aborts; when it has failed, the next run begins at the beginning. @throws StoreUnavailable */
  run: (signal: AbortSignal) => Promise<void>;
}>;

export type DispatcherDependencies = Pick<Application, 'store' | 'workers' | 'workRequests' | 'clock'> &
  Readonly<{
    log: Log;
    views: Pick<Application['views'], 'openWork' | 'scopes' | 'workerPools'>;
    /** Resolves when the views show all that the log holds by now. @throws StoreUnavailable */
    catchUp: () => Promise<void>;
  }>;

type Taker = Readonly<{
  known: KnownWorker;
  pool: string | null;
  architectures: readonly string[];
  give: (work: WaitingWork) => void;
}>;

const EXPECTED_SECONDS_DEFAULT = 600;
/** The queue and the terms are made of what happens in streams of these. */
const CATEGORIES: ReadonlySet<string> = new Set(['workRequest', 'scope', 'workerPool']);

/** Opens the dispatcher of one server. Several servers give from one queue: the request's own stream decides who has it. */
export function openWorkDispatcher(dependencies: DispatcherDependencies): WorkDispatcher {
  const dispatcher = new Dispatcher(dependencies);
  return {
    take: (worker, signal) => dispatcher.take(worker, signal),
    run: (signal) => dispatcher.run(signal),
  };
}

class Dispatcher {
  readonly #with: DispatcherDependencies;
  /** All that is not over, given to a worker or not. */
  #open = new Map<string, WaitingWork>();
  /** What of it waits, in the order in which it came. */
  #waiting = new Map<string, WaitingWork>();
  readonly #takers = new Set<Taker>();
  #terms: DispatchTerms = dispatchTerms([], []);

  constructor(dependencies: DispatcherDependencies) {
    this.#with = dependencies;
  }

  async take(known: KnownWorker, signal: AbortSignal): Promise<TakenWork | undefined> {
    const had = await this.#alreadyHas(known);
    if (had !== undefined) return had;
    const { state } = await this.#with.workers.state(known.worker);
    // It would have to give back whatever it was given; it is told so no sooner than any other, or it would ask again at once.
    if (refusesTasks(state) !== undefined) {
      await aborted(signal);
      return undefined;
    }
    const { pool, architectures } = state;
    while (!signal.aborted) {
      const work = await this.#next({ known, pool, architectures }, signal);
      if (work === undefined) return undefined;
      const given = await this.#give(known, work).catch((error: unknown) => {
        // Whether it was given can't be said: should it wait still, another worker is to find it.
        this.#enqueue(work);
        throw error;
      });
      if (given === 'worker-takes-none') return undefined;
      if (given !== 'gone') return given;
    }
    return undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, log, views, catchUp } = this.#with;
    const from = await store.end();
    // What they did not show by now, the following would not tell either.
    await catchUp();
    const [listed, pools, scopes] = await Promise.all([
      views.openWork.list(),
      views.workerPools.list(),
      views.scopes.list(),
    ]);
    const open = listed.map(({ view }) => view);
    this.#terms = dispatchTerms(pools, scopes);
    this.#open = new Map(open.map(({ isWaiting: _now, ...work }) => [work.id, work]));
    this.#waiting = new Map(open.toSorted((a, b) => a.order - b.order).flatMap((work) => waitingOf(work)));
    this.#offerAll();
    // Work whose submission the reading leaves out could not be given again when it is returned.
    for await (const page of openWholeStreams({ store, log, from, isWanted }).follow(from, signal)) {
      for (const event of page) this.#notice(event);
    }
  }

  #notice(event: RecordedEvent): void {
    if (!isOfWork(event)) {
      if (this.#terms.notice(event)) this.#offerAll();
      return;
    }
    const { id } = event.data;
    if (event.type === 'WorkRequestSubmitted') {
      const { scope, architecture, pool, expectedSeconds } = event.data;
      const work = { id, scope, architecture, pool, expectedSeconds, order: Number(event.position) };
      this.#open.set(id, work);
      this.#enqueue(work);
      return;
    }
    const known = this.#open.get(id);
    this.#waiting.delete(id);
    if (event.type === 'WorkRequestReturned' && known !== undefined) this.#enqueue(known);
    else if (event.type !== 'WorkRequestStarted') this.#open.delete(id);
  }

  #enqueue(work: WaitingWork): void {
    this.#waiting.set(work.id, work);
    this.#offer(work);
  }

  #offerAll(): void {
    // One that is offered leaves the map, which its iterator takes.
    for (const work of this.#waiting.values()) this.#offer(work);
  }

  /** To the best of the workers that wait. */
  #offer(work: WaitingWork): void {
    let best: Taker | undefined;
    for (const taker of this.#takers) {
      const rank = this.#rank(taker, work);
      if (rank !== undefined && (best === undefined || rank > (this.#rank(best, work) ?? 0))) best = taker;
    }
    if (best === undefined) return;
    this.#waiting.delete(work.id);
    best.give(work);
  }

  /** The oldest work that the worker may have, as soon as there is any. */
  #next(taker: Omit<Taker, 'give'>, signal: AbortSignal): Promise<WaitingWork | undefined> {
    for (const work of this.#waiting.values()) {
      if (this.#rank(taker, work) === undefined) continue;
      this.#waiting.delete(work.id);
      return Promise.resolve(work);
    }
    return new Promise((resolve) => {
      const finish = (work: WaitingWork | undefined): void => {
        this.#takers.delete(waiting);
        signal.removeEventListener('abort', giveUp);
        resolve(work);
      };
      const giveUp = (): void => finish(undefined);
      const waiting: Taker = { ...taker, give: finish };
      this.#takers.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** How good a worker is for some work; `undefined`: it may not have it. */
  #rank({ pool, architectures }: Omit<Taker, 'give'>, work: WaitingWork): number | undefined {
    if (!architectures.includes(work.architecture)) return undefined;
    if (pool === null) return work.pool === null ? Number.POSITIVE_INFINITY : undefined;
    if (work.pool !== null && work.pool !== pool) return undefined;
    return this.#terms.priorityOf(pool, work.scope);
  }

  /** The request first, then the worker: what a crash leaves in between is given back by a process. */
  async #give({ worker, run }: KnownWorker, work: WaitingWork): Promise<TakenWork | 'gone' | 'worker-takes-none'> {
    const { workRequests, workers, clock } = this.#with;
    const context = contextOf(work.id);
    const start = { worker, run, at: clock.nowText() };
    const started = await workRequests.handle(work.id, { type: 'StartWork', data: start }, context);
    if (isRefusal(started)) return 'gone';
    const expectedSeconds = work.expectedSeconds ?? EXPECTED_SECONDS_DEFAULT;
    const task = { task: work.id, scope: work.scope, expectedSeconds, at: clock.nowText() };
    const taken = await workers.handle(worker, { type: 'StartTask', data: task }, context);
    const given = takenOf(started.state);
    if (!isRefusal(taken)) return given;
    const back = { worker, startedAt: given.startedAt, because: taken.because, isLost: false, at: clock.nowText() };
    await workRequests.handle(work.id, { type: 'ReturnWork', data: back }, context);
    return 'worker-takes-none';
  }

  /** Whose answer was lost on the way is told again what it has; what is over meanwhile it has no more. */
  async #alreadyHas({ worker }: KnownWorker): Promise<TakenWork | undefined> {
    const { workers, workRequests, clock } = this.#with;
    const { task } = (await workers.state(worker)).state;
    if (task === undefined) return undefined;
    const { state } = await workRequests.state(task.task);
    if (state.state === 'running' && state.worker === worker) return takenOf(state);
    const over = { task: task.task, at: clock.nowText() };
    await workers.handle(worker, { type: 'FinishTask', data: over }, contextOf(task.task));
    return undefined;
  }
}

function takenOf(state: WorkRequestState): TakenWork {
  invariant(state.state !== 'absent', 'what was started was submitted');
  const { request, payload = null, worker, attempts, startedAt, because } = state;
  const { id, scope, architecture, pool, expectedSeconds, submittedAt } = request;
  return { id, scope, architecture, pool, payload, expectedSeconds, worker, attempts, submittedAt, startedAt, because };
}

function waitingOf({ isWaiting, ...work }: OpenWork): readonly [string, WaitingWork][] {
  return isWaiting ? [[work.id, work]] : [];
}

function contextOf(id: string): CommandContext {
  return { actor: 'system:work-dispatcher', requestId: `work/${id}` };
}

function isWanted(stream: string): boolean {
  return CATEGORIES.has(streamCategory(stream));
}

function isOfWork(event: RecordedEvent): event is RecordedEvent<WorkRequestEvent> {
  return event.type.startsWith('WorkRequest');
}
