import type { Ec2Parameter } from './moto.ts';

export type Ec2Problem = Readonly<{ code: string; message: string }>;

const USER_DATA_BYTES_MAX = 16_384;

/** What EC2 would refuse of a request and moto takes; undefined: nothing. `known`: the action's parameters by botocore's model. */
export function problemOfForm(
  action: string,
  form: URLSearchParams,
  known: ReadonlyMap<string, Ec2Parameter> | undefined,
): Ec2Problem | undefined {
  if (known === undefined)
    return { code: 'InvalidAction', message: `The action ${action} is not valid for this web service.` };
  if (form.get('Version') !== '2016-11-15') return { code: 'NoSuchVersion', message: 'no such version' };
  for (const [name, value] of form) {
    if (name === 'Action' || name === 'Version') continue;
    const parameter = known.get(name.replace(/\.\d+(?=\.|$)/g, '.#'));
    if (parameter === undefined)
      return { code: 'UnknownParameter', message: `The parameter ${name} is not recognized` };
    const wrong = wrongValue(parameter, value);
    if (wrong) return { code: 'InvalidParameterValue', message: `Value (${value}) for parameter ${name} is invalid.` };
  }
  const token = form.get('ClientToken');
  if (token !== null && (token.length > 64 || !/^[!-~]+$/.test(token)))
    return { code: 'InvalidParameterValue', message: 'ClientToken has at most 64 ASCII characters' };
  return tagProblem(form) ?? pageProblem(action, form) ?? templateProblem(action, form) ?? fleetProblem(action, form);
}

function wrongValue({ kind, values }: Ec2Parameter, value: string): boolean {
  if (kind === 'integer' || kind === 'long') return !/^-?\d+$/.test(value);
  if (kind === 'boolean') return value !== 'true' && value !== 'false';
  if (kind === 'double' || kind === 'float') return !/^-?\d+(\.\d+)?$/.test(value);
  return values !== undefined && !values.includes(value);
}

function tagProblem(form: URLSearchParams): Ec2Problem | undefined {
  const bySet = new Map<string, string[]>();
  for (const [name, value] of form) {
    const [, set] = /^(.*)\.Tag\.\d+\.Key$/.exec(name) ?? [];
    if (set === undefined) continue;
    bySet.set(set, [...(bySet.get(set) ?? []), value]);
    if (/^aws:/i.test(value) || value.length > 128)
      return { code: 'InvalidParameterValue', message: `Tag keys starting with 'aws:' are reserved for internal use` };
  }
  for (const keys of bySet.values()) {
    if (keys.length > 50) return { code: 'TagLimitExceeded', message: 'at most 50 tags' };
    if (new Set(keys).size < keys.length) return { code: 'InvalidParameterValue', message: 'Duplicate tag key' };
  }
  return undefined;
}

function pageProblem(action: string, form: URLSearchParams): Ec2Problem | undefined {
  const most = form.get('MaxResults');
  if (most === null) return undefined;
  if (form.has('InstanceId.1'))
    return { code: 'InvalidParameterCombination', message: 'MaxResults and ids can not be used together' };
  const [from, to] = action === 'DescribeInstances' ? [5, 1000] : [1, 200];
  return Number(most) >= from && Number(most) <= to
    ? undefined
    : { code: 'InvalidParameterValue', message: `MaxResults must be between ${from} and ${to}` };
}

function templateProblem(action: string, form: URLSearchParams): Ec2Problem | undefined {
  if (action !== 'CreateLaunchTemplate') return undefined;
  const name = form.get('LaunchTemplateName') ?? '';
  if (!/^[a-zA-Z0-9().\-/_]{3,128}$/.test(name))
    return { code: 'InvalidLaunchTemplateName.MalformedException', message: 'names have 3 to 128 characters' };
  const requirements = [...form.keys()].some((key) => key.startsWith('LaunchTemplateData.InstanceRequirements.'));
  if (form.has('LaunchTemplateData.InstanceType') && requirements)
    return { code: 'InvalidParameterCombination', message: 'InstanceRequirements and InstanceType' };
  const data = form.get('LaunchTemplateData.UserData') ?? '';
  if (Buffer.from(data, 'base64').toString('base64') !== data)
    return { code: 'InvalidUserData.Malformed', message: 'Invalid BASE64 encoding of user data.' };
  if (Buffer.from(data, 'base64').length > USER_DATA_BYTES_MAX)
    return { code: 'InvalidParameterValue', message: 'User data is limited to 16384 bytes' };
  return interfaceProblem(form);
}

function interfaceProblem(form: URLSearchParams): Ec2Problem | undefined {
  const field = 'LaunchTemplateData.NetworkInterface';
  const devices = [...form]
    .filter(([name]) => name.startsWith(field) && name.endsWith('.DeviceIndex'))
    .map(([, value]) => value);
  if (devices.length === 0) return undefined;
  if ([...form.keys()].some((name) => name.startsWith('LaunchTemplateData.SecurityGroup')))
    return {
      code: 'InvalidParameterCombination',
      message: 'Network interfaces and an instance-level security groups may not be specified on the same request',
    };
  if (!devices.includes('0'))
    return { code: 'InvalidParameterValue', message: 'A primary network interface with device index 0 is needed' };
  if (new Set(devices).size < devices.length)
    return { code: 'InvalidParameterValue', message: 'Each network interface requires a unique device index.' };
  const isPublic = [...form].some(([name, value]) => name.endsWith('.AssociatePublicIpAddress') && value === 'true');
  return isPublic && devices.length > 1
    ? {
        code: 'InvalidParameterCombination',
        message:
          'The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.',
      }
    : undefined;
}

function fleetProblem(action: string, form: URLSearchParams): Ec2Problem | undefined {
  if (action !== 'CreateFleet') return undefined;
  if (form.get('Type') !== 'instant')
    return { code: 'InvalidParameterValue', message: 'only instant fleets are for us' };
  if (form.get('TargetCapacitySpecification.TotalTargetCapacity') !== '1')
    return { code: 'InvalidParameterValue', message: 'one instance a launch' };
  const price = form.get('SpotOptions.MaxTotalPrice');
  if (price !== null && !/^\d+(\.\d+)?$/.test(price))
    return { code: 'InvalidParameterValue', message: `Value (${price}) for parameter MaxTotalPrice is invalid` };
  const isSpot = form.get('TargetCapacitySpecification.DefaultTargetCapacityType') === 'spot';
  if (!isSpot && price !== null) return { code: 'InvalidParameterCombination', message: 'MaxTotalPrice is for spot' };
  const types = [...form]
    .filter(([name]) => /^TagSpecification\.\d+\.ResourceType$/.test(name))
    .map(([, value]) => value);
  if (types.some((type) => type !== 'fleet' && type !== 'instance'))
    return { code: 'InvalidParameterValue', message: 'a fleet tags itself and its instances' };
  return undefined;
}
