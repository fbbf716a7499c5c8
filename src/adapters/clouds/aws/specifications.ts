import { z } from 'zod';
import { distroRelease, listOrAbsent, nameText, wholeNumber } from '../../../events/worker-pools/fields.ts';
import { across, isObject } from '../../../events/worker-pools/document-checks.ts';

/** The largest EBS volume, in GiB. */
const VOLUME_GIB_MAX = 65_536;
const LAUNCH_TEMPLATES_MAX = 50;
/** AWS takes 50 tags on an instance; five are kept for the service's own. */
const TAGS_MAX = 45;

function minMax(description: string) {
  return z
    .strictObject({
      Min: wholeNumber('least that will do; 0 for no minimum'),
      Max: wholeNumber('most that will do; leave it out for no maximum', 1).optional(),
    })
    .check(
      across(({ Min, Max }, report) => {
        if (typeof Min !== 'number' || typeof Max !== 'number' || Max >= Min) return;
        report(['Max'], `must be at least Min (${Min}), not ${Max}`);
      }),
    )
    .describe(description);
}

const instanceRequirements = z
  .strictObject({
    VCpuCount: minMax('number of vCPUs'),
    MemoryMiB: minMax('RAM in MiB'),
    MemoryGiBPerVCpu: minMax('RAM per vCPU in GiB').optional(),
    SpotMaxPricePercentageOverLowestPrice: wholeNumber(
      'maximum spot price, as this percentage above the lowest matching spot price',
    ).optional(),
    MaxSpotPriceAsPercentageOfOptimalOnDemandPrice: wholeNumber(
      'maximum spot price, as this percentage of the on-demand price of the lowest matching spot price',
      1,
    ).optional(),
    BurstablePerformance: z
      .enum(['included', 'excluded', 'required'])
      .default('excluded')
      .describe('whether burstable-performance instance types are considered'),
  })
  .check(
    across((value, report) => {
      const both =
        value['SpotMaxPricePercentageOverLowestPrice'] !== undefined &&
        value['MaxSpotPriceAsPercentageOfOptimalOnDemandPrice'] !== undefined;
      if (!both) return;
      report(
        ['MaxSpotPriceAsPercentageOfOptimalOnDemandPrice'],
        'excludes SpotMaxPricePercentageOverLowestPrice: give at most one of the two',
      );
    }),
  )
  .meta({
    description: 'lets the provider choose the cheapest matching instance type',
    not: { required: ['SpotMaxPricePercentageOverLowestPrice', 'MaxSpotPriceAsPercentageOfOptimalOnDemandPrice'] },
  });

const networkInterface = z.strictObject({
  DeviceIndex: wholeNumber('position of the interface in the attachment order').default(0),
  AssociatePublicIpAddress: z
    .boolean()
    .optional()
    .describe(
      'attaches a public IPv4 address, which costs extra; without one a NAT gateway is needed; default of the subnet',
    ),
  DeleteOnTermination: z
    .boolean()
    .default(true)
    .describe('whether the interface is deleted when the instance terminates'),
  Ipv6AddressCount: wholeNumber('number of public IPv6 addresses; default of the subnet').optional(),
  SubnetId: nameText('default: the default subnet of the availability zone').optional(),
  Groups: listOrAbsent(nameText('security group ID'), 'security group IDs; empty means the default security group'),
});

const tags = z
  .record(z.string(), z.string())
  .check(
    across((value, report) => {
      const names = Object.keys(value);
      if (names.length > TAGS_MAX) report([], `must have at most ${TAGS_MAX} tags, not ${names.length}`);
      for (const name of names) {
        const text = value[name];
        if (name.length < 1 || name.length > 128) report([name], 'must have a name of 1 to 128 characters');
        else if (/^aws:/i.test(name)) report([name], 'must not start with aws:, which the provider keeps for itself');
        else if (/^edgeward:/i.test(name))
          report([name], 'must not start with edgeward:, by which the service finds its own instances');
        if (typeof text === 'string' && text.length > 256) report([name], 'must have at most 256 characters');
      }
    }),
  )
  .meta({
    description: 'tag name to tag value, added to spawned instances',
    maxProperties: TAGS_MAX,
    propertyNames: {
      minLength: 1,
      maxLength: 128,
      not: { pattern: '^([aA][wW][sS]|[eE][dD][gG][eE][wW][aA][rR][dD]):' },
    },
    additionalProperties: { type: 'string', maxLength: 256 },
  });

const launchTemplate = z
  .strictObject({
    ImageId: nameText('image ID; an image with the worker software pre-installed speeds up startup'),
    InstanceType: nameText('fixed instance type').optional(),
    InstanceRequirements: instanceRequirements.optional(),
    BlockStorageOptimized: z
      .boolean()
      .default(false)
      .describe('block storage I/O optimization; not available on every instance type and costs extra'),
    KeyName: nameText('SSH key pair name for admin access').optional(),
    NetworkInterfaces: listOrAbsent(networkInterface, 'network interface settings; empty means the default interface'),
    root_device_size: wholeNumber(
      'root device size in GiB; the root filesystem is grown to fill it',
      1,
      VOLUME_GIB_MAX,
    ).optional(),
    swap_size: wholeNumber('size in GiB of a swap block device added on creation', 1, VOLUME_GIB_MAX).optional(),
    tags: tags.optional(),
  })
  .check(
    across((value, report) => {
      const typed = value['InstanceType'] !== undefined;
      const required = value['InstanceRequirements'] !== undefined;
      if (typed && required) report(['InstanceRequirements'], 'excludes InstanceType: give exactly one of the two');
      if (!typed && !required)
        report(['InstanceType'], 'is required, unless InstanceRequirements is given: exactly one of the two');
    }),
    across(({ NetworkInterfaces }, report) => {
      if (!Array.isArray(NetworkInterfaces)) return;
      const first = new Map<unknown, number>();
      NetworkInterfaces.forEach((entry: unknown, index) => {
        if (!isObject(entry)) return;
        const device = entry['DeviceIndex'];
        const earlier = first.get(device);
        if (earlier === undefined) first.set(device, index);
        else if (typeof device === 'number')
          report(
            ['NetworkInterfaces', index, 'DeviceIndex'],
            `is ${device}, as in NetworkInterfaces[${earlier}]: each interface must have a DeviceIndex of its own`,
          );
        if (NetworkInterfaces.length > 1 && entry['AssociatePublicIpAddress'] === true)
          report(
            ['NetworkInterfaces', index, 'AssociatePublicIpAddress'],
            'must not be true with several interfaces: EC2 gives a public address at launch to a single one',
          );
      });
      if (NetworkInterfaces.length > 0 && NetworkInterfaces.every(isSecondary))
        report(['NetworkInterfaces'], 'must have an entry with DeviceIndex 0, the primary interface of the instance');
    }),
  )
  .meta({ oneOf: [{ required: ['InstanceType'] }, { required: ['InstanceRequirements'] }] });

function isSecondary(entry: unknown): boolean {
  return isObject(entry) && typeof entry['DeviceIndex'] === 'number' && entry['DeviceIndex'] !== 0;
}

export const awsSpecifications = z
  .strictObject({
    provider_type: z.literal('aws').describe('selects this format'),
    launch_templates: z
      .array(launchTemplate)
      .min(1)
      .max(LAUNCH_TEMPLATES_MAX)
      .describe(
        'definitions of launch templates used when spawning an instance; several allow different availability zones or per-instance-type options',
      ),
    instance_market_type: z.enum(['spot', 'on-demand']).default('spot').describe('how instances are bought'),
    max_spot_price_per_hour: z
      .number()
      .gt(0)
      .optional()
      .describe('maximum price in USD per instance-hour; only for spot instances; default no limit'),
    distro_release: distroRelease.optional(),
    worker_install_source: z
      .enum(['release', 'backports', 'daily-builds', 'pre-installed', 'enterprise', 'enterprise-staging'])
      .default('release')
      .describe('where the worker software is installed from on first boot; pre-installed takes no action'),
  })
  .check(
    across((value, report) => {
      if (value['instance_market_type'] !== 'on-demand' || value['max_spot_price_per_hour'] === undefined) return;
      report(
        ['max_spot_price_per_hour'],
        'is only for spot instances: leave it out, or set instance_market_type to spot',
      );
    }),
  )
  .meta({
    title: 'specifications of a worker pool on AWS',
    not: {
      required: ['instance_market_type', 'max_spot_price_per_hour'],
      properties: { instance_market_type: { const: 'on-demand' } },
    },
  });

export type AwsSpecifications = z.infer<typeof awsSpecifications>;

export type LaunchTemplate = AwsSpecifications['launch_templates'][number];
