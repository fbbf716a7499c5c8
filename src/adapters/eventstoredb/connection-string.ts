import type { EventStoreDBClient } from '@eventstore/db-client';
import parser from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { readFileSync } from 'node:fs';
import { StoreRefused } from '../../ports/store-refused.ts';

type SingleNode = ConstructorParameters<typeof EventStoreDBClient>[0];
type Cluster = Readonly<{ discover: Endpoint }> | Readonly<{ endpoints: Endpoint[] }>;
type Endpoint = { address: string; port: number };
type Channel = NonNullable<ConstructorParameters<typeof EventStoreDBClient>[1]>;
type Login = NonNullable<ConstructorParameters<typeof EventStoreDBClient>[2]>;
type Parsed = ReturnType<typeof parser.parseConnectionString>;

/** What the official client wants to know, from one connection string. */
export type ConnectionSettings = Readonly<{
  nodes: SingleNode | (Omit<SingleNode, 'endpoint'> & Cluster);
  channel: Channel;
  login: Login | undefined;
  /** For messages: the hosts, without the login. */
  name: string;
}>;

/**
 * Reads `esdb://`, `esdb+discover://` and the same with `kurrentdb`, which means the same servers under their newer name.
 * @throws StoreRefused `bad-url`
 */
export function readConnectionString(url: string): ConnectionSettings {
  const parsed = parse(url.replace(/^(?:kurrentdb|kurrent|kdb)(?=\+discover:|:)/, 'esdb'));
  const { hosts, tls, defaultCredentials } = parsed;
  const [first] = hosts;
  if (first === undefined) throw badUrl('it names no host');
  if (defaultCredentials !== undefined && tls === false) {
    throw badUrl('it has a login and tls=false, and a login is only sent over TLS');
  }
  const common = commonSettings(parsed);
  const named = parsed.dnsDiscover
    ? { discover: first }
    : hosts.length > 1
      ? { endpoints: hosts }
      : { endpoint: first };
  return {
    nodes: { ...common, ...named },
    channel: channelSettings(parsed),
    login: defaultCredentials,
    name: hosts.map(({ address, port }) => `${address}:${port}`).join(','),
  };
}

function parse(url: string): Parsed {
  try {
    return parser.parseConnectionString(url);
  } catch (cause) {
    throw badUrl(cause instanceof Error ? withoutLogin(cause.message, url) : 'it can not be read', cause);
  }
}

function commonSettings(parsed: Parsed): Omit<SingleNode, 'endpoint'> {
  const { nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts } = parsed;
  const { keepAliveInterval, keepAliveTimeout, defaultDeadline, connectionName } = parsed;
  const given = {
    nodePreference,
    discoveryInterval,
    // Bounded well below the client's own patience: a dead node must not hold up the search for a living one.
    gossipTimeout: gossipTimeout ?? 2,
    maxDiscoverAttempts: maxDiscoverAttempts ?? 3,
    keepAliveInterval,
    keepAliveTimeout,
    defaultDeadline,
    connectionName: connectionName ?? 'edgeward',
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function channelSettings({ tls, tlsCAFile, userCertFile, userKeyFile }: Parsed): Channel {
  if (tls === false) return { insecure: true };
  const channel: Channel = { insecure: false };
  if (tlsCAFile !== undefined) channel.rootCertificate = contentOf('tlsCAFile', tlsCAFile);
  if ((userCertFile === undefined) !== (userKeyFile === undefined)) {
    throw badUrl('userCertFile and userKeyFile go together');
  }
  if (userCertFile !== undefined) channel.userCertFile = contentOf('userCertFile', userCertFile);
  if (userKeyFile !== undefined) channel.userKeyFile = contentOf('userKeyFile', userKeyFile);
  return channel;
}

function contentOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw badUrl(`${option} ${path} can not be read`, cause);
  }
}

/** The parser quotes what it stumbles over, which may be the login. */
function withoutLogin(message: string, url: string): string {
  const login = /:\/\/([^/]*)@/.exec(url)?.[1] ?? '';
  return login === '' ? message : message.replaceAll(login, '…');
}

function badUrl(problem: string, cause?: unknown): StoreRefused {
  const example = 'esdb://host:2113, esdb+discover://cluster.example:2113 or kurrentdb://…';
  return new StoreRefused('bad-url', `EVENT_STORE_URL is no connection string such as ${example}: ${problem}`, {
    cause,
  });
}
