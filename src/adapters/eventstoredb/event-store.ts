import { setMaxListeners } from 'node:events';
import type { Codec } from '../../events/codec.ts';
import type { Clock } from '../../ports/clock.ts';
import { type EventStore, NO_STREAM, StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { StoreRefused } from '../../ports/store-refused.ts';
import { openAppends } from './appends.ts';
import { type EventStoreConnection, openConnection } from './connection.ts';
import { readConnectionString } from './connection-string.ts';
import { CallFailed, failureOf } from './failures.ts';
import { follow } from './follow.ts';
import { openRetryingReads, type RetryingReads } from './passes.ts';
import { openProgress } from './progress.ts';
import { readEnd } from './read-requests.ts';
import { openReads } from './reads.ts';
import { takesBatches } from './server-features.ts';

export type EventStoreDbOptions = Readonly<{
  /** `esdb://…`, `esdb+discover://…`, or the same with `kurrentdb`. */
  url: string;
  codec: Codec;
  clock: Clock;
  log: Log;
  /** The stream categories that are ours; the server may hold others. */
  categories: readonly string[];
  /** How long a caller waits for a server that is away. */
  patienceMilliseconds?: number;
  /** How long one call may go without an answer before it is made anew. */
  answerMilliseconds?: number;
  /** The server's `MaxAppendSize`. */
  appendLimitBytes?: number;
}>;

const APPEND_LIMIT_BYTES = 1024 * 1024;

/**
 * The log in EventStoreDB (22.10 or newer) or KurrentDB. Reaches the server before it resolves.
 * @throws StoreRefused with what is wrong with the URL, the login or the server
 */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStore> {
  const { url, codec, clock, log, categories } = options;
  const { patienceMilliseconds = 8_000, answerMilliseconds = 3_000, appendLimitBytes = APPEND_LIMIT_BYTES } = options;
  const connection = openConnection(readConnectionString(url));
  const closing = new AbortController();
  const { signal } = closing;
  // Each append that waits for the next try listens to it.
  setMaxListeners(0, signal);
  const prefixes = categories.map((category) => `${category}-`);
  const patience = { clock, name: connection.name, milliseconds: patienceMilliseconds, signal };
  const passes = openRetryingReads(connection, patience, answerMilliseconds);
  const progress = openProgress();
  const reads = openReads({ passes, codec, prefixes, progress });
  const { whatIsAt, end } = reads;
  const limitBytes = appendLimitBytes;
  const appends = openAppends({ connection, patience, answerMilliseconds, codec, limitBytes, whatIsAt });
  const silenceMilliseconds = answerMilliseconds;
  const followed = { connection, codec, clock, log, prefixes, progress, end, silenceMilliseconds, closed: signal };
  const close = async (): Promise<void> => {
    await appends.close();
    closing.abort(new StoreUnavailable('the event store is closed'));
    connection.close();
  };

  try {
    await probe(connection, passes, answerMilliseconds);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: `EventStoreDB at ${connection.name}`,
    read: (stream, after = NO_STREAM) => reads.stream(stream, after),
    revision: reads.revision,
    append: appends.append,
    readAll: reads.all,
    follow: (after, until, passed = () => undefined) => follow(followed, after, until, passed),
    end,
    eventAt: reads.eventAt,
    close,
  };
}

/** Whether this server will do, before anyone relies on it. */
async function probe(connection: EventStoreConnection, passes: RetryingReads, milliseconds: number): Promise<void> {
  const { name } = connection;
  try {
    await passes.some(readEnd());
    if (await takesBatches(connection, milliseconds)) return;
  } catch (error) {
    const failure = error instanceof StoreUnavailable ? error.cause : failureOf(error);
    const message = failure instanceof Error ? failure.message : String(failure);
    if (failure instanceof CallFailed && failure.denied) {
      const advice = 'the login must be valid and may read $all (a member of $ops may)';
      throw new StoreRefused('login-refused', `EventStoreDB at ${name} refused: ${advice}`, { cause: error });
    }
    throw new StoreRefused('unreachable', `EventStoreDB at ${name} can't be reached: ${message}`, { cause: error });
  }
  const needed = 'EventStoreDB 22.10 or newer, or KurrentDB, is needed';
  throw new StoreRefused('unsupported', `EventStoreDB at ${name} takes no batches of appends: ${needed}`);
}
