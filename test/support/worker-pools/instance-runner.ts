import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import type { Perform } from '../../../src/kernel/process.ts';
import {
  type InstanceDuty,
  instanceLifecycle,
  performInstanceLifecycle,
  type RunState,
} from '../../../src/processes/worker-pools/instance-lifecycle.ts';
import { openProviderAccounts } from '../../../src/processes/worker-pools/provider-accounts.ts';
import { openSweep, type SweepAccount } from '../../../src/processes/worker-pools/sweep.ts';
import { foldViews } from '../../specification.ts';
import type { TestApplication } from '../test-application.ts';
import type { DummyCloud } from './dummy-cloud.ts';

/** What one server performs its duties with, as long as it runs. */
export type RunnerTools = Pick<TestApplication, 'workerPools' | 'workers' | 'assets' | 'secrets' | 'providerAccounts'>;

export const INSTALLATION = 'this-one';

/** One server's provisioning, step by step: what is owed is paid when a test says so. */
export type InstanceRunner = Readonly<{
  /** Pays what is owed, one duty after another, until nothing is; a failure ends it. */
  settle: () => Promise<void>;
  /** Pays everything that is owed once, whatever fails. Gives the failures. */
  tryAll: () => Promise<readonly Error[]>;
  /** Compares the account `hcloud` with the log, once. */
  sweep: () => Promise<void>;
  states: () => Promise<readonly RunState[]>;
}>;

/** Opens the provisioning of one server. `isLogWhole`: the log was not put back from an older copy. */
export function openInstanceRunner(
  application: TestApplication,
  cloud: Pick<DummyCloud, 'openCloud'>,
  tools: RunnerTools = application,
  isLogWhole = true,
  lastHeard: (worker: string) => number | undefined = () => undefined,
): InstanceRunner {
  const { store, clock, ids, log } = application;
  const withAccount = openProviderAccounts({ ...tools, openCloud: cloud.openCloud, clock });
  const common = { ...tools, withAccount, installation: async () => INSTALLATION, store, clock, ids, log };
  const perform: Perform<InstanceDuty> = performInstanceLifecycle({
    ...common,
    cloudDrivers: CLOUD_DRIVERS,
    workersUrl: { url: 'https://edgeward.example' },
    launchPatienceMilliseconds: 600_000,
    lastHeard,
  });
  const sweepAccount: SweepAccount = openSweep({
    ...common,
    activeRuns: async () => new Set((await states()).map(({ run }) => run)),
    isLogWhole: async () => isLogWhole,
    lastHeard,
  });
  const owed = async () => (await states()).flatMap((state) => instanceLifecycle.owed(state, () => 0));
  return {
    states,
    settle: async () => {
      for (let round = 0; round < 50; round += 1) {
        const duties = await owed();
        if (duties.length === 0) return;
        for (const duty of duties) await perform(duty, new AbortController().signal);
      }
      throw new Error('still owing after 50 rounds');
    },
    tryAll: async () => {
      const failures: Error[] = [];
      for (const duty of await owed()) {
        await perform(duty, new AbortController().signal).catch((error: Error) => failures.push(error));
      }
      return failures;
    },
    sweep: async () => {
      await application.catchUp();
      const workers = await application.views.workers.list();
      const expected = workers.flatMap(({ view: { worker, run, instanceCreatedAt } }) =>
        run === null || instanceCreatedAt === null ? [] : [{ worker, run, instanceCreatedAt }],
      );
      await sweepAccount({ providerAccount: 'hcloud', expected }, new AbortController().signal);
    },
  };

  async function states(): Promise<readonly RunState[]> {
    const events = [];
    for await (const page of application.store.readAll(-1n)) events.push(...page);
    const watched = new Set<string>(instanceLifecycle.handles);
    // The codec has checked them; these are the types that the process names.
    return [...foldViews(instanceLifecycle, events.filter(({ type }) => watched.has(type)) as never[]).values()];
  }
}
