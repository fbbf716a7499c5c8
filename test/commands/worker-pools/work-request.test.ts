import { test } from 'uvu';
import { ATTEMPTS_MAX, workRequestDecider } from '../../../src/commands/worker-pools/work-request.ts';
import type { WorkRequestEvent } from '../../../src/events/worker-pools/work-request.ts';
import { specify } from '../../specification.ts';

const { given } = specify(workRequestDecider);

const AT = '2026-11-27T20:50:00.000+00:00';
const id = 'w1';
const submission = {
  id,
  scope: 'debian',
  architecture: 'amd64',
  pool: null,
  payload: { suite: 'trixie' },
  expectedSeconds: 60,
  submittedAt: AT,
} as const;
const submitted: WorkRequestEvent = { type: 'WorkRequestSubmitted', data: submission };

function started(worker: string, attempt = 1): WorkRequestEvent {
  return { type: 'WorkRequestStarted', data: { id, worker, run: null, attempt, startedAt: AT } };
}

function returned(worker: string): WorkRequestEvent {
  return { type: 'WorkRequestReturned', data: { id, worker, because: 'it was lost', returnedAt: AT } };
}

function neverHad(worker: string): WorkRequestEvent {
  const data = { id, worker, because: 'it was lost', returnedAt: AT, neverHad: true } as const;
  return { type: 'WorkRequestReturned', data };
}

function finished(worker: string | null, because: string | null = null): WorkRequestEvent {
  const outcome = because === null ? 'succeeded' : 'failed';
  return { type: 'WorkRequestFinished', data: { id, worker, outcome, because, finishedAt: AT } };
}

const cancelled: WorkRequestEvent = { type: 'WorkRequestCancelled', data: { id, cancelledAt: AT } };

function start(worker: string) {
  return { type: 'StartWork', data: { worker, run: null, at: AT } } as const;
}

function finish(worker: string, because: string | null = null) {
  const outcome = because === null ? 'succeeded' : 'failed';
  return { type: 'FinishWork', data: { worker, outcome, because, at: AT } } as const;
}

function giveBack(worker: string, isLost: boolean, startedAt: string | null = AT) {
  return { type: 'ReturnWork', data: { worker, startedAt, because: 'it was lost', isLost, at: AT } } as const;
}

test('work is submitted once, and has one worker at a time', () => {
  given().when({ type: 'SubmitWork', data: submission }).yields(submitted);
  given(submitted).when({ type: 'SubmitWork', data: submission }).yieldsNothing();
  given(submitted).when(start('a')).yields(started('a'));
  given(submitted, started('a')).when(start('a')).yieldsNothing();
  given(submitted, started('a')).when(start('b')).isRefused('work-request-not-waiting');
  given().when(start('a')).isRefused('work-request-not-found');
});

test('its end is kept once, whoever tells it how often', () => {
  given(submitted, started('a')).when(finish('a')).yields(finished('a'));
  given(submitted, started('a'), finished('a')).when(finish('a')).yieldsNothing();
  given(submitted, started('a'), finished('a')).when(finish('a', 'too late')).yieldsNothing();
  given(submitted, started('a')).when(finish('b')).isRefused('not-your-work-request');
  given(submitted).when(finish('a')).isRefused('not-your-work-request');
  given(submitted, started('a'), returned('a')).when(finish('a')).isRefused('not-your-work-request');
});

test('lost work waits again, so many times; then it has failed', () => {
  given(submitted, started('a')).when(giveBack('a', true)).yields(returned('a'));
  given(submitted, started('a'), returned('a')).when(giveBack('a', true)).yieldsNothing();
  given(submitted, started('b', ATTEMPTS_MAX))
    .when(giveBack('b', true))
    .yields(finished(null, `${ATTEMPTS_MAX} workers were lost under it; at last: it was lost`));
  given(submitted, started('b', ATTEMPTS_MAX)).when(giveBack('b', false)).yields(neverHad('b'));
});

test('what is said of an earlier hand-over to the same worker takes the work from it no more', () => {
  const before = '2026-11-27T20:49:00.000+00:00';
  given(submitted, started('a'), neverHad('a'), started('a'))
    .when(giveBack('a', true, before))
    .yieldsNothing();
  given(submitted, started('a'), neverHad('a'), started('a'))
    .when(giveBack('a', true, null))
    .yields(returned('a'));
});

test('what is cancelled is given to no worker, and an outcome that comes later is not kept', () => {
  given(submitted)
    .when({ type: 'CancelWork', data: { at: AT } })
    .yields(cancelled);
  given(submitted, cancelled)
    .when({ type: 'CancelWork', data: { at: AT } })
    .yieldsNothing();
  given(submitted, cancelled).when(start('a')).isRefused('work-request-not-waiting');
  given(submitted, started('a'))
    .when({ type: 'CancelWork', data: { at: AT } })
    .yields(cancelled);
  given(submitted, started('a'), cancelled).when(finish('a')).yieldsNothing();
  given(submitted, started('a'), finished('a'))
    .when({ type: 'CancelWork', data: { at: AT } })
    .isRefused('work-request-over');
});

test.run();
