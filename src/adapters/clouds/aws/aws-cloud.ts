import { setTimeout as wait } from 'node:timers/promises';
import {
  type Cloud,
  CloudFailure,
  type CloudInstance,
  type CloudSpecifications,
  type InstanceData,
  type InstanceRequest,
  type IsRunOver,
  type Termination,
} from '../../../ports/clouds.ts';
import { childNamed, elementsAt, textOf, type XmlElement } from '../../xml.ts';
import { fleetOutcome, instancesIn, instantOf, tagsOf } from './ec2-answers.ts';
import { type Ec2Client, type Ec2Parameters, Ec2Refusal, openEc2Client } from './ec2-client.ts';
import { failureCodeOfAll } from './failure-codes.ts';
import { fleetRequest, TAG, templateName, templateRequest } from './launch-request.ts';
import type { AwsSpecifications } from './specifications.ts';

type Account = Parameters<typeof openEc2Client>[0];

type SpecificationsOf = (given: CloudSpecifications) => AwsSpecifications;

const PAGE = 500;
/** How often a fresh instance is looked for that reads do not show yet; the waits double. */
const FRESH_LOOKS = 4;
const FRESH_WAIT_MILLISECONDS = 250;

/** An account at EC2. A launch is: look for the run's tag, store its templates, one fleet of one instance, remove the templates. */
export function openAwsCloud(account: Account, specificationsOf: SpecificationsOf): Cloud {
  const client = openEc2Client(account);
  return {
    create: (request, signal) => create(client, request, specificationsOf(request.specifications), signal),
    terminate: (data, signal) => terminate(client, data, signal),
    list: (installation, signal) => describe(client, { Filter: [tagFilter(TAG.installation, installation)] }, signal),
    inspect: (data, signal) => inspect(client, idOf(data), signal),
    removeLeftovers: (installation, isOver, signal) => removeLeftovers(client, installation, isOver, signal),
    check: (signal) => check(client, signal),
    close: client.close,
  };
}

async function create(
  client: Ec2Client,
  request: InstanceRequest,
  specifications: AwsSpecifications,
  signal: AbortSignal,
): Promise<CloudInstance> {
  const known = await findRun(client, request, signal);
  if (known !== undefined) {
    await removeTemplates(client, request.run, signal);
    return known;
  }
  try {
    await storeTemplates(client, request, specifications, signal);
    const instance = await launch(client, request, specifications, signal);
    await removeTemplates(client, request.run, signal);
    return instance;
  } catch (error) {
    // A fleet that may still be at work keeps its templates: the next try removes them, or `removeLeftovers` once the run is over.
    if (error instanceof CloudFailure && error.kind === 'refused') await removeTemplates(client, request.run, signal);
    throw error;
  }
}

/** The run's instance, the one that lives before those that have ended. */
async function findRun(
  client: Ec2Client,
  { installation, run }: InstanceRequest,
  signal: AbortSignal,
): Promise<CloudInstance | undefined> {
  const Filter = [tagFilter(TAG.run, run), tagFilter(TAG.installation, installation)];
  const found = await describe(client, { Filter }, signal);
  return found.find(({ state }) => state !== 'ended') ?? found[0];
}

async function storeTemplates(
  client: Ec2Client,
  request: InstanceRequest,
  { launch_templates: templates }: AwsSpecifications,
  signal: AbortSignal,
): Promise<void> {
  const roots = new Map<string, string>();
  for (const { ImageId, root_device_size: size } of templates) {
    if (size !== undefined && !roots.has(ImageId)) roots.set(ImageId, await rootDevice(client, ImageId, signal));
  }
  for (const [index, template] of templates.entries()) {
    const parameters = templateRequest(request, template, index, roots.get(template.ImageId));
    try {
      await client.call('CreateLaunchTemplate', parameters, signal);
    } catch (error) {
      // The name is the run's own, and what it stands for is frozen: an earlier try has made it.
      const isThere =
        error instanceof Ec2Refusal && error.ec2Code === 'InvalidLaunchTemplateName.AlreadyExistsException';
      if (!isThere) throw error;
    }
  }
}

async function rootDevice(client: Ec2Client, image: string, signal: AbortSignal): Promise<string> {
  const { root } = await client.call('DescribeImages', { ImageId: [image] }, signal);
  const [found] = elementsAt(root, 'imagesSet', 'item');
  if (found === undefined) throw new CloudFailure('bad-specifications', `EC2 has no image ${image}`);
  const [name, type] = ['rootDeviceName', 'rootDeviceType'].map((field) => textOf(childNamed(found, field)));
  if (name !== undefined && name !== '' && type === 'ebs') return name;
  const because = `root_device_size is for images with an EBS root device, and that of ${image} is of type ${type ?? 'none'}`;
  throw new CloudFailure('bad-specifications', because);
}

/** Exactly one instance under the run's token; its answer may be that of an earlier try. */
async function launch(
  client: Ec2Client,
  request: InstanceRequest,
  specifications: AwsSpecifications,
  signal: AbortSignal,
): Promise<CloudInstance> {
  try {
    const { root, answeredAt } = await client.call('CreateFleet', fleetRequest(request, specifications), signal);
    const { instanceIds, errors } = fleetOutcome(root);
    const [id] = instanceIds;
    // Whatever else it could not do: an instance in the answer is there, and costs.
    if (id !== undefined) return await freshInstance(client, request, id, answeredAt, signal);
    if (errors.length === 0) throw new CloudFailure('outcome-unknown', 'EC2 CreateFleet: neither instance nor error');
    const texts = [...new Set(errors.map(({ code, message }) => (message === '' ? code : `${code}: ${message}`)))];
    const code = failureCodeOfAll(errors.map((error) => error.code));
    throw new CloudFailure(code, `EC2 CreateFleet: ${texts.join('; ').slice(0, 600)}`);
  } catch (error) {
    const isKnownToken =
      error instanceof Ec2Refusal &&
      (error.ec2Code === 'IdempotentParameterMismatch' || error.ec2Code === 'IdempotentInstanceTerminated');
    if (!isKnownToken) throw error;
    const known = await findRun(client, request, signal);
    if (known === undefined) throw error;
    return known;
  }
}

/** As EC2 describes it; while its reads do not show it yet, as the answer of its creation has it. */
async function freshInstance(
  client: Ec2Client,
  { installation, pool, worker, run }: InstanceRequest,
  id: string,
  answeredAt: string | null,
  signal: AbortSignal,
): Promise<CloudInstance> {
  for (let look = 0; look < FRESH_LOOKS && !signal.aborted; look += 1) {
    try {
      const known = await inspect(client, id, signal);
      if (known !== undefined) return known;
      await wait(FRESH_WAIT_MILLISECONDS * 2 ** look, undefined, { signal });
    } catch {
      // It is there: that it can not be looked at now must not lose it.
      break;
    }
  }
  return {
    installation,
    pool,
    worker,
    run,
    data: { instance_id: id },
    createdAt: instantOf(answeredAt ?? new Date().toISOString()),
    state: 'starting',
    endedAt: null,
    because: null,
  };
}

async function terminate(client: Ec2Client, data: InstanceData, signal: AbortSignal): Promise<Termination> {
  const id = idOf(data);
  try {
    const { root } = await client.call('TerminateInstances', { InstanceId: [id] }, signal);
    const [ending] = elementsAt(root, 'instancesSet', 'item');
    const before = textOf(childNamed(childNamed(ending, 'previousState'), 'name'));
    const hasEndedBefore = before === 'terminated' || before === 'shutting-down';
    const endedAt = hasEndedBefore ? ((await inspect(client, id, signal))?.endedAt ?? null) : null;
    return { outcome: 'ending', endedAt };
  } catch (error) {
    if (isUnknownId(error)) return { outcome: 'unknown-to-provider', endedAt: null };
    throw error;
  }
}

async function inspect(client: Ec2Client, id: string, signal: AbortSignal): Promise<CloudInstance | undefined> {
  try {
    const { root } = await client.call('DescribeInstances', { InstanceId: [id] }, signal);
    return instancesIn(root).find(({ data }) => data['instance_id'] === id);
  } catch (error) {
    if (isUnknownId(error)) return undefined;
    throw error;
  }
}

/** Of this run, and whatever became of the run: user data holds its activation token. What can't be removed now `removeLeftovers` removes. */
async function removeTemplates(client: Ec2Client, run: string, signal: AbortSignal): Promise<void> {
  try {
    for (const { name } of await templatesWith(client, TAG.run, run, signal))
      await removeTemplate(client, name, signal);
  } catch (error) {
    if (!(error instanceof CloudFailure)) throw error;
  }
}

async function removeLeftovers(
  client: Ec2Client,
  installation: string,
  isOver: IsRunOver,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const { name, run, createdAt } of await templatesWith(client, TAG.installation, installation, signal)) {
    if (!(await isOver({ run, createdAt }))) continue;
    await removeTemplate(client, name, signal);
    removed += 1;
  }
  return removed;
}

type StoredTemplate = Readonly<{ name: string; run: string; createdAt: string }>;

async function templatesWith(
  client: Ec2Client,
  tag: string,
  value: string,
  signal: AbortSignal,
): Promise<readonly StoredTemplate[]> {
  const roots = await pages(
    client,
    'DescribeLaunchTemplates',
    { Filter: [tagFilter(tag, value)], MaxResults: 200 },
    signal,
  );
  return roots
    .flatMap((root) => elementsAt(root, 'launchTemplates', 'item'))
    .flatMap((item): readonly StoredTemplate[] => {
      const name = textOf(childNamed(item, 'launchTemplateName'));
      const created = textOf(childNamed(item, 'createTime'));
      const run = tagsOf(item).get(TAG.run);
      if (name === undefined || created === undefined || run === undefined) return [];
      return [{ name, run, createdAt: instantOf(created) }];
    });
}

async function removeTemplate(client: Ec2Client, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call('DeleteLaunchTemplate', { LaunchTemplateName: name }, signal);
  } catch (error) {
    const isGone = error instanceof Ec2Refusal && error.ec2Code === 'InvalidLaunchTemplateName.NotFoundException';
    if (!isGone) throw error;
  }
}

/** What an account must be allowed to do, asked without doing it. */
async function check(client: Ec2Client, signal: AbortSignal): Promise<void> {
  await client.call('DescribeInstances', { MaxResults: 5 }, signal);
  await client.call('DescribeLaunchTemplates', { MaxResults: 1 }, signal);
  const fleet: Ec2Parameters = {
    DryRun: true,
    Type: 'instant',
    TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: 'on-demand' },
    LaunchTemplateConfigs: [
      { LaunchTemplateSpecification: { LaunchTemplateName: templateName('check', 0), Version: '1' } },
    ],
  };
  try {
    await client.call('CreateFleet', fleet, signal);
  } catch (error) {
    // What is looked at after the permission was granted: that there is no such template says that it was.
    const isAllowed =
      error instanceof Ec2Refusal &&
      (error.ec2Code === 'DryRunOperation' || error.ec2Code.startsWith('InvalidLaunchTemplate'));
    if (!isAllowed) throw error;
  }
}

async function describe(
  client: Ec2Client,
  parameters: Ec2Parameters,
  signal: AbortSignal,
): Promise<readonly CloudInstance[]> {
  const roots = await pages(client, 'DescribeInstances', { ...parameters, MaxResults: PAGE }, signal);
  return roots.flatMap(instancesIn);
}

async function pages(
  client: Ec2Client,
  action: string,
  parameters: Ec2Parameters,
  signal: AbortSignal,
): Promise<readonly XmlElement[]> {
  const roots: XmlElement[] = [];
  for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
    const { root } = await client.call(action, { ...parameters, NextToken: token }, signal);
    roots.push(root);
    const next = textOf(childNamed(root, 'nextToken'));
    token = next === '' ? undefined : next;
  }
  return roots;
}

function tagFilter(tag: string, value: string): Ec2Parameters {
  return { Name: `tag:${tag}`, Value: [value.replace(/[*?\\]/g, String.raw`\$&`)] };
}

function isUnknownId(error: unknown): boolean {
  return error instanceof Ec2Refusal && error.ec2Code.startsWith('InvalidInstanceID.');
}

function idOf(data: InstanceData): string {
  const id = data['instance_id'];
  if (typeof id === 'string' && id !== '') return id;
  throw new CloudFailure('rejected', 'this is no instance of EC2: its data have no instance_id');
}
