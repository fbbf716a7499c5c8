import { setTimeout as wait } from 'node:timers/promises';
import type { z } from 'zod';
import {
  type Cloud,
  CloudFailure,
  type CloudInstance,
  type CloudSpecifications,
  type InstanceData,
  type InstanceRequest,
  type Termination,
} from '../../../ports/clouds.ts';
import {
  type Action,
  actionAnswer,
  actionsAnswer,
  anyAnswer,
  createdAnswer,
  imagesAnswer,
  instanceOf,
  LABEL,
  networksAnswer,
  type Server,
  serverAnswer,
  serversAnswer,
  serverTypesAnswer,
} from './hetzner-answers.ts';
import { failureCodeOf, type HetznerClient, HetznerRefusal, openHetznerClient } from './hetzner-client.ts';
import type { HetznerSpecifications } from './specifications.ts';

type Account = Parameters<typeof openHetznerClient>[0];

type SpecificationsOf = (given: CloudSpecifications) => HetznerSpecifications;

const PAGE = 50;
const POLL_MILLISECONDS = 1_000;
const POLL_MILLISECONDS_MAX = 5_000;

/** A project at Hetzner Cloud. There is no token for a request: the server's name, unique in the project, is the run's own. */
export function openHetznerCloud(account: Account, specificationsOf: SpecificationsOf): Cloud {
  const client = openHetznerClient(account);
  return {
    create: (request, signal) => create(client, request, specificationsOf(request.specifications), signal),
    terminate: (data, signal) => terminate(client, idOf(data), signal),
    list: (installation, signal) => list(client, installation, signal),
    inspect: (data, signal) => inspect(client, idOf(data), signal),
    // A launch leaves nothing beside its server.
    removeLeftovers: async () => 0,
    check: (signal) => check(client, signal),
    close: client.close,
  };
}

/** `spot-001-1f0c2a9e`: a name of a run, since that of a worker may still be taken by its former server that is being deleted. */
export function serverName({ worker, run }: Pick<InstanceRequest, 'worker' | 'run'>): string {
  return `${worker}-${run.slice(0, 8).toLowerCase()}`.slice(0, 63);
}

async function create(
  client: HetznerClient,
  request: InstanceRequest,
  specifications: HetznerSpecifications,
  signal: AbortSignal,
): Promise<CloudInstance> {
  const name = serverName(request);
  const known = await serverOfRun(client, name, request, signal);
  if (known !== undefined) return ours(known);
  const body = await serverRequest(client, name, request, specifications, signal);
  try {
    const { server, action, next_actions: next } = await client.post('/servers', body, createdAnswer, signal);
    return await settled(client, server, [action, ...next], signal);
  } catch (error) {
    if (!(error instanceof HetznerRefusal) || error.hetznerCode !== 'uniqueness_error') throw error;
    const winner = await serverOfRun(client, name, request, signal);
    if (winner === undefined) throw error;
    return ours(winner);
  }
}

/** The server with the run's name, where it is the run's. @throws CloudFailure `bad-specifications` where the name is another's */
async function serverOfRun(
  client: HetznerClient,
  name: string,
  { installation, run }: InstanceRequest,
  signal: AbortSignal,
): Promise<Server | undefined> {
  const { servers } = await client.get('/servers', { name }, serversAnswer, signal);
  const [server] = servers;
  if (server === undefined) return undefined;
  if (server.labels[LABEL.run] === run && server.labels[LABEL.installation] === installation) return server;
  throw new CloudFailure(
    'bad-specifications',
    `Hetzner Cloud has a server ${name} already, which is not of this launch`,
  );
}

async function serverRequest(
  client: HetznerClient,
  name: string,
  { installation, pool, worker, run, userData }: InstanceRequest,
  specifications: HetznerSpecifications,
  signal: AbortSignal,
): Promise<object> {
  const { server_type, ssh_keys, networks = [], location, labels, enable_ipv4, enable_ipv6 } = specifications;
  const [userDataText] = userData;
  const own = { [LABEL.installation]: installation, [LABEL.pool]: pool, [LABEL.worker]: worker, [LABEL.run]: run };
  return {
    name,
    server_type,
    image: await imageOf(client, specifications, signal),
    labels: { ...labels, ...own },
    public_net: { enable_ipv4, enable_ipv6 },
    start_after_create: true,
    ...(location === undefined ? {} : { location }),
    ...(ssh_keys === undefined ? {} : { ssh_keys }),
    ...(networks.length === 0 ? {} : { networks: await networkIds(client, networks, signal) }),
    ...(userDataText === undefined ? {} : { user_data: userDataText }),
  };
}

/** An image's name exists once for each architecture: the server type says which one is meant. A snapshot has no name, and is given by its id. */
async function imageOf(
  client: HetznerClient,
  { image_name: image, server_type: name }: HetznerSpecifications,
  signal: AbortSignal,
): Promise<string | number> {
  if (/^\d+$/.test(image)) return Number(image);
  const { server_types: types } = await client.get('/server_types', { name }, serverTypesAnswer, signal);
  const architecture = types[0]?.architecture;
  if (architecture === undefined)
    throw new CloudFailure('bad-specifications', `Hetzner Cloud has no server type ${name}`);
  const { images } = await client.get('/images', { name: image, architecture }, imagesAnswer, signal);
  const found = images[0]?.id;
  if (found !== undefined) return found;
  throw new CloudFailure('bad-specifications', `Hetzner Cloud has no image ${image} for ${architecture}`);
}

async function networkIds(
  client: HetznerClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const name of names) {
    const { networks } = await client.get('/networks', { name }, networksAnswer, signal);
    const found = networks.find((network) => network.name === name);
    if (found === undefined) throw new CloudFailure('bad-specifications', `Hetzner Cloud has no network ${name}`);
    ids.push(found.id);
  }
  return ids;
}

/** Waits until all actions of a creation have ended. A server whose creation failed half way is deleted before the failure is told. */
async function settled(
  client: HetznerClient,
  server: Server,
  actions: readonly Action[],
  signal: AbortSignal,
): Promise<CloudInstance> {
  let open = actions;
  for (let pause = POLL_MILLISECONDS; ; pause = Math.min(pause * 2, POLL_MILLISECONDS_MAX)) {
    const failed = open.find(({ status }) => status === 'error');
    if (failed !== undefined) return undo(client, server, failed, signal);
    open = open.filter(({ status }) => status === 'running');
    if (open.length === 0) return ours(server);
    await wait(pause, undefined, { signal });
    open = await actionsNow(client, open, signal);
  }
}

async function actionsNow(
  client: HetznerClient,
  actions: readonly Action[],
  signal: AbortSignal,
): Promise<readonly Action[]> {
  const query = actions.map(({ id }) => `id=${id}`).join('&');
  try {
    return (await client.get(`/actions?${query}`, {}, actionsAnswer, signal)).actions;
  } catch (error) {
    // The server is there: that its actions can not be looked at, for whatever reason, is no failure of its launch.
    if (error instanceof CloudFailure) throw new CloudFailure('outcome-unknown', error.message, { cause: error });
    throw error;
  }
}

async function undo(client: HetznerClient, server: Server, failed: Action, signal: AbortSignal): Promise<never> {
  const { code, message } = failed.error ?? { code: 'unknown_error', message: 'no reason is given' };
  try {
    await client.remove(`/servers/${server.id}`, anyAnswer, signal);
  } catch (error) {
    if (!isNotFound(error))
      throw new CloudFailure('outcome-unknown', `server ${server.name} failed (${code}) and can not be deleted yet`, {
        cause: error,
      });
  }
  const meant = failureCodeOf(code, 400);
  // It is deleted: whatever the code would mean elsewhere, this launch has failed for certain.
  const certain = meant === 'outcome-unknown' || meant === 'throttled' ? 'rejected' : meant;
  throw new CloudFailure(
    certain,
    `Hetzner Cloud could not create server ${server.name}: ${code}: ${message.slice(0, 300)}`,
  );
}

async function terminate(client: HetznerClient, id: number, signal: AbortSignal): Promise<Termination> {
  try {
    const { action } = await client.remove(`/servers/${id}`, actionAnswer, signal);
    if (action.status === 'error')
      throw new CloudFailure(
        'outcome-unknown',
        `Hetzner Cloud could not delete server ${id}: ${action.error?.code ?? 'no reason is given'}`,
      );
    return { outcome: 'ending', endedAt: null };
  } catch (error) {
    if (isNotFound(error)) return { outcome: 'unknown-to-provider', endedAt: null };
    // Locked by the very deletion that was asked for before.
    const isLocked = error instanceof HetznerRefusal && error.hetznerCode === 'locked';
    if (isLocked && ((await inspect(client, id, signal))?.state ?? 'ended') === 'ended')
      return { outcome: 'ending', endedAt: null };
    throw error;
  }
}

async function list(
  client: HetznerClient,
  installation: string,
  signal: AbortSignal,
): Promise<readonly CloudInstance[]> {
  const found: CloudInstance[] = [];
  for (let page: number | null = 1; page !== null;) {
    const query = { label_selector: `${LABEL.installation}=${installation}`, per_page: PAGE, page };
    const answer: z.infer<typeof serversAnswer> = await client.get('/servers', query, serversAnswer, signal);
    found.push(...answer.servers.flatMap((server) => instanceOf(server) ?? []));
    page = answer.meta?.pagination.next_page ?? null;
  }
  return found;
}

async function inspect(client: HetznerClient, id: number, signal: AbortSignal): Promise<CloudInstance | undefined> {
  try {
    return instanceOf((await client.get(`/servers/${id}`, {}, serverAnswer, signal)).server);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * A token that can only read is told from one that can write by a request that would be refused for its input: the permission is looked
 * at first.
 */
async function check(client: HetznerClient, signal: AbortSignal): Promise<void> {
  await client.get('/servers', { per_page: 1 }, serversAnswer, signal);
  try {
    await client.post('/servers', {}, anyAnswer, signal);
  } catch (error) {
    if (!(error instanceof HetznerRefusal) || error.hetznerCode !== 'invalid_input') throw error;
  }
}

function ours(server: Server): CloudInstance {
  const instance = instanceOf(server);
  if (instance !== undefined) return instance;
  throw new CloudFailure('unreadable-answer', `Hetzner Cloud shows server ${server.name} without its labels`);
}

function isNotFound(error: unknown): boolean {
  return error instanceof HetznerRefusal && error.hetznerCode === 'not_found';
}

function idOf(data: InstanceData): number {
  const id = data['server_id'];
  if (typeof id === 'number') return id;
  throw new CloudFailure('rejected', 'this is no server of Hetzner Cloud: its data have no server_id');
}
