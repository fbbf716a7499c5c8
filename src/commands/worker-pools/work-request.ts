import { type WorkRequestEvent, workRequestEvents } from '../../events/worker-pools/work-request.ts';
import { type Command, type Decider, type Decision, refuse } from '../../kernel/decider.ts';

type Submitted = Extract<WorkRequestEvent, { type: 'WorkRequestSubmitted' }>['data'];

export type WorkOutcome = Extract<WorkRequestEvent, { type: 'WorkRequestFinished' }>['data']['outcome'];

/** Plain JSON, so that it is its own snapshot. The payload goes when it is over: no worker is given it any more. */
export type WorkRequestState =
  | Readonly<{ state: 'absent' }>
  | Readonly<{
      state: 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled';
      id: string;
      request: Omit<Submitted, 'payload'>;
      payload: Submitted['payload'] | undefined;
      /** Who has it, or had it last. */
      worker: string | null;
      run: string | null;
      /** How often it was given to a worker that was then lost, and now. */
      attempts: number;
      /** Of the worker that has it. */
      startedAt: string | null;
      /** Why it waits again, or has failed. */
      because: string | null;
    }>;

export type WorkRequestCommand =
  | Command<'SubmitWork', Submitted>
  | Command<'StartWork', { worker: string; run: string | null; at: string }>
  /**
   * `startedAt`: of which hand-over this is said, since a worker may be given the same work again; null: it is not known. `isLost`: it counts as
   * an attempt; otherwise the worker never had it.
   */
  | Command<'ReturnWork', { worker: string; startedAt: string | null; because: string; isLost: boolean; at: string }>
  | Command<'FinishWork', { worker: string; outcome: WorkOutcome; because: string | null; at: string }>
  | Command<'CancelWork', { at: string }>;

/** So many workers may be lost under one request before it is given up: it may be what ends them. */
export const ATTEMPTS_MAX = 3;

const ABSENT: WorkRequestState = { state: 'absent' };

/** The rules of one work request: it has one worker at a time, and one end. */
export const workRequestDecider = {
  category: 'workRequest',
  handles: workRequestEvents.map(({ type }) => type),
  initial: ABSENT,
  evolve,
  decide,
  snapshot: {
    version: 2,
    encode: (state: WorkRequestState): unknown => state,
    decode: (stored: unknown) => stored as WorkRequestState,
  },
} as const satisfies Decider<WorkRequestCommand, WorkRequestState, WorkRequestEvent> &
  Readonly<{ handles: readonly WorkRequestEvent['type'][] }>;

function evolve(state: WorkRequestState, event: WorkRequestEvent): WorkRequestState {
  if (event.type === 'WorkRequestSubmitted') {
    const { payload, ...request } = event.data;
    const nothingYet = { worker: null, run: null, attempts: 0, startedAt: null, because: null };
    return { state: 'waiting', id: request.id, request, payload, ...nothingYet };
  }
  if (state.state === 'absent') return state;
  switch (event.type) {
    case 'WorkRequestStarted': {
      const { worker, run, attempt: attempts, startedAt } = event.data;
      return { ...state, state: 'running', worker, run, attempts, startedAt };
    }
    case 'WorkRequestReturned':
      return {
        ...state,
        state: 'waiting',
        startedAt: null,
        because: event.data.because,
        attempts: state.attempts - (event.data.neverHad === true ? 1 : 0),
      };
    case 'WorkRequestFinished':
      return { ...state, state: event.data.outcome, payload: undefined, because: event.data.because };
    case 'WorkRequestCancelled':
      return { ...state, state: 'cancelled', payload: undefined };
  }
}

function decide(command: WorkRequestCommand, state: WorkRequestState): Decision<WorkRequestEvent> {
  if (command.type === 'SubmitWork') {
    return state.state === 'absent' ? [{ type: 'WorkRequestSubmitted', data: command.data }] : [];
  }
  if (state.state === 'absent') return refuse('work-request-not-found', 'work request not found.', 'id');
  const { id, worker, attempts } = state;
  switch (command.type) {
    case 'StartWork': {
      const { worker: taker, run, at: startedAt } = command.data;
      if (state.state === 'running' && worker === taker && state.run === run) return [];
      if (state.state !== 'waiting') return refuse('work-request-not-waiting', `work request ${id} is ${state.state}.`);
      return [{ type: 'WorkRequestStarted', data: { id, worker: taker, run, attempt: attempts + 1, startedAt } }];
    }
    case 'ReturnWork': {
      const { worker: loser, startedAt, because, isLost, at } = command.data;
      if (state.state !== 'running' || worker !== loser) return [];
      if (startedAt !== null && startedAt !== state.startedAt) return [];
      if (!isLost || attempts < ATTEMPTS_MAX) {
        const returned = { id, worker: loser, because, returnedAt: at };
        return [{ type: 'WorkRequestReturned', data: isLost ? returned : { ...returned, neverHad: true } }];
      }
      const lost = `${attempts} workers were lost under it; at last: ${because}`;
      const data = { id, worker: null, outcome: 'failed', because: lost, finishedAt: at } as const;
      return [{ type: 'WorkRequestFinished', data }];
    }
    case 'FinishWork': {
      const { worker: finisher, outcome, because, at: finishedAt } = command.data;
      if (worker !== finisher) return refuse('not-your-work-request', `${finisher} does not have work request ${id}.`);
      // Told twice, or of what was cancelled meanwhile: its outcome is not kept.
      if (state.state !== 'running') return state.state === 'waiting' ? notYours(finisher, id) : [];
      return [{ type: 'WorkRequestFinished', data: { id, worker: finisher, outcome, because, finishedAt } }];
    }
    case 'CancelWork':
      if (state.state === 'cancelled') return [];
      if (state.state === 'succeeded' || state.state === 'failed') {
        return refuse('work-request-over', `work request ${id} has ${state.state} already.`, 'id');
      }
      return [{ type: 'WorkRequestCancelled', data: { id, cancelledAt: command.data.at } }];
  }
}

function notYours(worker: string, id: string) {
  return refuse('not-your-work-request', `${worker} does not have work request ${id} any more.`);
}
