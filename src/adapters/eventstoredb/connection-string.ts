import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { StoreRefused } from '../../ports/store-refused.ts';
import { connectionStrings } from './protocol.ts';

export type Endpoint = Readonly<{ address: string; port: number }>;

/** What a connection string says. */
export type ConnectionSettings = Readonly<{
  /** One node, or some of a cluster, which tell of the others. */
  nodes: Readonly<{ only: Endpoint }> | Readonly<{ seeds: readonly Endpoint[] }>;
  /** How to connect to a node. */
  secured: (node: Endpoint) => Readonly<{ credentials: ChannelCredentials; options: ChannelOptions }>;
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
  const named = url.trim().replace(/^kurrentdb(?=\+discover:|:)/, 'esdb');
  refuseOptions(named);
  const parsed = parse(named);
  const { hosts, dnsDiscover, defaultCredentials: login } = parsed;
  const [first] = hosts;
  if (first === undefined) throw badUrl('it names no host');
  // What is left of a password with an @ in it would be shown as the name of a host.
  if (hosts.some(({ address }) => address.includes('@'))) throw badUrl(LOGIN_IN_PERCENT);
  const isSecure = parsed.tls !== false;
  const basic = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
  return {
    nodes: dnsDiscover || hosts.length > 1 ? { seeds: hosts } : { only: first },
    secured: isSecure ? overTls(parsed) : () => ({ credentials: credentials.createInsecure(), options: {} }),
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
  } catch {
    // What the parser says quotes the URL, or a part of it, and with it the login.
    const [bare = ''] = url.replace(/:\/\/.*@/, '://').split('?');
    throw badUrl(url.includes('@') ? LOGIN_IN_PERCENT : `it can not be read (${bare})`);
  }
}

const LOGIN_IN_PERCENT =
  'it can not be read; in a login, these are written in percent: @ as %40, : as %3A, / as %2F, ? as %3F';

/** The client's parser prints a URL with an option that it does not know, login and all, and goes on. */
function refuseOptions(url: string): void {
  for (const pair of url.split('?').slice(1).join('&').split('&')) {
    const [name = '', value] = pair.split('=');
    if (pair === '') continue;
    const option = OPTIONS.find((known) => flat(known) === flat(name));
    if (option === undefined) throw badUrl(`${shownName(name)} is no option; there are ${OPTIONS.join(', ')}`);
    if (option === 'tlsVerifyCert' && value?.trim() !== 'true')
      throw badUrl('tlsVerifyCert can not be turned off: name the authority of the certificate in tlsCaFile');
    if (value === undefined || value.trim() === '') throw badUrl(`${option} has no value`);
  }
}

/** Those that our connection has no use for (from `maxDiscoverAttempts` on) are taken, since other clients of the same cluster have them. */
const OPTIONS = [
  'tls',
  'tlsCaFile',
  'tlsVerifyCert',
  'userCertFile',
  'userKeyFile',
  'connectionName',
  'gossipTimeout',
  'keepAliveInterval',
  'keepAliveTimeout',
  'maxDiscoverAttempts',
  'discoveryInterval',
  'defaultDeadline',
  'nodePreference',
  'throwOnAppendFailure',
] as const;

function flat(name: string): string {
  return name.trim().toLowerCase().replace(/[_-]/g, '');
}

/** A login that holds a question mark is no name to be shown. */
function shownName(name: string): string {
  return /^[\w-]{1,40}$/.test(name) ? name : 'a part of it';
}

function overTls(parsed: Parsed): ConnectionSettings['secured'] {
  const secured = (check?: typeof checkServerIdentity) => secureChannel(parsed, check);
  const named = secured();
  return ({ address }) => {
    if (isIP(address) === 0) return { credentials: named, options: {} };
    // An address is no name to ask a server for, and Node says so each time; the certificate is to hold it all the same.
    const options = { 'grpc.ssl_target_name_override': NAME_OF_AN_ADDRESS };
    return { credentials: secured((_name, certificate) => checkServerIdentity(address, certificate)), options };
  };
}

const NAME_OF_AN_ADDRESS = 'eventstoredb';

function secureChannel(
  { tlsCAFile, userCertFile, userKeyFile }: Parsed,
  check: typeof checkServerIdentity | undefined,
): ChannelCredentials {
  if ((userCertFile === undefined) !== (userKeyFile === undefined)) {
    throw badUrl('userCertFile and userKeyFile go together');
  }
  try {
    const files = [contentOf(tlsCAFile), contentOf(userKeyFile), contentOf(userCertFile)] as const;
    return credentials.createSsl(...files, check === undefined ? {} : { checkServerIdentity: check });
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

function badUrl(problem: string, cause?: unknown): StoreRefused {
  const example = 'esdb://host:2113, esdb+discover://cluster.example:2113 or kurrentdb://…';
  return new StoreRefused('bad-url', `EVENT_STORE_URL is no connection string such as ${example}: ${problem}`, {
    cause,
  });
}
