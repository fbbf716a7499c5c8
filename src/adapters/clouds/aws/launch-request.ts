import type { InstanceRequest, OwnMarks } from '../../../ports/clouds.ts';
import type { Ec2Parameters } from './ec2-client.ts';
import type { AwsSpecifications, LaunchTemplate } from './specifications.ts';

/** The service's own tags at EC2, by which everything of it is found again. */
export const TAG = {
  installation: 'edgeward:installation',
  pool: 'edgeward:pool',
  worker: 'edgeward:worker',
  run: 'edgeward:run',
} as const;

/** Any name that no image has as its root device; what the instance sees differs from type to type, and first boot goes by size. */
const SWAP_DEVICE = '/dev/sdf';
const VOLUME_TYPE = 'gp3';

/** The stored launch template of a run that carries this entry of the specifications: unique, so that what an earlier try made is used. */
export function templateName(run: string, index: number): string {
  return `edgeward-${run}-${index + 1}`;
}

/** `CreateLaunchTemplate`. The same to the byte however often it is asked for. `rootDevice`: the image's, where its size is given. */
export function templateRequest(
  request: InstanceRequest,
  template: LaunchTemplate,
  index: number,
  rootDevice: string | undefined,
): Ec2Parameters {
  const own = ownTags(request);
  const tags = tagList({ Name: request.worker, ...template.tags, ...own });
  const userData = request.userData[index];
  return {
    LaunchTemplateName: templateName(request.run, index),
    TagSpecification: [{ ResourceType: 'launch-template', Tag: tagList(own) }],
    LaunchTemplateData: {
      ImageId: template.ImageId,
      InstanceType: template.InstanceType,
      InstanceRequirements: template.InstanceRequirements,
      EbsOptimized: template.BlockStorageOptimized ? true : undefined,
      KeyName: template.KeyName,
      NetworkInterface: template.NetworkInterfaces?.map(({ Groups, ...rest }) => ({
        ...rest,
        SecurityGroupId: Groups,
      })),
      BlockDeviceMapping: blockDevices(template, rootDevice),
      // A worker that powers itself off is gone, and costs nothing.
      InstanceInitiatedShutdownBehavior: 'terminate',
      MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
      UserData: userData === undefined ? undefined : Buffer.from(userData).toString('base64'),
      TagSpecification: ['instance', 'volume', 'network-interface'].map((ResourceType) => ({
        ResourceType,
        Tag: tags,
      })),
    },
  };
}

/** `CreateFleet` of one instance, from the run's templates by name: a template that had to be made again leaves the request as it was. */
export function fleetRequest(request: InstanceRequest, specifications: AwsSpecifications): Ec2Parameters {
  const { launch_templates: templates, instance_market_type: market, max_spot_price_per_hour: price } = specifications;
  const tags = tagList(ownTags(request));
  return {
    ClientToken: request.run,
    Type: 'instant',
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: market },
    ...(market === 'spot'
      ? {
          SpotOptions: {
            AllocationStrategy: 'price-capacity-optimized',
            MaxTotalPrice: price === undefined ? undefined : decimal(price),
          },
        }
      : { OnDemandOptions: { AllocationStrategy: 'lowest-price' } }),
    LaunchTemplateConfigs: templates.map((_, index) => ({
      LaunchTemplateSpecification: { LaunchTemplateName: templateName(request.run, index), Version: '1' },
    })),
    TagSpecification: ['fleet', 'instance'].map((ResourceType) => ({ ResourceType, Tag: tags })),
  };
}

/** A number as EC2 reads prices: no exponent, and no more digits than it has. */
export function decimal(value: number): string {
  const plain = String(value);
  return plain.includes('e') ? value.toFixed(20).replace(/0+$/, '').replace(/\.$/, '') : plain;
}

function ownTags({ installation, pool, worker, run }: OwnMarks): Readonly<Record<string, string>> {
  return { [TAG.installation]: installation, [TAG.pool]: pool, [TAG.worker]: worker, [TAG.run]: run };
}

function tagList(tags: Readonly<Record<string, string>>): readonly Ec2Parameters[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

function blockDevices(
  { root_device_size: rootGiB, swap_size: swapGiB }: LaunchTemplate,
  rootDevice: string | undefined,
): readonly Ec2Parameters[] {
  return [
    ...(rootGiB === undefined || rootDevice === undefined ? [] : [volume(rootDevice, rootGiB)]),
    ...(swapGiB === undefined ? [] : [volume(SWAP_DEVICE, swapGiB)]),
  ];
}

function volume(DeviceName: string, VolumeSize: number): Ec2Parameters {
  return { DeviceName, Ebs: { VolumeSize, VolumeType: VOLUME_TYPE, DeleteOnTermination: true } };
}
