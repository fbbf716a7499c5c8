import type { OperationTexts } from './operation-text.ts';

/** What workers ask, in words. */
export const WORKER_TEXTS: OperationTexts = {
  workerPostActivate: {
    summary: 'Exchange the activation token',
    description:
      'A new worker asks this once, with the activation token that it was started with, and gets the token that it uses from then on. 401 for a token that has been exchanged already, or that is no longer wanted.',
  },
  workerGetAgent: {
    summary: 'Get the agent',
    description:
      'The program that runs on a worker, an ES module for Node without dependencies. It is asked for with the activation token, before that is exchanged.',
  },
  workerPostReady: {
    summary: 'Say that the worker has booted',
    description:
      'From now on it may take work. `metadata` is kept as the dynamic metadata of its pool. 409 with `Retry-After: 5`: the worker is faster than the record of its creation; the same again in five seconds.',
  },
  workerPostHeartbeat: {
    summary: 'Say that the worker is alive',
    description:
      'Every request of a worker counts as a sign of life; one that is busy sends this between. An instance of a pool that is not heard of for long is replaced, and its work goes to another one.',
  },
  workerPostTake: {
    summary: 'Take work',
    description:
      'Waits for work that fits the pool and the architectures of the worker, and gives it: 200. 204: there was none within `wait` (half a minute by default, at most a minute); ask again at once. A worker that asks while it has work gets that again.',
  },
  workerPostFinish: {
    summary: 'Say how work has ended',
    description:
      'The same twice is a success. 404 where there is no such work request; 409 where it is not the one that this worker has: its outcome is not kept, since another worker does it, or it was cancelled.',
  },
};
