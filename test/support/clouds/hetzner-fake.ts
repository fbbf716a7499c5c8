import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

type Labels = Readonly<Record<string, string>>;

type FakeServer = {
  id: number;
  name: string;
  status: 'initializing' | 'running' | 'deleting';
  created: string;
  labels: Labels;
  protection: { delete: boolean; rebuild: boolean };
  /** As it was asked for; no answer has it. */
  userData: string | undefined;
  networks: readonly number[];
};

type FakeAction = {
  id: number;
  command: string;
  status: 'running' | 'success' | 'error';
  server: number;
  error: { code: string; message: string } | null;
};

/** What becomes of the next call of a kind. `after`: it is done first. */
export type HetznerFault =
  | Readonly<{ kind: 'cut'; after: boolean }>
  | Readonly<{ kind: 'page' }>
  | Readonly<{ kind: 'error'; status: number; code: string; message?: string; resetInSeconds?: number }>
  /** The answer is 201, and its action ends like this. */
  | Readonly<{ kind: 'failing-action'; code: string }>;

/** A project of Hetzner Cloud in memory, as its API answers: what is not allowed there is refused here. */
export type HetznerFake = Readonly<{
  url: string;
  token: string;
  /** The next call of that method and path (`POST /servers`) fails; several are used up in order. */
  fail: (call: string, ...faults: readonly HetznerFault[]) => void;
  dieAfter: (calls: number) => void;
  revive: () => boolean;
  servers: () => readonly Readonly<FakeServer>[];
  /** Makes a server go, as when somebody deletes it in the console. */
  take: (id: number) => void;
  protect: (id: number) => void;
  /** What each request was: its method, path and body. */
  requests: () => readonly Readonly<{ call: string; body: unknown }>[];
  stop: () => Promise<void>;
}>;

const TOKEN = 'hunter2'.repeat(9) + 'x';
const NETWORKS = [{ id: 4711, name: 'build' }];
const SERVER_TYPES = [
  { id: 22, name: 'cx32', architecture: 'x86' },
  { id: 45, name: 'cax11', architecture: 'arm' },
];
const IMAGES = [
  { id: 301, name: 'debian-13', architecture: 'x86', type: 'system' },
  { id: 302, name: 'debian-13', architecture: 'arm', type: 'system' },
];
const LOCATIONS = ['fsn1', 'nbg1', 'hel1'];
const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const HOST_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const USER_DATA_BYTES_MAX = 32_768;

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

type Answer = Readonly<{ status: number; body: unknown; headers?: Readonly<Record<string, string>> }>;

/** Starts an empty project. */
export async function startHetznerFake(): Promise<HetznerFake> {
  const servers = new Map<number, FakeServer>();
  const actions = new Map<number, FakeAction>();
  const planned = new Map<string, HetznerFault[]>();
  const requests: { call: string; body: unknown }[] = [];
  let [nextId, callsLeft, isDead] = [1000, Number.POSITIVE_INFINITY, false];

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    if (isDead) {
      request.socket.destroy();
      return;
    }
    callsLeft -= 1;
    const isLast = callsLeft === 0;
    const url = new URL(request.url ?? '/', 'http://fake');
    const path = url.pathname.replace(/^\/v1/, '');
    const call = `${request.method} ${path.replace(/\/\d+/, '/{id}')}`;
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    requests.push({ call, body });
    const [fault] = planned.get(call)?.splice(0, 1) ?? [];
    const answer =
      fault !== undefined && !(fault.kind === 'cut' && fault.after) && fault.kind !== 'failing-action'
        ? faulty(fault)
        : answerOf(call, path, url.searchParams, body, request, fault);
    if (isLast) isDead = true;
    if (isLast || answer === 'cut' || (fault?.kind === 'cut' && fault.after)) {
      request.socket.destroy();
      return;
    }
    const isPage = typeof answer.body === 'string';
    const limits = { 'ratelimit-limit': '3600', 'ratelimit-remaining': '3599', ...answer.headers };
    response.writeHead(answer.status, { 'content-type': isPage ? 'text/html' : 'application/json', ...limits });
    response.end(
      answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body),
    );
  }

  function answerOf(
    call: string,
    path: string,
    query: URLSearchParams,
    body: unknown,
    request: IncomingMessage,
    fault: HetznerFault | undefined,
  ): Answer {
    try {
      if (request.headers.authorization !== `Bearer ${TOKEN}`)
        throw new Refused(401, 'unauthorized', 'unable to authenticate');
      const id = Number(/\/(\d+)/.exec(path)?.[1]);
      switch (call) {
        case 'POST /servers':
          return create(body, fault?.kind === 'failing-action' ? fault.code : undefined);
        case 'GET /servers':
          return pageOf('servers', [...servers.values()].filter((known) => isSelected(known, query)).map(shown), query);
        case 'GET /servers/{id}':
          return { status: 200, body: { server: shown(found(id)) } };
        case 'DELETE /servers/{id}':
          return remove(id);
        case 'GET /actions':
          return listActions(query);
        case 'GET /actions/{id}': {
          const action = actions.get(id);
          if (action === undefined) throw new Refused(404, 'not_found', 'action not found');
          settle(action);
          return { status: 200, body: { action: shownAction(action) } };
        }
        case 'GET /networks':
          return pageOf(
            'networks',
            NETWORKS.filter(({ name }) => name === (query.get('name') ?? name)),
            query,
          );
        case 'GET /server_types':
          return pageOf(
            'server_types',
            SERVER_TYPES.filter(({ name }) => name === (query.get('name') ?? name)),
            query,
          );
        case 'GET /images':
          return pageOf(
            'images',
            IMAGES.filter(
              ({ name, architecture }) =>
                name === (query.get('name') ?? name) && architecture === (query.get('architecture') ?? architecture),
            ),
            query,
          );
        default:
          throw new Refused(404, 'not_found', `${call} is not here`);
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, body: { error: { code: error.code, message: error.message, details: {} } } };
    }
  }

  function create(given: unknown, failing: string | undefined): Answer {
    const body = objectOf(given);
    const {
      name,
      server_type: type,
      image,
      location,
      labels = {},
      networks = [],
      user_data: userData,
      public_net: net,
    } = body;
    if (typeof name !== 'string' || !HOST_NAME.test(name))
      throw new Refused(422, 'invalid_input', "invalid input in field 'name'");
    if (!SERVER_TYPES.some((other) => other.name === type || other.id === type))
      throw new Refused(422, 'invalid_input', "invalid input in field 'server_type'");
    const architecture = SERVER_TYPES.find((other) => other.name === type)?.architecture;
    const known = IMAGES.find(
      (other) => (other.id === image || other.name === image) && other.architecture === architecture,
    );
    if (known === undefined) throw new Refused(422, 'invalid_input', "invalid input in field 'image'");
    if (location !== undefined && !LOCATIONS.some((place) => place === location))
      throw new Refused(422, 'invalid_input', "invalid input in field 'location'");
    if (!Array.isArray(networks) || networks.some((id) => !NETWORKS.some((network) => network.id === id)))
      throw new Refused(422, 'invalid_input', "invalid input in field 'networks': ids are wanted");
    const texts = labelsOf(labels);
    if (userData !== undefined && (typeof userData !== 'string' || Buffer.byteLength(userData) > USER_DATA_BYTES_MAX))
      throw new Refused(422, 'invalid_input', "invalid input in field 'user_data'");
    const { enable_ipv4: v4 = true, enable_ipv6: v6 = true } = net === undefined ? {} : objectOf(net);
    if (v4 === false && v6 === false && networks.length === 0)
      throw new Refused(422, 'invalid_input', 'a server needs an address');
    if ([...servers.values()].some((other) => other.name === name))
      throw new Refused(409, 'uniqueness_error', 'server name is already used');
    const made: FakeServer = {
      id: (nextId += 1),
      name,
      status: 'initializing',
      created: new Date().toISOString().replace(/\.\d+Z$/, '+00:00'),
      labels: texts,
      protection: { delete: false, rebuild: false },
      userData,
      networks: networks.map(Number),
    };
    servers.set(made.id, made);
    const action = newAction('create_server', made.id, failing);
    const next = newAction('start_server', made.id, undefined);
    return {
      status: 201,
      body: {
        server: shown(made),
        action: shownAction(action),
        next_actions: [shownAction(next)],
        root_password: body['ssh_keys'] === undefined ? 'hunter2-root' : null,
      },
    };
  }

  function remove(id: number): Answer {
    const known = found(id);
    if (known.protection.delete) throw new Refused(423, 'protected', 'server deletion is protected');
    if (known.status === 'deleting') throw new Refused(423, 'locked', 'server is locked');
    known.status = 'deleting';
    return { status: 200, body: { action: shownAction(newAction('delete_server', id, undefined)) } };
  }

  function listActions(query: URLSearchParams): Answer {
    const ids = query.getAll('id').map(Number);
    if (ids.length === 0) throw new Refused(400, 'deprecated_api_endpoint', 'listing actions without id is gone');
    const known = ids.flatMap((id) => actions.get(id) ?? []);
    known.forEach(settle);
    return pageOf('actions', known.map(shownAction), query);
  }

  function newAction(command: string, of: number, failing: string | undefined): FakeAction {
    const error = failing === undefined ? null : { code: failing, message: 'said by the test' };
    const action: FakeAction = { id: (nextId += 1), command, status: 'running', server: of, error };
    actions.set(action.id, action);
    return action;
  }

  /** An action ends when it is looked at; a deletion takes its server away. */
  function settle(action: FakeAction): void {
    if (action.status !== 'running') return;
    action.status = action.error === null ? 'success' : 'error';
    const of = servers.get(action.server);
    if (action.command === 'delete_server') servers.delete(action.server);
    else if (of !== undefined && of.status === 'initializing') of.status = 'running';
  }

  function found(id: number): FakeServer {
    const known = servers.get(id);
    if (known === undefined) throw new Refused(404, 'not_found', 'server not found');
    return known;
  }

  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    token: TOKEN,
    fail: (call, ...faults) => void planned.set(call, [...(planned.get(call) ?? []), ...faults]),
    dieAfter: (calls) => void (callsLeft = calls),
    revive: () => {
      const died = isDead;
      [callsLeft, isDead] = [Number.POSITIVE_INFINITY, false];
      return died;
    },
    servers: () => [...servers.values()],
    take: (id) => void servers.delete(id),
    protect: (id) => void (found(id).protection.delete = true),
    requests: () => requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function faulty(fault: HetznerFault): Answer | 'cut' {
  if (fault.kind === 'page') return { status: 502, body: '<html><body>Bad Gateway</body></html>' };
  if (fault.kind !== 'error') return 'cut';
  const { status, code, message = 'said by the test', resetInSeconds } = fault;
  const reset =
    resetInSeconds === undefined ? {} : { 'ratelimit-reset': String(Math.floor(Date.now() / 1000) + resetInSeconds) };
  return { status, body: { error: { code, message, details: {} } }, headers: { 'ratelimit-remaining': '0', ...reset } };
}

/** As the API shows a server; it has had no `datacenter` since July 2026. */
function shown({ id, name, status, created, labels, protection }: FakeServer): object {
  return {
    id,
    name,
    status,
    created,
    labels,
    protection,
    locked: status === 'deleting',
    rescue_enabled: false,
    backup_window: null,
    iso: null,
    image: null,
    server_type: null,
    location: null,
    placement_group: null,
    private_net: [],
    volumes: [],
    load_balancers: [],
    included_traffic: 0,
    ingoing_traffic: 0,
    outgoing_traffic: 0,
    primary_disk_size: 40,
    public_net: { ipv4: null, ipv6: null, floating_ips: [], firewalls: [] },
  };
}

function shownAction({ id, command, status, server, error }: FakeAction): object {
  return {
    id,
    command,
    status,
    progress: status === 'running' ? 0 : 100,
    started: '2026-11-28T12:00:00+00:00',
    finished: status === 'running' ? null : '2026-11-28T12:00:01+00:00',
    resources: [{ id: server, type: 'server' }],
    error: status === 'error' ? error : null,
  };
}

function pageOf(field: string, all: readonly object[], query: URLSearchParams): Answer {
  const perPage = Math.min(Number(query.get('per_page') ?? 25), 50);
  const page = Number(query.get('page') ?? 1);
  const lastPage = Math.max(1, Math.ceil(all.length / perPage));
  const pagination = {
    page,
    per_page: perPage,
    previous_page: page > 1 ? page - 1 : null,
    next_page: page < lastPage ? page + 1 : null,
    last_page: lastPage,
    total_entries: all.length,
  };
  return { status: 200, body: { [field]: all.slice((page - 1) * perPage, page * perPage), meta: { pagination } } };
}

function isSelected({ name, labels }: FakeServer, query: URLSearchParams): boolean {
  if (query.has('name') && query.get('name') !== name) return false;
  return (query.get('label_selector') ?? '')
    .split(',')
    .filter((term) => term !== '')
    .every((term) => {
      const [label = '', value] = term.split(/==?/);
      return value === undefined ? label in labels : labels[label] === value;
    });
}

function labelsOf(given: unknown): Labels {
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectOf(given))) {
    if (typeof value !== 'string' || !LABEL_VALUE.test(value))
      throw new Refused(422, 'invalid_input', `invalid input in field 'labels': ${name}`);
    labels[name] = value;
  }
  return labels;
}

function objectOf(given: unknown): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Refused(400, 'json_error', 'an object is wanted');
  return { ...given };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
