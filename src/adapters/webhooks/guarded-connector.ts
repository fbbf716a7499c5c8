import type { LookupOptions } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { callbackify } from 'node:util';
import type { RefuseAddress } from './address-guard.ts';
import type { ResolveName } from './name-resolution.ts';

/** The target's address is one that the guard refuses. The message names it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

class Unconnected extends Error {
  override readonly name = 'Unconnected';
  readonly code: 'ECONNRESET' | 'ENODATA';
  constructor(code: 'ECONNRESET' | 'ENODATA', message: string) {
    super(message);
    this.code = code;
  }
}

export type ConnectorOptions = Readonly<{
  resolve: ResolveName;
  /** Absent: every address is good. */
  refuse?: RefuseAddress;
  /** How long one of several addresses is tried before the next one is. */
  attemptMilliseconds: number;
  /** PEM certificates that are trusted; absent: the roots that Node ships. */
  authorities?: readonly string[];
}>;

/** Where to: as undici asks for it. An IPv6 `hostname` has no brackets. */
export type Endpoint = Readonly<{ protocol: string; hostname: string; port: string }>;

/** Opens a socket and calls back once, when it is connected (for https: and its certificate verified) or has failed. */
export type Connector = (
  to: Endpoint,
  done: (error: Error | null, socket: Socket | null) => void,
) => Socket | undefined;

/**
 * Makes connections whose address was checked: the name is resolved once, all of its addresses are checked, and the socket
 * goes to those very addresses, so that a second answer of the DNS can't lead elsewhere.
 */
export function createGuardedConnector(options: ConnectorOptions): Connector {
  return (to, done) => {
    if (isIP(to.hostname) !== 0) {
      const refused = refusalOf([to.hostname], options.refuse);
      if (refused !== undefined) {
        done(refused, null);
        return undefined;
      }
    }
    const ended = new AbortController();
    const socket = open(to, checkedLookup(options, ended.signal), options);
    let called = false;
    const settle = (error: Error | null): void => {
      if (called) return;
      called = true;
      if (error === null) done(null, socket);
      else done(error, null);
    };
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    socket
      .once(to.protocol === 'https:' ? 'secureConnect' : 'connect', () => settle(null))
      .on('error', settle)
      .once('close', () => {
        ended.abort();
        settle(new Unconnected('ECONNRESET', 'closed before it was connected'));
      });
    return socket;
  };
}

function open(to: Endpoint, lookup: LookupFunction, options: ConnectorOptions): Socket {
  const tcp = {
    host: to.hostname,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: options.attemptMilliseconds,
  };
  if (to.protocol !== 'https:') return connectTcp({ ...tcp, port: Number(to.port || 80) });
  return connectTls({
    ...tcp,
    port: Number(to.port || 443),
    // An address is no server name (RFC 6066); the certificate is then checked for the address.
    servername: isIP(to.hostname) === 0 ? to.hostname.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(options.authorities === undefined ? {} : { ca: [...options.authorities] }),
  });
}

/** The one look-up that the socket makes; what it answers is what the socket connects to. */
function checkedLookup(options: ConnectorOptions, signal: AbortSignal): LookupFunction {
  return callbackify(async (hostname: string, _options: LookupOptions) => {
    const addresses = await options.resolve(hostname, signal);
    if (addresses.length === 0) throw new Unconnected('ENODATA', `${hostname} has no address`);
    const refused = refusalOf(
      addresses.map(({ address }) => address),
      options.refuse,
    );
    if (refused !== undefined) throw refused;
    return [...addresses];
  });
}

function refusalOf(addresses: readonly string[], refuse: RefuseAddress | undefined): AddressRefused | undefined {
  for (const address of addresses) {
    const kind = refuse?.(address);
    if (kind !== undefined) return new AddressRefused(`address ${address} is ${kind}`);
  }
  return undefined;
}
