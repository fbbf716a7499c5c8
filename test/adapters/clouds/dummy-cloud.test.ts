import { test } from 'uvu';
import type { CloudFailureCode } from '../../../src/ports/clouds.ts';
import { type CloudStandIn, cloudDriverContract, type CreationFault } from '../../contracts/cloud-driver.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createDummyCloud, type PlannedFailure } from '../../support/worker-pools/dummy-cloud.ts';

const CODES: Readonly<Record<CreationFault, CloudFailureCode>> = {
  'cut-before': 'outcome-unknown',
  'cut-after': 'outcome-unknown',
  'not-its-answer': 'unreadable-answer',
  broken: 'outcome-unknown',
  throttled: 'throttled',
  'no-capacity': 'no-capacity',
  quota: 'quota-exceeded',
  login: 'login-refused',
  forbidden: 'not-permitted',
  'bad-input': 'bad-specifications',
};

// What the processes of the pools are tested with keeps to what the drivers keep to.
cloudDriverContract('the dummy provider', async (): Promise<CloudStandIn> => {
  const { openCloud, fail, instances, interrupt, calls } = createDummyCloud(createManualClock());
  let [died, before] = [false, 0];
  return {
    open: () => openCloud({ name: 'x', providerType: 'hetzner', configuration: {}, credentials: { api_token: 't' } }),
    request: (run) => ({
      installation: 'here',
      pool: 'spot',
      worker: 'spot-001',
      run,
      specifications: { provider_type: 'hetzner', server_type: 'cx32', image_name: 'debian-13' },
      userData: ['#cloud-config\n{}\n'],
    }),
    living: async () => instances().map(({ run }) => run),
    leftovers: async () => 0,
    failCreation: (fault) => {
      const planned: PlannedFailure = { call: 'create', code: CODES[fault] };
      fail(fault === 'cut-after' ? { ...planned, after: true } : planned);
    },
    // A launch is one call here: there is nothing after the first.
    dieAfter: (count) => {
      before = calls()['create'] ?? 0;
      died = count === 1;
      if (died) fail({ call: 'create', code: 'outcome-unknown', after: true });
    },
    revive: () => died && (calls()['create'] ?? 0) > before,
    interrupt: async (run) => interrupt(run, 'the provider took it'),
    secrets: [],
    close: async () => undefined,
  };
});

test.run();
