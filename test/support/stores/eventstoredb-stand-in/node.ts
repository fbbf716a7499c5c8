import type { Metadata, ServiceError } from '@grpc/grpc-js';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { accessDenied, notLeader, unauthenticated } from './refusals.ts';

/** One call that reached the server. */
export type Call = Readonly<{ method: string; stream?: string; events?: number; from?: bigint | 'start' | 'end' }>;

/** Who may log in. `readsAll`: may read `$all`, as only operators may unless the server was told otherwise. */
export type Login = Readonly<{ user: string; password: string; readsAll: boolean }>;

/** What the calls of one server share. */
export type Node = Readonly<{
  log: EventLog;
  faults: Faults;
  login: Login | undefined;
  maxAppendBytes: number;
  record: (call: Call) => void;
  /** Breaks every connection to this server. */
  cut: () => void;
  stopped: AbortSignal;
}>;

/** Why a call is sent away before it is looked at. */
export function refusalOf(node: Node, metadata: Metadata, readsAll = false): ServiceError | undefined {
  const { login, faults } = node;
  if (login !== undefined) {
    const expected = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
    if (metadata.get('authorization')[0] !== expected) return unauthenticated();
    if (readsAll && !login.readsAll) return accessDenied();
  }
  const requiresLeader = metadata.get('requires-leader')[0] === 'true';
  if (requiresLeader && faults.notLeader !== undefined) return notLeader(faults.notLeader.host, faults.notLeader.port);
  return undefined;
}
