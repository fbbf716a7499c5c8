import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { checkPoolChanges } from '../../../src/domain/worker-pools/documents.ts';
import { AWS, AWS_REQUIREMENTS, HETZNER } from './specification-rows.ts';

const template = AWS.launch_templates[0]!;
const requirements = AWS_REQUIREMENTS.launch_templates[0]!.InstanceRequirements;

function problems(record: unknown): readonly string[] {
  const checked = checkPoolChanges({ specifications: record }, CLOUD_DRIVERS);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

function withInterfaces(...NetworkInterfaces: object[]): readonly string[] {
  return problems({ ...AWS, launch_templates: [{ ...template, NetworkInterfaces }] });
}

function value(record: unknown): unknown {
  const checked = checkPoolChanges({ specifications: record }, CLOUD_DRIVERS);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return JSON.parse(JSON.stringify(checked.value.specifications));
}

test('a launch template gives exactly one of InstanceType and InstanceRequirements', () => {
  assert.equal(problems({ ...AWS, launch_templates: [{ ImageId: 'ami-1' }] }), [
    'specifications.launch_templates[0].InstanceType is required, unless InstanceRequirements is given: exactly one of the two',
  ]);
  assert.equal(problems({ ...AWS, launch_templates: [{ ...template, InstanceRequirements: requirements }] }), [
    'specifications.launch_templates[0].InstanceRequirements excludes InstanceType: give exactly one of the two',
  ]);
});

test('at most one of the two spot percentages is given', () => {
  const both = {
    ...requirements,
    SpotMaxPricePercentageOverLowestPrice: 20,
    MaxSpotPriceAsPercentageOfOptimalOnDemandPrice: 60,
  };
  assert.equal(problems({ ...AWS, launch_templates: [{ ImageId: 'ami-1', InstanceRequirements: both }] }), [
    'specifications.launch_templates[0].InstanceRequirements.MaxSpotPriceAsPercentageOfOptimalOnDemandPrice ' +
      'excludes SpotMaxPricePercentageOverLowestPrice: give at most one of the two',
  ]);
});

test('a spot price is refused with on-demand instances', () => {
  assert.equal(problems({ ...AWS, instance_market_type: 'on-demand', max_spot_price_per_hour: 0.2 }), [
    'specifications.max_spot_price_per_hour is only for spot instances: leave it out, or set instance_market_type to spot',
  ]);
  assert.equal(problems({ ...AWS, instance_market_type: 'spot', max_spot_price_per_hour: 0.2 }), []);
  assert.equal(problems({ ...AWS, max_spot_price_per_hour: 0.2 }), []);
});

test('Max is not below Min', () => {
  const wrong = { ...requirements, VCpuCount: { Min: 4, Max: 2 } };
  assert.equal(problems({ ...AWS, launch_templates: [template, { ImageId: 'ami-1', InstanceRequirements: wrong }] }), [
    'specifications.launch_templates[1].InstanceRequirements.VCpuCount.Max must be at least Min (4), not 2',
  ]);
});

test('no two interfaces have one DeviceIndex, the default one included', () => {
  assert.equal(withInterfaces({}, { DeviceIndex: 0 }), [
    'specifications.launch_templates[0].NetworkInterfaces[1].DeviceIndex ' +
      'is 0, as in NetworkInterfaces[0]: each interface must have a DeviceIndex of its own',
  ]);
  assert.equal(withInterfaces({ DeviceIndex: 2 }, { DeviceIndex: 0 }, { DeviceIndex: 2 }).length, 1);
  assert.equal(withInterfaces({}, { DeviceIndex: 1 }), []);
});

test('one interface is the primary one', () => {
  assert.equal(withInterfaces({ DeviceIndex: 1 }), [
    'specifications.launch_templates[0].NetworkInterfaces must have an entry with DeviceIndex 0, the primary interface of the instance',
  ]);
  assert.equal(withInterfaces({ DeviceIndex: 2 }, { DeviceIndex: 1 }).length, 1);
  assert.equal(withInterfaces({ DeviceIndex: 1 }, { DeviceIndex: 0 }), []);
});

test('a public address at launch is for a single interface', () => {
  assert.equal(withInterfaces({ AssociatePublicIpAddress: true }), []);
  assert.equal(withInterfaces({}, { DeviceIndex: 1, AssociatePublicIpAddress: true }), [
    'specifications.launch_templates[0].NetworkInterfaces[1].AssociatePublicIpAddress must not be true with several interfaces: ' +
      'EC2 gives a public address at launch to a single one',
  ]);
  assert.equal(withInterfaces({ AssociatePublicIpAddress: false }, { DeviceIndex: 1 }), []);
});

test('marks of the service itself are not given by hand', () => {
  assert.equal(problems({ ...AWS, launch_templates: [{ ...template, tags: { 'edgeward:run': 'x' } }] }), [
    'specifications.launch_templates[0].tags["edgeward:run"] must not start with edgeward:, by which the service finds its own instances',
  ]);
  assert.equal(problems({ ...HETZNER, labels: { 'edgeward/run': 'x' } }), [
    'specifications.labels["edgeward/run"] must not start with edgeward/, by which the service finds its own servers',
  ]);
});

test('an empty list of interfaces or groups means absent', () => {
  const absent = value(AWS);
  assert.equal(value({ ...AWS, launch_templates: [{ ...template, NetworkInterfaces: [] }] }), absent);
  assert.equal(value({ ...AWS, launch_templates: [{ ...template, NetworkInterfaces: [{ Groups: [] }] }] }), {
    provider_type: 'aws',
    launch_templates: [
      { ...template, BlockStorageOptimized: false, NetworkInterfaces: [{ DeviceIndex: 0, DeleteOnTermination: true }] },
    ],
    instance_market_type: 'spot',
    worker_install_source: 'release',
  });
});

test('defaults are filled in', () => {
  assert.equal(value(HETZNER), {
    ...HETZNER,
    enable_ipv4: true,
    enable_ipv6: true,
    worker_install_source: 'release',
  });
});

test('the enterprise install sources are for provider A alone', () => {
  assert.equal(problems({ ...HETZNER, worker_install_source: 'enterprise' }), [
    'specifications.worker_install_source must be one of release, backports, daily-builds, pre-installed, not "enterprise"',
  ]);
});

test('the fields of one provider are unknown to the other', () => {
  assert.equal(problems({ ...HETZNER, launch_templates: [template] }), [
    'specifications.launch_templates is not a field; the fields are provider_type, server_type, image_name, ssh_keys, networks, ' +
      'location, labels, enable_ipv4, enable_ipv6, distro_release, worker_install_source',
  ]);
});

test('all problems are told at once, each with its path and what would be right', () => {
  const wrong = {
    provider_type: 'aws',
    launch_templates: [
      {
        InstanceTyp: 'm7i.large',
        InstanceRequirements: { VCpuCount: { Min: '2', Max: 1 }, MemoryMiB: { Min: 4, Max: 3 } },
        root_device_size: -2,
        tags: { 'aws:x': 'q', 'cost centre': 3 },
      },
    ],
    instance_market_type: 'on-demand',
    max_spot_price_per_hour: '0.5',
    launch_template: [],
  };
  assert.equal(
    problems(wrong),
    [
      'specifications.launch_templates[0].ImageId is required: a string (image ID; an image with the worker software pre-installed speeds up startup)',
      'specifications.launch_templates[0].InstanceRequirements.VCpuCount.Min must be a whole number, not "2"',
      'specifications.launch_templates[0].InstanceRequirements.MemoryMiB.Max must be at least Min (4), not 3',
      'specifications.launch_templates[0].root_device_size must be at least 1, not -2',
      'specifications.launch_templates[0].tags["cost centre"] must be a string, not 3',
      'specifications.launch_templates[0].tags.aws:x must not start with aws:, which the provider keeps for itself',
      'specifications.launch_templates[0].InstanceTyp is not a field; did you mean InstanceType?',
      'specifications.max_spot_price_per_hour must be a number, not "0.5"',
      'specifications.launch_template is not a field; did you mean launch_templates?',
      'specifications.max_spot_price_per_hour is only for spot instances: leave it out, or set instance_market_type to spot',
    ].map((line) => line.replace('.tags.aws:x', '.tags["aws:x"]')),
  );
});

test('what is no record at all is refused in words', () => {
  assert.equal(problems(null), ['specifications must be an object, not null']);
  assert.equal(problems([]), ['specifications must be an object, not a list']);
  assert.equal(problems('aws'), ['specifications must be an object, not "aws"']);
  assert.equal(problems({}), [
    `specifications.provider_type is required: one of ${CLOUD_DRIVERS.map(({ providerType }) => providerType).join(', ')}`,
  ]);
});

test('a record that is too deep, or that names a prototype, is refused before it is looked at', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  assert.equal(problems({ ...HETZNER, labels: deep }).length, 1);
  assert.match(problems({ ...HETZNER, labels: deep })[0]!, /is nested deeper than 32 levels$/);
  const hostile: unknown = JSON.parse('{"provider_type":"hetzner","labels":{"__proto__":"x"}}');
  assert.equal(problems(hostile), ['specifications.labels.__proto__ is a name that can not be used']);
});

test('at most a hundred problems are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field${index}`, 1]));
  assert.equal(problems({ ...HETZNER, ...many }).length, 100);
});

test.run();
