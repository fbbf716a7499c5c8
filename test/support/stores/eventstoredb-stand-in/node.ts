import type { Metadata, ServiceError } from '@grpc/grpc-js';
import { mayReadAll, mayUse, type User, userOf } from './access.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { accessDenied, notLeader, notReady, unauthenticated } from './refusals.ts';

/** One call that reached the server. */
export type Call = Readonly<{ method: string; stream?: string; events?: number; from?: bigint | 'start' | 'end' }>;

/** What the calls of one server share. */
export type Node = Readonly<{
  log: EventLog;
  faults: Faults;
  users: readonly User[] | undefined;
  maxAppendBytes: number;
  /** An append that no majority has by then is answered that it timed out; it may come into effect all the same. */
  commitMilliseconds: number;
  record: (call: Call) => void;
  /** A filtered look has passed over a record of others. */
  passedOver: () => void;
  /** Breaks every connection to this server. */
  cut: () => void;
  /** Ends this server for good, as a crash would. */
  die: () => void;
  stopped: AbortSignal;
}>;

/** Why a call is sent away before it is looked at. `what`: `$all`, or the name of a stream. */
export function refusalOf(node: Node, metadata: Metadata, what: string): ServiceError | undefined {
  const { users, faults, log } = node;
  if (users !== undefined) {
    const user = userOf(users, metadata.get('authorization')[0]?.toString());
    if (user === undefined) return unauthenticated();
    if (what === '$all' ? !mayReadAll(user, log) : !mayUse(user, what)) return accessDenied();
  }
  const requiresLeader = metadata.get('requires-leader')[0] === 'true';
  if (faults.noLeader) return notReady();
  if (requiresLeader && faults.notLeader !== undefined) return notLeader(faults.notLeader.host, faults.notLeader.port);
  return undefined;
}
