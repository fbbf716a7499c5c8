import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { WorkRequestEvent } from '../../../src/events/worker-pools/work-request.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import { performReturnWork, returnWork } from '../../../src/processes/worker-pools/return-work.ts';
import { dutiesAfter, recordedInOrder, specifyProcess } from '../../specification.ts';
import { openTestApplication } from '../../support/test-application.ts';
import { accepted } from '../../support/worker-pools/records.ts';

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

function owedId(...events: readonly Watched[]): string | undefined {
  return dutiesAfter(returnWork, recordedInOrder(events, AT, 1), MINUTE_LATER)[0]?.id;
}

test('work whose worker was lost waits again, with the reason', () => {
  given(started, taken, lost)
    .at(AT)
    .owes({ type: 'ReturnWork', data: { id: 'w1', worker: 'a', startedAt: AT, because: 'spot', isLost: true } });
});

test('work that never reached its worker, since a server died in between, is given back after a while', () => {
  given(started).at(AT).owesNothing();
  given(started)
    .at(MINUTE_LATER)
    .owes({
      type: 'ReturnWork',
      data: { id: 'w1', worker: 'a', startedAt: AT, because: 'worker a never had it', isLost: false },
    });
});

test('each hand-over of one work request is given back by a duty of its own, though none of them counted as an attempt', () => {
  const back: Watched = {
    type: 'WorkRequestReturned',
    data: { id: 'w1', worker: 'a', because: 'worker a never had it', returnedAt: AT, neverHad: true },
  };
  assert.is.not(owedId(started), owedId(started, back, started));
});

test('a worker that still counts as busy with what has ended is freed after a while', () => {
  given(started, taken, finished).at(AT).owesNothing();
  given(started, taken, finished)
    .at(MINUTE_LATER)
    .owes({ type: 'FinishTask', data: { id: 'w1', worker: 'a' } });
  given(started, taken, finished, done).isOver();
});

test('work that its lost worker has been given again meanwhile is left to it', async () => {
  const application = await openTestApplication();
  try {
    const { workers, workRequests, clock, context } = application;
    const at = clock.nowText();
    const tell = async (command: Parameters<typeof workers.handle>[1]): Promise<void> =>
      void accepted(await workers.handle('a', command, context));
    await tell({ type: 'RegisterWorker', data: { worker: 'a', pool: null, architectures: ['amd64'], at } });
    const work = { id: 'w1', scope: 'debian', architecture: 'amd64', pool: null, payload: null } as const;
    const submission = { ...work, expectedSeconds: null, submittedAt: at };
    accepted(await workRequests.handle('w1', { type: 'SubmitWork', data: submission }, context));
    const give = async (startedAt: string): Promise<void> => {
      const start = { type: 'StartWork', data: { worker: 'a', run: null, at: startedAt } } as const;
      accepted(await workRequests.handle('w1', start, context));
    };
    const take = { type: 'StartTask', data: { task: 'w1', scope: 'debian', expectedSeconds: 1, at } } as const;
    await give(AT);
    await tell(take);
    await tell({ type: 'LoseTask', data: { task: 'w1', because: 'silent', at } });
    const perform = performReturnWork({ workRequests, workers, clock });
    const data = { id: 'w1', worker: 'a', startedAt: AT, because: 'silent', isLost: true };
    const duty = { type: 'ReturnWork', id: 'return/w1/1', data } as const;
    await perform(duty, new AbortController().signal);
    assert.is((await workRequests.state('w1')).state.state, 'waiting');
    await give(MINUTE_LATER);
    // A duty may be paid twice: its first settling event was not seen yet. The worker is about to have it, and then has it.
    await perform(duty, new AbortController().signal);
    assert.is((await workRequests.state('w1')).state.state, 'running');
    await tell(take);
    await perform(duty, new AbortController().signal);
    assert.is((await workRequests.state('w1')).state.state, 'running');
  } finally {
    await application.close();
  }
});

test('work that runs owes nothing', () => {
  given(started, taken).at(MINUTE_LATER).owesNothing();
});

test.run();
