import type { LoggedEvent } from './event-log.ts';

/** What an append can be made to meet, once for each time that it is put in. */
export type AppendFault =
  /** It is written, then the connection breaks before the answer. */
  | 'cut-after-append'
  /** The connection breaks before anything is written. */
  | 'cut-before-append'
  /** It is written, and never answered. */
  | 'no-answer'
  /** Neither written nor answered. */
  | 'ignored'
  /** The server says that it could not commit in time. */
  | 'timeout'
  /** The server is starting, or its cluster has no leader. */
  | 'not-ready'
  /** It is written and with the followers, then the server dies before the answer. Only in a cluster. */
  | 'dies-after-append';

/** Faults that a test switches on. None is on at first. */
export type Faults = {
  /** For the next appends, one each. */
  appends: AppendFault[];
  /** Reads (not subscriptions) meet this many broken connections. */
  cutReads: number;
  /** A read breaks after this many events. */
  cutReadsAfter: number | undefined;
  /** Subscriptions stay open and say nothing more. */
  silentSubscriptions: boolean;
  /** Each event is delivered this many times by subscriptions. */
  deliveries: number;
  /** This many calls that require the leader are sent away to it. */
  notLeader: Readonly<{ host: string; port: number }> | undefined;
  /** Nobody leads: calls are answered that the server is not ready. */
  noLeader: boolean;
  /** A filtered look through `$all` passes over so many records of others in a second, and says nothing meanwhile. */
  scannedPerSecond: number;
  /** As some servers have done: a subscription that catches up tells a checkpoint at the end of the log before the events that lie before it. */
  checkpointsAhead: boolean;
  /** Whether subscriptions say that they have caught up; older servers do not. */
  tellsCaughtUp: boolean;
  /** Events that subscriptions pass over. */
  withheld: (event: LoggedEvent) => boolean;
};

export function noFaults(): Faults {
  return {
    appends: [],
    cutReads: 0,
    cutReadsAfter: undefined,
    silentSubscriptions: false,
    deliveries: 1,
    notLeader: undefined,
    noLeader: false,
    scannedPerSecond: Number.POSITIVE_INFINITY,
    checkpointsAhead: false,
    tellsCaughtUp: true,
    withheld: () => false,
  };
}
