import { ensurePool } from '../../src/application/worker-pools/pools.ts';
import { launchWorkers, terminateWorker } from '../../src/application/worker-pools/workers.ts';
import { epochMilliseconds } from '../../src/domain/instants.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { failingStore } from '../support/stores/failing-store.ts';
import { randomFrom } from '../support/random.ts';
import { openTestApplication } from '../support/test-application.ts';
import { createDummyCloud } from '../support/worker-pools/dummy-cloud.ts';
import { startPoolServer } from '../support/worker-pools/pool-server.ts';
import { accepted, foundPool } from '../support/worker-pools/records.ts';

export type FailingRecordsRun = Readonly<{ seed: number; launches: number; pools: number }>;

export type FailingRecordsReport = Readonly<{
  /** Records of the server that failed, of all that it tried. */
  failedRecords: number;
  records: number;
  created: number;
  /** Instances that the provider still has when each end has been asked for. */
  leaked: number;
  /** Places of pools that are still taken then. */
  placesTaken: number;
  restarts: number;
  paidSeconds: number;
  accountedSeconds: number;
}>;

const SECONDS_MAX = 7_200;
const STEP_SECONDS = 5;
const RESTART_SECONDS = 60;

/**
 * Launches instances and ends them again while one record in ten of the server fails: before it was made, after it was made, or so that
 * nobody can say. The server is broken off each minute and opened again over the same files.
 */
export async function runWithFailingRecords(run: FailingRecordsRun): Promise<FailingRecordsReport> {
  const { seed, launches, pools } = run;
  const failing = failingStore(randomFrom(seed));
  const application = await openTestApplication(createManualClock(), failing.between);
  const { clock, context } = application;
  const cloud = createDummyCloud(clock);
  let restarts = 0;
  try {
    await foundPool(application, limitsOf(launches / pools));
    const { record } = (await application.workerPools.state('spot')).state;
    if (record === undefined) throw new Error('there is a pool');
    const names = ['spot', ...Array.from({ length: pools - 1 }, (_, index) => `spot-${index}`)];
    const { name: _name, ...given } = record;
    for (const name of names.slice(1)) {
      accepted(await ensurePool(name, given, { dryRun: false }, context, application));
    }
    for (const pool of names) accepted(await launchWorkers(pool, launches / pools, context, application));
    let server = await startPoolServer(application, cloud.openCloud);
    const until = async (what: string, isReached: () => Promise<boolean>): Promise<void> => {
      for (let seconds = 0; !(await failing.paused(isReached)); seconds += STEP_SECONDS) {
        if (seconds > SECONDS_MAX) throw new Error(`not reached: ${what}`);
        await server.pass(STEP_SECONDS, STEP_SECONDS);
        if (seconds % RESTART_SECONDS !== 0) continue;
        failing.isOn = false;
        await server.kill();
        server = await startPoolServer(application, cloud.openCloud);
        restarts += 1;
        failing.isOn = true;
      }
    };
    const workers = async () => {
      await application.catchUp();
      return (await application.views.workers.list()).map(({ view }) => view);
    };
    failing.isOn = true;
    await until('every launch has come to an instance', async () => {
      const all = await workers();
      return all.length === launches && all.every(({ phase }) => phase === 'booting');
    });
    failing.isOn = false;
    const all = await workers();
    for (const { worker } of all) accepted(await terminateWorker(worker, { forced: true }, context, application));
    failing.isOn = true;
    await until('every end has come to its own', async () =>
      (await workers()).every(({ phase }) => phase === 'stopped'),
    );
    const free = async () => (await takenPlaces(names)) === 0;
    await until('every place is free', free);
    failing.isOn = false;
    await server.settle();
    const months = await Promise.all(names.map((name) => server.views.poolUsage.get(name)));
    const report = {
      failedRecords: failing.failed(),
      records: failing.tried(),
      created: cloud.createdCount(),
      leaked: cloud.instances().length,
      placesTaken: await takenPlaces(names),
      restarts,
      paidSeconds: sum(
        cloud.everyInstance().map(({ createdAt, endedAt }) => between(createdAt, endedAt ?? clock.nowText())),
      ),
      accountedSeconds: sum(months.flatMap((view) => Object.values(view?.months ?? {}))) / 1000,
    };
    await server.kill();
    return report;
  } finally {
    await application.close();
  }

  async function takenPlaces(names: readonly string[]): Promise<number> {
    await application.catchUp();
    const views = await Promise.all(names.map((name) => application.views.workerPools.get(name)));
    return sum(views.map((view) => view?.active.length ?? 0));
  }
}

function limitsOf(most: number) {
  return { limits: { max_active_instances: most, target_max_seconds_per_month: null, max_idle_seconds: 86_400 } };
}

function between(from: string, to: string): number {
  return (epochMilliseconds(to) - epochMilliseconds(from)) / 1000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
