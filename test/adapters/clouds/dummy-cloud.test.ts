import { test } from 'uvu';
import type { HetznerInstances } from '../../../src/ports/clouds.ts';
import { cloudDriverContract } from '../../contracts/cloud-driver.ts';
import { createDummyCloud } from '../../support/dummy-cloud.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const instances: HetznerInstances = {
  provider_type: 'hetzner',
  server_type: 'cx32',
  image_name: 'debian-13',
  enable_ipv4: true,
  enable_ipv6: true,
};

cloudDriverContract('the dummy provider', async () => {
  const { openCloud } = createDummyCloud(createManualClock());
  const cloud = openCloud({ name: 'x', providerType: 'hetzner', configuration: {}, credentials: { api_token: 't' } });
  return {
    cloud,
    request: (run) => ({ run, worker: 'spot-001', pool: 'spot', instances, userData: ['#cloud-config\n{}\n'] }),
    close: async () => undefined,
  };
});

test.run();
