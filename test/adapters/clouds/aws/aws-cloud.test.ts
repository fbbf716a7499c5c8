import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { failureCodeOf, failureCodeOfAll } from '../../../../src/adapters/clouds/aws/failure-codes.ts';
import { decimal } from '../../../../src/adapters/clouds/aws/launch-request.ts';
import { CloudFailure, type CloudFailureCode } from '../../../../src/ports/clouds.ts';
import { cloudDriverContract } from '../../../contracts/cloud-driver.ts';
import { type Ec2StandIn, MOTO_IMAGE, startEc2 } from '../../../support/clouds/ec2-stand-in.ts';
import { MOTO_PYTHON } from '../../../support/clouds/moto.ts';

const signal = new AbortController().signal;

/** The table of codes: EC2's, the status it comes with, ours. */
const CODES: readonly (readonly [code: string, status: number, ours: CloudFailureCode])[] = [
  ['InsufficientInstanceCapacity', 500, 'no-capacity'],
  ['UnfulfillableCapacity', 400, 'no-capacity'],
  ['InsufficientFreeAddressesInSubnet', 400, 'no-capacity'],
  ['SpotMaxPriceTooLow', 400, 'no-capacity'],
  ['Unsupported', 400, 'no-capacity'],
  ['VcpuLimitExceeded', 400, 'quota-exceeded'],
  ['InstanceLimitExceeded', 400, 'quota-exceeded'],
  ['MaxSpotInstanceCountExceeded', 400, 'quota-exceeded'],
  ['MaxFleetCountExceeded', 400, 'quota-exceeded'],
  ['RequestLimitExceeded', 503, 'throttled'],
  ['Throttling', 400, 'throttled'],
  ['AuthFailure', 401, 'login-refused'],
  ['InvalidClientTokenId', 403, 'login-refused'],
  ['SignatureDoesNotMatch', 403, 'login-refused'],
  ['ExpiredToken', 400, 'login-refused'],
  ['RequestExpired', 400, 'login-refused'],
  ['UnauthorizedOperation', 403, 'not-permitted'],
  ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', 403, 'not-permitted'],
  ['OperationNotPermitted', 400, 'end-refused'],
  ['InvalidAMIID.NotFound', 400, 'bad-specifications'],
  ['InvalidAMIID.Unavailable', 400, 'bad-specifications'],
  ['InvalidInstanceType', 400, 'bad-specifications'],
  ['InvalidSubnetID.NotFound', 400, 'bad-specifications'],
  ['InvalidGroup.NotFound', 400, 'bad-specifications'],
  ['InvalidKeyPair.NotFound', 400, 'bad-specifications'],
  ['InvalidParameterValue', 400, 'bad-specifications'],
  ['InvalidParameterCombination', 400, 'bad-specifications'],
  ['InvalidUserData.Malformed', 400, 'bad-specifications'],
  ['InvalidBlockDeviceMapping', 400, 'bad-specifications'],
  ['InvalidLaunchTemplateName.NotFoundException', 400, 'rejected'],
  ['InvalidLaunchTemplateId.NotFound', 400, 'rejected'],
  ['InvalidLaunchTemplateData', 400, 'bad-specifications'],
  ['IdempotentParameterMismatch', 400, 'outcome-unknown'],
  ['IdempotentInstanceTerminated', 400, 'instance-gone'],
  ['InternalError', 500, 'outcome-unknown'],
  ['Unavailable', 503, 'outcome-unknown'],
  ['SomethingNew', 503, 'outcome-unknown'],
  ['SomethingNew', 400, 'rejected'],
  ['toString', 400, 'rejected'],
];

test('each code of EC2 has its meaning', () => {
  for (const [code, status, ours] of CODES) assert.is(failureCodeOf(code, status), ours, `${code} (${status})`);
});

test('a fleet lacks capacity when that is all that it lacks', () => {
  assert.is(failureCodeOfAll(['InsufficientInstanceCapacity', 'UnfulfillableCapacity']), 'no-capacity');
  assert.is(failureCodeOfAll(['InsufficientInstanceCapacity', 'InvalidAMIID.NotFound']), 'bad-specifications');
  assert.is(failureCodeOfAll(['MaxSpotInstanceCountExceeded', 'InsufficientInstanceCapacity']), 'quota-exceeded');
});

test('a price has no exponent', () => {
  assert.equal([0.05, 1, 1e-9, 12.5].map(decimal), ['0.05', '1', '0.000000001', '12.5']);
});

if (MOTO_PYTHON === undefined) {
  test.skip('EC2 needs moto', () => undefined);
} else {
  const ec2 = await startEc2();
  test.after(() => ec2.stop());
  cloudDriverContract('EC2', () => ec2.stand());

  const withRegion = async (
    work: (region: Ec2StandIn) => Promise<void>,
    specifications: Record<string, unknown> = {},
  ): Promise<void> => {
    const region = await ec2.stand(specifications);
    try {
      await work(region);
    } finally {
      await region.close();
    }
  };

  test('a template says all that the specifications say', () =>
    withRegion(
      async (region) => {
        const cloud = region.open();
        await cloud.create(region.request('run-1'), signal);
        const form = sent(region, 'CreateLaunchTemplate');
        const data = Object.fromEntries(
          Object.entries(form).flatMap(([name, value]) =>
            name.startsWith('LaunchTemplateData.') ? [[name.slice('LaunchTemplateData.'.length), value]] : [],
          ),
        );
        assert.is(form['LaunchTemplateName'], 'edgeward-run-1-1');
        assert.equal(
          Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith('TagSpecification.'))),
          {
            ImageId: MOTO_IMAGE,
            'InstanceRequirements.VCpuCount.Min': '2',
            'InstanceRequirements.MemoryMiB.Min': '4096',
            'InstanceRequirements.MemoryMiB.Max': '8192',
            'InstanceRequirements.MemoryGiBPerVCpu.Min': '2',
            'InstanceRequirements.SpotMaxPricePercentageOverLowestPrice': '20',
            'InstanceRequirements.BurstablePerformance': 'included',
            EbsOptimized: 'true',
            KeyName: 'admin',
            'NetworkInterface.1.DeviceIndex': '0',
            'NetworkInterface.1.AssociatePublicIpAddress': 'true',
            'NetworkInterface.1.DeleteOnTermination': 'true',
            'NetworkInterface.1.Ipv6AddressCount': '1',
            'NetworkInterface.1.SubnetId': 'subnet-1',
            'NetworkInterface.1.SecurityGroupId.1': 'sg-1',
            'NetworkInterface.1.SecurityGroupId.2': 'sg-2',
            'BlockDeviceMapping.1.DeviceName': '/dev/sda1',
            'BlockDeviceMapping.1.Ebs.VolumeSize': '30',
            'BlockDeviceMapping.1.Ebs.VolumeType': 'gp3',
            'BlockDeviceMapping.1.Ebs.DeleteOnTermination': 'true',
            'BlockDeviceMapping.2.DeviceName': '/dev/sdf',
            'BlockDeviceMapping.2.Ebs.VolumeSize': '8',
            'BlockDeviceMapping.2.Ebs.VolumeType': 'gp3',
            'BlockDeviceMapping.2.Ebs.DeleteOnTermination': 'true',
            InstanceInitiatedShutdownBehavior: 'terminate',
            'MetadataOptions.HttpTokens': 'required',
            'MetadataOptions.HttpPutResponseHopLimit': '1',
            UserData: Buffer.from('#cloud-config\n{"é & <0>": "hunter3"}\n').toString('base64'),
          },
        );
        const tags = Object.entries(data).flatMap(([name, value]) =>
          /^TagSpecification\.1\.Tag\.\d+\.Key$/.test(name) ? [[value, data[name.replace(/Key$/, 'Value')]]] : [],
        );
        assert.equal(Object.fromEntries(tags), {
          Name: 'spot-001',
          'cost centre': 'é & <x>',
          'edgeward:installation': 'here',
          'edgeward:pool': 'spot',
          'edgeward:worker': 'spot-001',
          'edgeward:run': 'run-1',
        });
        await cloud.close();
      },
      {
        launch_templates: [
          {
            ImageId: MOTO_IMAGE,
            InstanceRequirements: {
              VCpuCount: { Min: 2 },
              MemoryMiB: { Min: 4096, Max: 8192 },
              MemoryGiBPerVCpu: { Min: 2 },
              SpotMaxPricePercentageOverLowestPrice: 20,
              BurstablePerformance: 'included',
            },
            BlockStorageOptimized: true,
            KeyName: 'admin',
            NetworkInterfaces: [
              { AssociatePublicIpAddress: true, Ipv6AddressCount: 1, SubnetId: 'subnet-1', Groups: ['sg-1', 'sg-2'] },
            ],
            root_device_size: 30,
            swap_size: 8,
            tags: { 'cost centre': 'é & <x>' },
          },
        ],
      },
    ));

  test('a fleet is one instance of all templates, at the price that is given', () =>
    withRegion(
      async (region) => {
        const cloud = region.open();
        await cloud.create(region.request('run-1'), signal);
        await cloud.close();
        const form = sent(region, 'CreateFleet');
        assert.equal(
          Object.fromEntries(Object.entries(form).filter(([name]) => !name.startsWith('TagSpecification.'))),
          {
            Action: 'CreateFleet',
            Version: '2016-11-15',
            ClientToken: 'run-1',
            Type: 'instant',
            'TargetCapacitySpecification.TotalTargetCapacity': '1',
            'TargetCapacitySpecification.DefaultTargetCapacityType': 'spot',
            'SpotOptions.AllocationStrategy': 'price-capacity-optimized',
            'SpotOptions.MaxTotalPrice': '0.0000001',
            'LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName': 'edgeward-run-1-1',
            'LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version': '1',
            'LaunchTemplateConfigs.2.LaunchTemplateSpecification.LaunchTemplateName': 'edgeward-run-1-2',
            'LaunchTemplateConfigs.2.LaunchTemplateSpecification.Version': '1',
          },
        );
      },
      {
        max_spot_price_per_hour: 1e-7,
        launch_templates: [
          { ImageId: MOTO_IMAGE, InstanceType: 'm5.large' },
          { ImageId: MOTO_IMAGE, InstanceType: 'm5.xlarge' },
        ],
      },
    ));

  test('on-demand instances have no price', () =>
    withRegion(
      async (region) => {
        const cloud = region.open();
        await cloud.create(region.request('run-1'), signal);
        await cloud.close();
        const form = sent(region, 'CreateFleet');
        assert.is(form['OnDemandOptions.AllocationStrategy'], 'lowest-price');
        assert.equal(
          Object.keys(form).filter((name) => name.startsWith('SpotOptions')),
          [],
        );
        assert.equal(await region.living(), ['run-1']);
      },
      { instance_market_type: 'on-demand' },
    ));

  test('a fleet that failed in part has an instance; one without any has failed', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      const codes = ['InsufficientInstanceCapacity', 'UnfulfillableCapacity'];
      region.proxy.fail('CreateFleet', { kind: 'fleet-errors', codes, instance: true });
      assert.is((await cloud.create(region.request('run-1'), signal)).run, 'run-1');
      region.proxy.fail('CreateFleet', { kind: 'fleet-errors', codes, instance: false });
      const failure = await failureOf(cloud.create(region.request('run-2'), signal));
      assert.is(failure.code, 'no-capacity');
      assert.match(failure.message, 'UnfulfillableCapacity: said by the test');
      assert.equal(await region.living(), ['run-1']);
      await cloud.close();
    }));

  test('an instance that reads do not show yet is there, with the time of the answer that created it', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      region.proxy.hideNew(30);
      const before = Date.now();
      const { createdAt, data, state } = await cloud.create(region.request('run-1'), signal);
      assert.is(state, 'starting');
      assert.ok(Math.abs(Date.parse(createdAt) - before) < 60_000, createdAt);
      // The look-up does not show it either: the token gives the same instance.
      const again = await cloud.create(region.request('run-1'), signal);
      assert.equal(again.data, data);
      assert.equal(await region.living(), ['run-1']);
      assert.is((await cloud.terminate({ instance_id: 'i-0123456789abcdef0' }, signal)).outcome, 'unknown-to-provider');
      await cloud.close();
    }));

  test('an interrupted instance says why and when it ended', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      const { data, createdAt } = await cloud.create(region.request('run-1'), signal);
      await region.interrupt('run-1');
      const [seen] = await cloud.list('here', signal);
      assert.equal(seen?.data, data);
      assert.is(seen?.state, 'ended');
      assert.match(seen?.because ?? '', /^Server\.SpotInstanceTermination/);
      assert.ok(Date.parse(seen?.endedAt ?? '') >= Date.parse(createdAt), seen?.endedAt ?? 'no end');
      await cloud.close();
    }));

  test('a request that was changed under its token is looked up, and never launched again', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      await cloud.create(region.request('run-1'), signal);
      // The look-up before the launch does not see it yet, the one after the refusal does.
      region.proxy.hideNew(1);
      const changed = { ...region.request('run-1'), worker: 'spot-002' };
      assert.is((await cloud.create(changed, signal)).worker, 'spot-001');
      region.proxy.hideNew(30);
      assert.is((await failureOf(cloud.create(changed, signal))).code, 'outcome-unknown');
      assert.equal(await region.living(), ['run-1']);
      await cloud.close();
    }));

  test('a token whose instance is gone launches nothing', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      const { data } = await cloud.create(region.request('run-1'), signal);
      await cloud.terminate(data, signal);
      assert.is((await cloud.create(region.request('run-1'), signal)).state, 'ended');
      region.proxy.hideNew(30);
      assert.is((await failureOf(cloud.create(region.request('run-1'), signal))).code, 'instance-gone');
      assert.is(await region.leftovers(), 0);
      await cloud.close();
    }));

  test('an instance that the provider protects is not ended, and says so', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      const { data } = await cloud.create(region.request('run-1'), signal);
      region.proxy.fail('TerminateInstances', { kind: 'error', status: 400, code: 'OperationNotPermitted' });
      assert.is((await failureOf(cloud.terminate(data, signal))).code, 'end-refused');
      assert.is((await cloud.terminate(data, signal)).outcome, 'ending');
      await cloud.close();
    }));

  test('a listing of many pages is whole, or there is none', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      for (const run of ['run-1', 'run-2', 'run-3']) await cloud.create(region.request(run), signal);
      region.proxy.pageSize(1);
      assert.is((await cloud.list('here', signal)).length, 3);
      region.proxy.fail('DescribeInstances', { kind: 'page' });
      assert.is((await failureOf(cloud.list('here', signal))).kind, 'uncertain');
      await cloud.close();
    }));

  test('wrong keys and missing rights are told, with the action and without what only others can decode', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      region.failCreation('forbidden');
      const failure = await failureOf(cloud.create(region.request('run-1'), signal));
      assert.is(
        failure.message,
        'EC2 CreateFleet: UnauthorizedOperation: You are not authorized to perform: ec2:CreateFleet.',
      );
      region.proxy.fail('CreateFleet', { kind: 'error', status: 403, code: 'UnauthorizedOperation' });
      assert.is((await failureOf(cloud.check(signal))).code, 'not-permitted');
      await cloud.close();
    }));

  test('a call that is not answered ends with its signal', () =>
    withRegion(async (region) => {
      const cloud = region.open();
      region.proxy.fail('DescribeInstances', { kind: 'hang' });
      const stop = new AbortController();
      const listing = cloud.list('here', stop.signal);
      setTimeout(() => stop.abort(new Error('enough')), 50);
      await listing.then(
        () => assert.unreachable('it hangs'),
        (error: unknown) => assert.match(String(error), 'enough'),
      );
      await cloud.close();
    }));
}

function sent({ proxy }: Ec2StandIn, action: string): Readonly<Record<string, string>> {
  const last = proxy.requests().findLast((request) => request.action === action);
  return Object.fromEntries(last?.form ?? []);
}

async function failureOf(work: Promise<unknown>): Promise<CloudFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof CloudFailure) return failure;
  throw new Error(`not a CloudFailure: ${String(failure)}`);
}

test.run();
