import { test } from 'uvu';
import type { WorkRequestEvent } from '../../../src/events/worker-pools/work-request.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import { returnWork } from '../../../src/processes/worker-pools/return-work.ts';
import { recordedInOrder, specifyProcess } from '../../specification.ts';

type Watched =
  | Exclude<WorkRequestEvent, { type: 'WorkRequestSubmitted' }>
  | Extract<WorkerEvent, { type: 'TaskStarted' | 'TaskFinished' }>;

const AT = '2026-11-27T20:50:00.000+00:00';
const MINUTE_LATER = '2026-11-27T20:51:10.000+00:00';
const of = { worker: 'a', pool: null, run: null, task: 'w1', scope: 'debian', startedAt: AT } as const;

const started: Watched = {
  type: 'WorkRequestStarted',
  data: { id: 'w1', worker: 'a', run: null, attempt: 1, startedAt: AT },
};
const taken: Watched = { type: 'TaskStarted', data: { ...of, expectedSeconds: 1 } };
const lost: Watched = { type: 'TaskFinished', data: { ...of, outcome: 'lost', finishedAt: AT, because: 'spot' } };
const done: Watched = { type: 'TaskFinished', data: { ...of, outcome: 'finished', finishedAt: AT } };
const finished: Watched = {
  type: 'WorkRequestFinished',
  data: { id: 'w1', worker: 'a', outcome: 'succeeded', because: null, finishedAt: AT },
};

function given(...events: readonly Watched[]) {
  return specifyProcess(returnWork).given(...recordedInOrder(events, AT, 1));
}

test('work whose worker was lost waits again, with the reason', () => {
  given(started, taken, lost)
    .at(AT)
    .owes({ type: 'ReturnWork', data: { id: 'w1', worker: 'a', because: 'spot', isLost: true } });
});

test('work that never reached its worker, since a server died in between, is given back after a while', () => {
  given(started).at(AT).owesNothing();
  given(started)
    .at(MINUTE_LATER)
    .owes({ type: 'ReturnWork', data: { id: 'w1', worker: 'a', because: 'worker a never had it', isLost: false } });
});

test('a worker that still counts as busy with what has ended is freed after a while', () => {
  given(started, taken, finished).at(AT).owesNothing();
  given(started, taken, finished)
    .at(MINUTE_LATER)
    .owes({ type: 'FinishTask', data: { id: 'w1', worker: 'a' } });
  given(started, taken, finished, done).isOver();
});

test('work that runs owes nothing', () => {
  given(started, taken).at(MINUTE_LATER).owesNothing();
});

test.run();
