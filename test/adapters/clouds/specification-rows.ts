/** One row of the specification's tables: what the field takes, and what it does not. */
export type Row = Readonly<{
  /** `limits`, `scope-limits`, or a provider's. */
  schema: string;
  /** The record that is changed at `at`. */
  base: object;
  at: readonly (string | number)[];
  good: readonly unknown[];
  bad: readonly unknown[];
  /** Must be there. */
  required?: true;
  /** Left out, another rule speaks: tested by itself. */
  alternative?: true;
  /** What the record says when the field is left out. */
  byDefault?: unknown;
  /** Bad values that a JSON Schema can't tell from good ones. */
  beyondJsonSchema?: readonly unknown[];
}>;

const template = { ImageId: 'ami-0a1b2c3d4e5f60718', InstanceType: 'm7i.large' };
const requirements = { VCpuCount: { Min: 2, Max: 8 }, MemoryMiB: { Min: 4096 } };
export const AWS = { provider_type: 'aws', launch_templates: [template] };
export const AWS_REQUIREMENTS = {
  provider_type: 'aws',
  launch_templates: [{ ImageId: 'ami-0a1b2c3d4e5f60718', InstanceRequirements: requirements }],
};
export const AWS_INTERFACES = {
  provider_type: 'aws',
  launch_templates: [{ ...template, NetworkInterfaces: [{ SubnetId: 'subnet-0a1b' }] }],
};
export const HETZNER = { provider_type: 'hetzner', server_type: 'cx32', image_name: 'debian-13' };

const NO_NAME = ['', ' m7i', 'a\nb', 7, null, true, [], {}];
const NO_COUNT = [-1, 1.5, '4', null, true, [], {}, 2 ** 53];
const NO_FLAG = ['true', 'yes', 0, 1, null, [], {}];
const NO_LIST_OF_NAMES = ['main', [''], [7], {}, null, 3];

const AT = ['launch_templates', 0] as const;
const IN_REQUIREMENTS = [...AT, 'InstanceRequirements'] as const;
const IN_INTERFACE = [...AT, 'NetworkInterfaces', 0] as const;

const awsRows: readonly Row[] = [
  {
    schema: 'aws',
    base: AWS,
    at: ['launch_templates'],
    required: true,
    good: [[template], [template, template]],
    bad: [[], {}, 'x', null, [null]],
  },
  {
    schema: 'aws',
    base: AWS,
    at: ['instance_market_type'],
    byDefault: 'spot',
    good: ['spot', 'on-demand'],
    bad: ['Spot', 'ondemand', '', null, 1],
  },
  {
    schema: 'aws',
    base: AWS,
    at: ['max_spot_price_per_hour'],
    good: [0.05, 1, 12.5],
    bad: [0, -0.1, '0.05', null, true],
  },
  {
    schema: 'aws',
    base: AWS,
    at: ['distro_release'],
    good: ['bookworm', 'trixie', 'sid', 'noble'],
    bad: ['', 'Bookworm', 'a b', '12;rm', 12, null],
  },
  {
    schema: 'aws',
    base: AWS,
    at: ['worker_install_source'],
    byDefault: 'release',
    good: ['release', 'backports', 'daily-builds', 'pre-installed', 'enterprise', 'enterprise-staging'],
    bad: ['Release', 'preinstalled', '', null, 1],
  },
];

const templateRows: readonly Row[] = [
  {
    schema: 'aws',
    base: AWS,
    at: [...AT, 'ImageId'],
    required: true,
    good: ['ami-0a1b2c3d', 'ami-0a1b2c3d4e5f60718'],
    bad: NO_NAME,
  },
  {
    schema: 'aws',
    base: AWS,
    at: [...AT, 'InstanceType'],
    required: true,
    good: ['m7i.large', 'c7g.metal'],
    bad: NO_NAME,
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...AT, 'InstanceRequirements'],
    alternative: true,
    good: [requirements],
    bad: ['m7i', null, {}, []],
  },
  {
    schema: 'aws',
    base: AWS,
    at: [...AT, 'BlockStorageOptimized'],
    byDefault: false,
    good: [true, false],
    bad: NO_FLAG,
  },
  { schema: 'aws', base: AWS, at: [...AT, 'KeyName'], good: ['admin', 'admin key'], bad: NO_NAME },
  {
    schema: 'aws',
    base: AWS,
    at: [...AT, 'NetworkInterfaces'],
    good: [[], [{}], [{ DeviceIndex: 0 }, { DeviceIndex: 1 }]],
    bad: [{}, [1], null, 'eth0'],
  },
  { schema: 'aws', base: AWS, at: [...AT, 'root_device_size'], good: [1, 100, 16384], bad: [...NO_COUNT, 0] },
  { schema: 'aws', base: AWS, at: [...AT, 'swap_size'], good: [1, 8], bad: [...NO_COUNT, 0] },
  {
    schema: 'aws',
    base: AWS,
    at: [...AT, 'tags'],
    good: [{}, { team: 'build', 'cost centre': '' }],
    bad: [[], 'x', null, { team: 1 }, { 'aws:x': 'y' }, { '': 'y' }, { a: 'x'.repeat(257) }],
  },
];

const requirementRows: readonly Row[] = [
  ...(['VCpuCount', 'MemoryMiB'] as const).map((field): Row => ({
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, field],
    required: true,
    good: [{ Min: 0 }, { Min: 2, Max: 2 }, { Min: 2, Max: 4 }],
    bad: [2, '2', [], null, {}, { Max: 4 }, { Min: 1, max: 2 }],
    beyondJsonSchema: [{ Min: 4, Max: 2 }],
  })),
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'MemoryGiBPerVCpu'],
    good: [{ Min: 0 }, { Min: 2, Max: 8 }],
    bad: [2, {}, null, { Min: -1 }],
    beyondJsonSchema: [{ Min: 9, Max: 8 }],
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'VCpuCount', 'Min'],
    required: true,
    good: [0, 1, 8],
    bad: NO_COUNT,
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'VCpuCount', 'Max'],
    good: [2, 192],
    bad: [...NO_COUNT, 0],
    beyondJsonSchema: [1],
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'SpotMaxPricePercentageOverLowestPrice'],
    good: [0, 100],
    bad: NO_COUNT,
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'MaxSpotPriceAsPercentageOfOptimalOnDemandPrice'],
    good: [1, 60],
    bad: [...NO_COUNT, 0],
  },
  {
    schema: 'aws',
    base: AWS_REQUIREMENTS,
    at: [...IN_REQUIREMENTS, 'BurstablePerformance'],
    byDefault: 'excluded',
    good: ['included', 'excluded', 'required'],
    bad: ['yes', 'Included', null, true],
  },
];

const interfaceRows: readonly Row[] = [
  {
    schema: 'aws',
    base: AWS_INTERFACES,
    at: [...IN_INTERFACE, 'DeviceIndex'],
    byDefault: 0,
    good: [0],
    bad: NO_COUNT,
  },
  {
    schema: 'aws',
    base: AWS_INTERFACES,
    at: [...IN_INTERFACE, 'AssociatePublicIpAddress'],
    good: [true, false],
    bad: NO_FLAG,
  },
  {
    schema: 'aws',
    base: AWS_INTERFACES,
    at: [...IN_INTERFACE, 'DeleteOnTermination'],
    byDefault: true,
    good: [true, false],
    bad: NO_FLAG,
  },
  { schema: 'aws', base: AWS_INTERFACES, at: [...IN_INTERFACE, 'Ipv6AddressCount'], good: [0, 1, 8], bad: NO_COUNT },
  { schema: 'aws', base: AWS_INTERFACES, at: [...IN_INTERFACE, 'SubnetId'], good: ['subnet-0a1b2c'], bad: NO_NAME },
  {
    schema: 'aws',
    base: AWS_INTERFACES,
    at: [...IN_INTERFACE, 'Groups'],
    good: [[], ['sg-1'], ['sg-1', 'sg-2']],
    bad: NO_LIST_OF_NAMES,
  },
];

const hetznerRows: readonly Row[] = [
  { schema: 'hetzner', base: HETZNER, at: ['server_type'], required: true, good: ['cx22', 'cax41'], bad: NO_NAME },
  {
    schema: 'hetzner',
    base: HETZNER,
    at: ['image_name'],
    required: true,
    good: ['debian-12', '15512617'],
    bad: NO_NAME,
  },
  { schema: 'hetzner', base: HETZNER, at: ['ssh_keys'], good: [[], ['admin'], ['a', 'b c']], bad: NO_LIST_OF_NAMES },
  { schema: 'hetzner', base: HETZNER, at: ['networks'], good: [[], ['workers']], bad: NO_LIST_OF_NAMES },
  { schema: 'hetzner', base: HETZNER, at: ['location'], good: ['fsn1', 'hel1'], bad: NO_NAME },
  {
    schema: 'hetzner',
    base: HETZNER,
    at: ['labels'],
    good: [{}, { team: 'build', 'example.com/cost': '' }],
    bad: [[], 'x', null, { team: 1 }, { '-a': 'b' }, { a: ' ' }],
  },
  { schema: 'hetzner', base: HETZNER, at: ['enable_ipv4'], byDefault: true, good: [true, false], bad: NO_FLAG },
  { schema: 'hetzner', base: HETZNER, at: ['enable_ipv6'], byDefault: true, good: [true, false], bad: NO_FLAG },
  {
    schema: 'hetzner',
    base: HETZNER,
    at: ['distro_release'],
    good: ['bookworm', 'trixie'],
    bad: ['', 'A', 'a b', 13, null],
  },
  {
    schema: 'hetzner',
    base: HETZNER,
    at: ['worker_install_source'],
    byDefault: 'release',
    good: ['release', 'backports', 'daily-builds', 'pre-installed'],
    bad: ['enterprise', 'enterprise-staging', '', null],
  },
];

/** `null` is how these fields say "no limit". */
const NO_LIMIT = NO_COUNT.filter((value) => value !== null);

const limitRows: readonly Row[] = [
  { schema: 'limits', base: {}, at: ['max_active_instances'], byDefault: null, good: [0, 1, 500, null], bad: NO_LIMIT },
  {
    schema: 'limits',
    base: {},
    at: ['target_max_seconds_per_month'],
    byDefault: null,
    good: [0, 2_678_400, null],
    bad: NO_LIMIT,
  },
  { schema: 'limits', base: {}, at: ['max_idle_seconds'], byDefault: 3600, good: [0, 60, 86_400], bad: NO_COUNT },
  {
    schema: 'scope-limits',
    base: {},
    at: ['target_max_seconds_per_month'],
    byDefault: null,
    good: [0, 3600, null],
    bad: NO_LIMIT,
  },
  {
    schema: 'scope-limits',
    base: {},
    at: ['target_latency_seconds'],
    byDefault: null,
    good: [0, 600, null],
    bad: NO_LIMIT,
  },
];

export const ROWS: readonly Row[] = [
  ...awsRows,
  ...templateRows,
  ...requirementRows,
  ...interfaceRows,
  ...hetznerRows,
  ...limitRows,
];
