// A server's pools in a process of their own, over files, on a clock that the process that started it moves. That one is the providers,
// the workers and the administrators, and kills it.
// usage: node --import tsx engine-process.ts   (with a channel to its parent)
import { setMaxListeners } from 'node:events';
import { ensureAsset } from '../../../src/application/worker-pools/assets.ts';
import { ensurePool } from '../../../src/application/worker-pools/pools.ts';
import { addScopeWorkerPool, createScope } from '../../../src/application/worker-pools/scopes.ts';
import { openWorkDispatcher } from '../../../src/application/worker-pools/work-dispatcher.ts';
import { submitWork } from '../../../src/application/worker-pools/work-requests.ts';
import {
  activateWorker,
  finishWork,
  readyWorker,
  workerOf,
} from '../../../src/application/worker-pools/worker-sessions.ts';
import type { AssetRecord } from '../../../src/events/worker-pools/asset-records.ts';
import { type Cloud, CloudFailure, type OpenCloud } from '../../../src/ports/clouds.ts';
import { z } from 'zod';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { failingStore } from '../../support/stores/failing-store.ts';
import { openTestApplication } from '../../support/test-application.ts';
import { startPoolServer } from '../../support/worker-pools/pool-server.ts';
import { accepted } from '../../support/worker-pools/records.ts';
import { randomFrom } from '../../support/random.ts';
import { openCalls } from './calls.ts';
import * as messages from './messages.ts';

/** Whose records fail: those of workers and of people are told again by who they are from. */
const OF_THE_ENGINE = /^system:(?!work-dispatcher)/;
/** A worker's heartbeats come every 20 s: the last one is half of that old. */
const HEARD_BEFORE_MILLISECONDS = 10_000;

type Started = Awaited<ReturnType<typeof start>>;
let started: Started | undefined;

const calls = openCalls(
  (message) => void process.send?.(message),
  async (name, given) => {
    if (name === 'start') {
      started = await start(messages.startCall.parse(given));
      return null;
    }
    if (started === undefined) throw new Error('it is not started');
    const perform = started[handlerOf(name)];
    return perform(given);
  },
);
process.on('message', calls.hear);
process.on('disconnect', () => process.exit(1));
process.send?.({ of: 0, answer: 'loaded' });

function handlerOf(name: string): keyof Started {
  return z
    .enum(['found', 'edit', 'submit', 'activate', 'ready', 'take', 'finish', 'pass', 'accounts', 'stop'])
    .parse(name);
}

async function start({ folder, now, seed }: z.infer<typeof messages.startCall>) {
  const clock = createManualClock(now);
  const records = failingStore(randomFrom(seed), OF_THE_ENGINE);
  const opened = await openTestApplication(clock, records.between, folder);
  const providers = openProviders(clock);
  const heardAt = new Map<string, number>();
  let heard: ReadonlySet<string> = new Set();
  const lastHeard = (worker: string): number | undefined => {
    if (heard.has(worker)) heardAt.set(worker, clock.monotonicMilliseconds() - HEARD_BEFORE_MILLISECONDS);
    return heardAt.get(worker);
  };
  const server = await startPoolServer(opened, providers.openCloud, providers.isBusy, lastHeard);
  const application = { ...opened, ...server.aggregates, views: server.views, catchUp: server.settle };
  const { context } = application;
  const stop = new AbortController();
  await server.settle();
  const dispatcher = openWorkDispatcher(application);
  const following = dispatcher.run(stop.signal);
  let listening = newListening();

  return {
    found: async (given: unknown): Promise<unknown> => {
      const { pools } = messages.poolsCall.parse(given);
      for (const name of new Set(pools.map(({ account }) => account))) {
        accepted(
          await ensureAsset({ record: accountOf(name), credentials: { api_token: name } }, context, application),
        );
      }
      for (const scope of new Set(pools.map(({ scope: of }) => of)))
        accepted(await createScope(scope, context, application));
      for (const pool of pools) {
        accepted(await ensurePool(pool.name, recordOf(pool), { dryRun: false }, context, application));
        const { scope, priority } = pool;
        accepted(await addScopeWorkerPool({ scope, pool: pool.name }, { priority }, context, application));
      }
      return null;
    },
    edit: async (given: unknown): Promise<unknown> => {
      const { accounts, pools, hour } = messages.editCall.parse(given);
      for (const name of accounts) {
        const asset = { record: accountOf(name), credentials: { api_token: `${name}-${hour}` } };
        accepted(await ensureAsset(asset, context, application));
      }
      for (const pool of pools) {
        accepted(await ensurePool(pool, { static_metadata: { hour } }, { dryRun: false }, context, application));
      }
      return null;
    },
    submit: async (given: unknown): Promise<unknown> => {
      const work = { architecture: 'amd64', pool: null, payload: null, ...messages.submitCall.parse(given) } as const;
      accepted(await submitWork(work, context, { ...application, catchUp: async () => undefined }));
      return null;
    },
    activate: async (given: unknown): Promise<unknown> => {
      const answer = await activateWorker(messages.tokenCall.parse(given).token, context, application);
      return answer === undefined ? null : { token: answer.token };
    },
    ready: async (given: unknown): Promise<unknown> => {
      const known = await workerOf(messages.tokenCall.parse(given).token, application);
      if (known === undefined) return 'ended';
      return (await readyWorker(known, {}, context, application)) === undefined ? 'ready' : 'again';
    },
    /** Until there is some, or time has passed. */
    take: async (given: unknown): Promise<unknown> => {
      const known = await workerOf(messages.tokenCall.parse(given).token, application);
      if (known === undefined) return null;
      const work = await dispatcher.take(known, listening.signal);
      return work === undefined ? null : { id: work.id, seconds: work.expectedSeconds ?? 0 };
    },
    finish: async (given: unknown): Promise<unknown> => {
      const { token, id } = messages.finishCall.parse(given);
      const known = await workerOf(token, application);
      const end = { id, outcome: 'succeeded', because: null } as const;
      if (known !== undefined) await finishWork(known.worker, end, context, application);
      return null;
    },
    pass: async (given: unknown): Promise<unknown> => {
      const { seconds, heard: heardMeanwhile, failing } = messages.passCall.parse(given);
      heard = new Set(heardMeanwhile);
      records.isOn = failing;
      await server.settle();
      for (let left = seconds * 1000; left > 0;) {
        const milliseconds = Math.min(left, Math.max(1, clock.untilNext() ?? left));
        await clock.advance({ milliseconds });
        left -= milliseconds;
        // No time passes while a provider works, or files are read.
        if (server.isBusy()) await server.settle();
      }
      await server.settle();
      listening.abort();
      listening = newListening();
      return { now: clock.nowText(), failedRecords: records.failed() };
    },
    accounts: async (): Promise<unknown> => {
      const sums: Record<string, number> = {};
      for (const { view } of await server.views.poolUsage.list()) {
        for (const [month, milliseconds] of Object.entries(view.months))
          sums[month] = (sums[month] ?? 0) + milliseconds;
      }
      return sums;
    },
    stop: async (): Promise<unknown> => {
      listening.abort();
      stop.abort();
      await following;
      await server.kill();
      await opened.close();
      return null;
    },
  };
}

/** How long workers may wait for work. */
function newListening(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** The providers are the other process. */
function openProviders(clock: ManualClock): Readonly<{ openCloud: OpenCloud; isBusy: () => boolean }> {
  let underWay = 0;
  const call = async (given: z.input<typeof messages.cloudCall>, signal: AbortSignal): Promise<unknown> => {
    signal.throwIfAborted();
    underWay += 1;
    const answered = calls.ask('cloud', given).finally(() => (underWay -= 1));
    const answer = messages.cloudAnswer.parse(await answered);
    if ('done' in answer) return answer.done;
    await clock.wait(answer.afterMilliseconds, signal);
    throw new CloudFailure(answer.failed, 'a fault was played');
  };
  const openCloud: OpenCloud = ({ name: account }): Cloud => {
    const about = () => ({ account, at: clock.nowText() });
    return {
      create: async ({ installation, pool, worker, run, specifications, userData }, signal) => {
        const request = { installation, pool, worker, run, specifications, userData: [...userData] };
        return messages.cloudInstance.parse(await call({ ...about(), call: 'create', request }, signal));
      },
      terminate: async (data, signal) => {
        const ended = z.strictObject({
          outcome: z.enum(['ending', 'unknown-to-provider']),
          endedAt: z.string().nullable(),
        });
        return ended.parse(await call({ ...about(), call: 'terminate', data: { ...data } }, signal));
      },
      list: async (installation, signal) =>
        z.array(messages.cloudInstance).parse(await call({ ...about(), call: 'list', installation }, signal)),
      inspect: () => Promise.reject(new Error('it is not asked in this run')),
      removeLeftovers: async () => 0,
      check: async () => undefined,
      close: async () => undefined,
    };
  };
  return { openCloud, isBusy: () => underWay > 0 };
}

function accountOf(name: string): AssetRecord {
  const credential_names = ['api_token'];
  return { category: 'cloud-provider-account', name, provider_type: 'hetzner', configuration: {}, credential_names };
}

function recordOf(pool: messages.PoolsCall['pools'][number]) {
  return {
    provider_account: pool.account,
    architectures: ['amd64' as const],
    ephemeral: pool.ephemeral,
    limits: {
      max_active_instances: pool.maxActive,
      target_max_seconds_per_month: pool.monthSeconds,
      max_idle_seconds: pool.maxIdleSeconds,
    },
    specifications: {
      provider_type: 'hetzner' as const,
      server_type: 'cx32',
      image_name: 'debian-13',
      enable_ipv4: true,
      enable_ipv6: true,
      worker_install_source: 'release' as const,
    },
  };
}
