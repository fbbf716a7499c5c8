import { createOpenCloud } from '../../../src/adapters/clouds/open-cloud.ts';
import type { InstanceRequest } from '../../../src/ports/clouds.ts';
import type { CloudStandIn, CreationFault } from '../../contracts/cloud-driver.ts';
import { type HetznerFake, type HetznerFault, startHetznerFake } from './hetzner-fake.ts';

const FAULTS: Readonly<Record<CreationFault, HetznerFault>> = {
  'cut-before': { kind: 'cut', after: false },
  'cut-after': { kind: 'cut', after: true },
  'not-its-answer': { kind: 'page' },
  broken: { kind: 'error', status: 500, code: 'server_error' },
  throttled: { kind: 'error', status: 429, code: 'rate_limit_exceeded', resetInSeconds: 60 },
  'no-capacity': { kind: 'error', status: 412, code: 'resource_unavailable' },
  quota: { kind: 'error', status: 403, code: 'resource_limit_exceeded' },
  login: { kind: 'error', status: 401, code: 'unauthorized' },
  forbidden: { kind: 'error', status: 403, code: 'token_readonly' },
  'bad-input': { kind: 'error', status: 422, code: 'invalid_input' },
};

/** A project with its fake, to look behind and to make fail. */
export type HetznerStandIn = CloudStandIn & Readonly<{ fake: HetznerFake }>;

/** Starts an empty project. */
export async function standHetzner(specifications: Record<string, unknown> = {}): Promise<HetznerStandIn> {
  const fake = await startHetznerFake();
  const openCloud = createOpenCloud();
  const request = (run: string): InstanceRequest => ({
    installation: 'here',
    pool: 'spot',
    worker: 'spot-001',
    run,
    specifications: { provider_type: 'hetzner', server_type: 'cx32', image_name: 'debian-13', ...specifications },
    userData: ['#cloud-config\n{"é & <x>": "hunter3"}\n'],
  });
  return {
    fake,
    open: () =>
      openCloud({
        name: 'hcloud',
        providerType: 'hetzner',
        configuration: { endpoint: fake.url },
        credentials: { api_token: fake.token },
      }),
    request,
    living: async () =>
      fake.servers().flatMap(({ status, labels }) => (status === 'deleting' ? [] : [labels['edgeward/run'] ?? ''])),
    leftovers: async () => 0,
    failCreation: (fault) => fake.fail('POST /servers', FAULTS[fault]),
    dieAfter: fake.dieAfter,
    revive: fake.revive,
    interrupt: async (run) => {
      for (const { id, labels } of fake.servers()) if (labels['edgeward/run'] === run) fake.take(id);
    },
    secrets: [fake.token, 'hunter2-root', 'hunter3'],
    close: fake.stop,
  };
}
