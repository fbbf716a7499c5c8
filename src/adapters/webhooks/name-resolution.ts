import type { LookupAddress } from 'node:dns';
import { Resolver, lookup } from 'node:dns/promises';

/** All addresses of a host name, the preferred first; rejects when it can't be resolved, or with the signal's reason. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Asks the DNS servers directly. The operating system's look-up would hold one of the process's few worker threads for as
 * long as a receiver's slow DNS server likes, and with it the files of all others. `timeoutMilliseconds` is for one try of two;
 * `servers` (`address:port`) are asked in place of the system's.
 */
export function resolveThroughDns(
  options: Readonly<{ timeoutMilliseconds: number; servers?: readonly string[] }>,
): ResolveName {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    // RFC 6761: these names are loopback whatever a server says, and are not asked for.
    if (/(^|\.)localhost\.?$/i.test(hostname)) return LOOPBACK;
    const resolver = new Resolver({ timeout: options.timeoutMilliseconds, tries: 2 });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      signal.throwIfAborted();
      return addressesOf(answers);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** Asks the operating system, with its hosts file and search domains. For networks whose names are trusted. */
export const resolveThroughSystem: ResolveName = async (hostname, signal) => {
  const addresses = await lookup(hostname, { all: true });
  signal.throwIfAborted();
  return addresses;
};

function addressesOf([v4, v6]: readonly [
  PromiseSettledResult<string[]>,
  PromiseSettledResult<string[]>,
]): LookupAddress[] {
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length > 0) return found;
  const failures: unknown[] = [v4, v6].flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  // "There is no such record" of one family says less than "no server answered" of the other.
  const telling = failures.find((failure) => !isNoRecord(failure)) ?? failures[0];
  if (telling !== undefined) throw telling;
  return [];
}

function isNoRecord(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === 'ENODATA';
}
