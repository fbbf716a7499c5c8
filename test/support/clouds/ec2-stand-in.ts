import { createOpenCloud } from '../../../src/adapters/clouds/open-cloud.ts';
import type { CloudSpecifications, InstanceRequest } from '../../../src/ports/clouds.ts';
import type { CloudStandIn, CreationFault } from '../../contracts/cloud-driver.ts';
import { type Ec2Fault, type Ec2Proxy, startEc2Proxy } from './ec2-proxy.ts';
import { type Ec2Parameter, ec2Parameters, type Moto, startMoto } from './moto.ts';

const ACTIONS = [
  'CreateFleet',
  'CreateLaunchTemplate',
  'DeleteLaunchTemplate',
  'DescribeImages',
  'DescribeInstances',
  'DescribeLaunchTemplates',
  'TerminateInstances',
];

const LOGIN = { accessKeyId: 'AKIAEDGEWARDTEST0001', secretAccessKey: 'hunter2/SECRET+key', region: 'eu-central-1' };

/** An image that moto knows, with an EBS root device. */
export const MOTO_IMAGE = 'ami-12c6146b';

/** A region of EC2 with its proxy, to look behind and to make fail. */
export type Ec2StandIn = CloudStandIn &
  Readonly<{
    proxy: Ec2Proxy;
    /** An account there, as an administrator writes it. */
    account: Readonly<{ configuration: Record<string, string>; credentials: Record<string, string> }>;
    /** What EC2 hands to the only instance that lives at its first boot; undefined while there is none. */
    userData: () => Promise<string | undefined>;
  }>;

/** moto, started once for a file of tests; each stand-in begins with an empty region. */
export type Ec2 = Readonly<{
  stand: (specifications?: Record<string, unknown>) => Promise<Ec2StandIn>;
  parameters: ReadonlyMap<string, ReadonlyMap<string, Ec2Parameter>>;
  stop: () => Promise<void>;
}>;

const SPECIFICATIONS = {
  provider_type: 'aws',
  launch_templates: [{ ImageId: MOTO_IMAGE, InstanceType: 'm5.large' }],
};

/** Starts moto; `stop` it at the end. */
export async function startEc2(): Promise<Ec2> {
  const moto = await startMoto();
  const parameters = ec2Parameters(...ACTIONS);
  return { stand: (given) => standIn(moto, parameters, { ...SPECIFICATIONS, ...given }), parameters, stop: moto.stop };
}

const FAULTS: Readonly<Record<CreationFault, Ec2Fault>> = {
  'cut-before': { kind: 'cut', after: false },
  'cut-after': { kind: 'cut', after: true },
  'not-its-answer': { kind: 'page' },
  broken: { kind: 'error', status: 500, code: 'InternalError' },
  throttled: { kind: 'error', status: 503, code: 'RequestLimitExceeded' },
  'no-capacity': { kind: 'error', status: 500, code: 'InsufficientInstanceCapacity' },
  quota: { kind: 'error', status: 400, code: 'VcpuLimitExceeded' },
  login: { kind: 'error', status: 401, code: 'AuthFailure', message: `no such key: ${LOGIN.secretAccessKey}` },
  forbidden: {
    kind: 'error',
    status: 403,
    code: 'UnauthorizedOperation',
    message: 'You are not authorized to perform: ec2:CreateFleet. Encoded authorization failure message: abcdef',
  },
  'bad-input': { kind: 'error', status: 400, code: 'InvalidAMIID.NotFound' },
};

async function standIn(
  moto: Moto,
  parameters: ReadonlyMap<string, ReadonlyMap<string, Ec2Parameter>>,
  specifications: CloudSpecifications,
): Promise<Ec2StandIn> {
  await moto.reset();
  const proxy = await startEc2Proxy(moto, LOGIN, parameters);
  const openCloud = createOpenCloud();
  const account = {
    configuration: { region_name: LOGIN.region, ec2_endpoint_url: proxy.url },
    credentials: { access_key_id: LOGIN.accessKeyId, secret_access_key: LOGIN.secretAccessKey },
  };
  const open = () => openCloud({ name: 'ec2', providerType: 'aws', ...account });
  const count = specifications['launch_templates'];
  const texts = Array.isArray(count) ? count.map((_, index) => `#cloud-config\n{"é & <${index}>": "hunter3"}\n`) : [];
  const request = (run: string): InstanceRequest => ({
    installation: 'here',
    pool: 'spot',
    worker: 'spot-001',
    run,
    specifications,
    userData: texts,
  });
  // What is asked past the proxy is moto's own truth.
  const ask = async (action: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const form = new URLSearchParams({ Action: action, Version: '2016-11-15', ...more });
    const authorization = `AWS4-HMAC-SHA256 Credential=${LOGIN.accessKeyId}/20261128/${LOGIN.region}/ec2/aws4_request`;
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    return (await fetch(moto.url, { method: 'POST', headers, body: form.toString() })).text();
  };
  // Each reservation of a fleet has one instance.
  const instances = async () =>
    (await ask('DescribeInstances'))
      .split('<instancesSet>')
      .slice(1)
      .map((text) => ({
        id: /<instanceId>([^<]+)</.exec(text)?.[1] ?? '',
        state: /<instanceState>.*?<name>([^<]+)</s.exec(text)?.[1] ?? '',
        run: /<key>edgeward:run<\/key>\s*<value>([^<]+)</s.exec(text)?.[1] ?? 'without a run',
      }));
  return {
    proxy,
    account,
    userData: async () => {
      const living = (await instances()).filter(({ state }) => state === 'running' || state === 'pending');
      if (living.length !== 1) return undefined;
      const asked = { InstanceId: living[0]?.id ?? '', Attribute: 'userData' };
      const value = /<userData>\s*<value>([^<]+)</.exec(await ask('DescribeInstanceAttribute', asked))?.[1];
      return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
    },
    open,
    request,
    living: async () =>
      (await instances()).flatMap(({ state, run }) => (state === 'running' || state === 'pending' ? [run] : [])),
    leftovers: async () => (await ask('DescribeLaunchTemplates')).split('<launchTemplateId>').length - 1,
    failCreation: (fault) => proxy.fail('CreateFleet', FAULTS[fault]),
    dieAfter: proxy.dieAfter,
    revive: proxy.revive,
    interrupt: async (run) => {
      for (const { id, run: of } of await instances()) if (of === run) await proxy.interrupt(id);
    },
    secrets: [LOGIN.secretAccessKey, 'hunter3'],
    close: proxy.stop,
  };
}
