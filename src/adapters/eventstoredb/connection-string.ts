import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { readFileSync } from 'node:fs';
import { StoreRefused } from '../../ports/store-refused.ts';
import { connectionStrings } from './protocol.ts';

export type Endpoint = Readonly<{ address: string; port: number }>;

/** What a connection string says. */
export type ConnectionSettings = Readonly<{
  /** One node, or some of a cluster, which tell of the others. */
  nodes: Readonly<{ only: Endpoint }> | Readonly<{ seeds: readonly Endpoint[] }>;
  channel: ChannelCredentials;
  /** The login as HTTP carries it; it is only sent over TLS. */
  authorization: string | undefined;
  /** For messages: the hosts, without the login. */
  name: string;
  connectionName: string;
  gossipMilliseconds: number;
  keepAliveMilliseconds: number;
  keepAliveTimeoutMilliseconds: number;
}>;

type Parsed = ReturnType<typeof connectionStrings.parseConnectionString>;

/**
 * Reads `esdb://`, `esdb+discover://` and the same with `kurrentdb`, which means the same servers under their newer name.
 * @throws StoreRefused `bad-url`
 */
export function readConnectionString(url: string): ConnectionSettings {
  const parsed = parse(url.replace(/^kurrentdb(?=\+discover:|:)/, 'esdb'));
  const { hosts, dnsDiscover, defaultCredentials: login } = parsed;
  const [first] = hosts;
  if (first === undefined) throw badUrl('it names no host');
  const isSecure = parsed.tls !== false;
  const basic = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
  return {
    nodes: dnsDiscover || hosts.length > 1 ? { seeds: hosts } : { only: first },
    channel: isSecure ? secureChannel(parsed) : credentials.createInsecure(),
    authorization: isSecure && basic !== undefined ? `Basic ${basic}` : undefined,
    name: hosts.map(({ address, port }) => `${address}:${port}`).join(','),
    connectionName: parsed.connectionName ?? 'edgeward',
    gossipMilliseconds: (parsed.gossipTimeout ?? 2) * 1_000,
    keepAliveMilliseconds: keepAlive(parsed.keepAliveInterval),
    keepAliveTimeoutMilliseconds: keepAlive(parsed.keepAliveTimeout),
  };
}

function parse(url: string): Parsed {
  try {
    return connectionStrings.parseConnectionString(url);
  } catch (cause) {
    throw badUrl(cause instanceof Error ? withoutLogin(cause.message, url) : 'it can not be read', cause);
  }
}

function secureChannel({ tlsCAFile, userCertFile, userKeyFile }: Parsed): ChannelCredentials {
  if ((userCertFile === undefined) !== (userKeyFile === undefined)) {
    throw badUrl('userCertFile and userKeyFile go together');
  }
  try {
    return credentials.createSsl(contentOf(tlsCAFile), contentOf(userKeyFile), contentOf(userCertFile));
  } catch (cause) {
    throw badUrl(cause instanceof Error ? cause.message : 'a certificate can not be read', cause);
  }
}

function contentOf(path: string | undefined): Buffer | null {
  return path === undefined ? null : readFileSync(path);
}

/** -1 means never. */
function keepAlive(milliseconds = 10_000): number {
  return milliseconds < 0 ? Number.MAX_SAFE_INTEGER : milliseconds;
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
