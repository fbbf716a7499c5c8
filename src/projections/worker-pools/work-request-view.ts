import type { Architecture } from '../../events/worker-pools/architectures.ts';
import { type WorkRequestEvent, workRequestEvents } from '../../events/worker-pools/work-request.ts';
import type { Projection } from '../../kernel/projection.ts';

/** A work request as people read it; its payload stays in its stream. */
export type WorkRequestView = Readonly<{
  id: string;
  scope: string;
  architecture: Architecture;
  pool: string | null;
  expectedSeconds: number | null;
  state: 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  worker: string | null;
  attempts: number;
  submittedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  /** Why it failed, or waits again. */
  because: string | null;
}>;

/** Work requests by id. */
export const workRequestProjection: Projection<WorkRequestEvent, WorkRequestView> = {
  name: 'work-requests',
  version: 1,
  handles: workRequestEvents.map(({ type }) => type),
  keysOf: ({ data }) => [data.id],
  evolve: (view, event) => {
    if (event.type === 'WorkRequestSubmitted') {
      const { payload: _kept, ...request } = event.data;
      const nothingYet = { worker: null, attempts: 0, startedAt: null, finishedAt: null, because: null };
      return { ...request, state: 'waiting', ...nothingYet };
    }
    return view === undefined ? undefined : changed(view, event);
  },
};

function changed(
  view: WorkRequestView,
  event: Exclude<WorkRequestEvent, { type: 'WorkRequestSubmitted' }>,
): WorkRequestView {
  switch (event.type) {
    case 'WorkRequestStarted': {
      const { worker, attempt: attempts, startedAt } = event.data;
      return { ...view, state: 'running', worker, attempts, startedAt };
    }
    case 'WorkRequestReturned': {
      const { because, neverHad } = event.data;
      // One that is told again finds it waiting, and counts nothing down.
      const attempts = view.attempts - (neverHad === true && view.state === 'running' ? 1 : 0);
      return { ...view, state: 'waiting', worker: null, attempts, startedAt: null, because };
    }
    case 'WorkRequestFinished': {
      const { worker, outcome, because, finishedAt } = event.data;
      return { ...view, state: outcome, worker: worker ?? view.worker, because, finishedAt };
    }
    case 'WorkRequestCancelled':
      return { ...view, state: 'cancelled', finishedAt: event.data.cancelledAt };
  }
}

/** What of a waiting request decides who may have it; `order` grows with every submission. */
export type WaitingWork = Pick<WorkRequestView, 'id' | 'scope' | 'architecture' | 'pool' | 'expectedSeconds'> &
  Readonly<{ order: number }>;

/** A request that is not over: that it waits, or what it was before it was started. */
export type OpenWork = WaitingWork & Readonly<{ isWaiting: boolean }>;

/** The requests that are not over, by id: what is over is forgotten, so that the list stays as short as the queue. */
export const openWorkProjection: Projection<WorkRequestEvent, OpenWork> = {
  name: 'open-work',
  version: 1,
  handles: workRequestEvents.map(({ type }) => type),
  keysOf: ({ data }) => [data.id],
  evolve: (view, event) => {
    switch (event.type) {
      case 'WorkRequestSubmitted': {
        const { id, scope, architecture, pool, expectedSeconds } = event.data;
        return { id, scope, architecture, pool, expectedSeconds, order: Number(event.position), isWaiting: true };
      }
      case 'WorkRequestStarted':
        return view && { ...view, isWaiting: false };
      case 'WorkRequestReturned':
        return view && { ...view, isWaiting: true };
      case 'WorkRequestFinished':
      case 'WorkRequestCancelled':
        return undefined;
    }
  },
};
