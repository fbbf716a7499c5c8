import type { Workers, WorkRequests } from '../../commands/worker-pools/aggregates.ts';
import type { WorkRequestEvent } from '../../events/worker-pools/work-request.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process } from '../../kernel/process.ts';
import type { Clock } from '../../ports/clock.ts';

type Watched =
  | Exclude<WorkRequestEvent, { type: 'WorkRequestSubmitted' }>
  | Extract<WorkerEvent, { type: 'TaskStarted' | 'TaskFinished' }>;

/** What a work request's stream and its worker's say of each other. */
export type HandOverState = Readonly<{
  id: string;
  worker: string;
  started: Mark;
  /** As the request's stream has it; absent in what an earlier version has saved. */
  startedAt?: string;
  /** By the worker's stream. */
  task: 'none' | 'running' | 'finished' | 'lost';
  because: string | null;
  /** By the request's stream: it has ended, when. */
  over: Mark | null;
}>;

export type HandOverDuty =
  /** Its worker was lost, or never had it: it waits again. */
  | Duty<
      'ReturnWork',
      Readonly<{ id: string; worker: string; startedAt: string | null; because: string; isLost: boolean }>
    >
  /** The request has ended, and its worker still counts as busy with it. */
  | Duty<'FinishTask', Readonly<{ id: string; worker: string }>>;

/** Between two appends of one step there is no more than this, unless the server died in between. */
const STEP_MILLISECONDS = 60_000;

/** Makes the streams of work requests and of workers agree, where a server died between them, and gives lost work back to the queue. */
export const returnWork: Process<Watched, HandOverState, HandOverDuty> = {
  name: 'return-work',
  version: 1,
  handles: [
    'WorkRequestStarted',
    'WorkRequestReturned',
    'WorkRequestFinished',
    'WorkRequestCancelled',
    'TaskStarted',
    'TaskFinished',
  ],
  keysOf: (event) =>
    event.type === 'TaskStarted' || event.type === 'TaskFinished' ? [event.data.task] : [event.data.id],
  evolve,
  owed: (state, since) => {
    const { id, worker, started, startedAt = null, task, because, over } = state;
    if (over !== null) {
      return since(over) < STEP_MILLISECONDS ? [] : [{ type: 'FinishTask', id: `finish/${id}`, data: { id, worker } }];
    }
    if (task === 'lost') {
      const data = { id, worker, startedAt, because: because ?? `worker ${worker} was lost`, isLost: true };
      return [{ type: 'ReturnWork', id: `return/${id}/${started.position}`, data }];
    }
    if (task !== 'none' || since(started) < STEP_MILLISECONDS) return [];
    const data = { id, worker, startedAt, because: `worker ${worker} never had it`, isLost: false };
    return [{ type: 'ReturnWork', id: `return/${id}/${started.position}`, data }];
  },
  wakesIn: ({ task, started, over }, since) => {
    if (over !== null) return STEP_MILLISECONDS - since(over);
    return task === 'none' ? STEP_MILLISECONDS - since(started) : undefined;
  },
};

function evolve(state: HandOverState | undefined, event: RecordedEvent<Watched>): HandOverState | undefined {
  if (event.type === 'WorkRequestStarted') {
    const { id, worker, startedAt } = event.data;
    return { id, worker, started: markOf(event), startedAt, task: 'none', because: null, over: null };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case 'WorkRequestReturned':
      return undefined;
    case 'WorkRequestFinished':
      return state.task === 'running' ? { ...state, over: markOf(event) } : undefined;
    case 'WorkRequestCancelled':
      // Its worker may go on with it, and says when it has ended.
      return undefined;
    case 'TaskStarted':
      return event.data.worker === state.worker ? { ...state, task: 'running' } : state;
    case 'TaskFinished': {
      if (event.data.worker !== state.worker) return state;
      if (state.over !== null) return undefined;
      const { outcome, because = null } = event.data;
      return { ...state, task: outcome, because };
    }
  }
}

export type ReturnWorkDependencies = Readonly<{ workRequests: WorkRequests; workers: Workers; clock: Clock }>;

/** Takes the step that is missing, if it still is; it may be taken twice. */
export function performReturnWork({ workRequests, workers, clock }: ReturnWorkDependencies): Perform<HandOverDuty> {
  return async ({ id: requestId, type, data }) => {
    const context = { actor: 'system:return-work', requestId };
    const { id, worker } = data;
    const at = clock.nowText();
    if (type === 'FinishTask') {
      await workers.handle(worker, { type: 'FinishTask', data: { task: id, at } }, context);
      return;
    }
    // Between the look and now the worker may have got it after all, or once more.
    if ((await workers.state(worker)).state.task?.task === id) return;
    const { startedAt, because, isLost } = data;
    const back = { worker, startedAt, because, isLost, at };
    const answer = await workRequests.handle(id, { type: 'ReturnWork', data: back }, context);
    if (isRefusal(answer)) throw new Error(answer.because);
  };
}
