import { type Examples, WORK_ID } from './example.ts';

/** What workers send and are answered. */
export const WORKER_EXAMPLES: Examples = {
  workerGetAgent: { status: 200 },
  workerPostActivate: {
    status: 200,
    answer: { worker_token: 'edgeward.build-host.lSFs230PARBrs_L-If3QLJ--fQWCGKwSDbiInQyxEE0' },
  },
  workerPostReady: { body: { metadata: { cpus: 8, memory: '32 GiB' } }, status: 204 },
  workerPostHeartbeat: { status: 204 },
  workerPostTake: {
    status: 200,
    answer: {
      id: WORK_ID,
      scope: 'debian',
      architecture: 'amd64',
      pool: null,
      payload: { build: 'hello_2.12-1' },
      worker: 'build-host',
      attempts: 1,
      because: null,
      expected_seconds: 300,
      state: 'running',
      submitted_at: '2026-11-29T05:32:01.204+00:00',
      started_at: '2026-11-29T05:32:01.611+00:00',
      finished_at: null,
    },
  },
  workerPostFinish: { body: { id: WORK_ID, outcome: 'succeeded' }, status: 204 },
};
