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
import { openPlaces } from './places.ts';
import { openProgress } from './progress.ts';
import { readEnd, readStreamForwards } from './read-requests.ts';
import { hashOf } from './recorded-events.ts';
import { openEndOfLog } from './end-of-log.ts';
import { openReads } from './reads.ts';
import { takesBatches } from './server-features.ts';
import { streamNames } from './stream-names.ts';

export type EventStoreDbOptions = Readonly<{
  /** `esdb://…`, `esdb+discover://…`, or the same with `kurrentdb`. */
  url: string;
  codec: Codec;
  clock: Clock;
  log: Log;
  /** The stream categories that are ours; the server may hold others. */
  categories: readonly string[];
  /** What the names of our streams have before them on the server (default: nothing). */
  streamPrefix?: string;
  /** The position up to which somebody has looked through the log before (the saved views), asked for when it is first needed. */
  lookedThrough?: () => Promise<bigint | undefined>;
  /** A stream that every log of ours has: one without the prefix is not passed over where there is none with it. */
  streamOfEveryLog?: string;
  /** How long a caller waits for a server that is away. */
  patienceMilliseconds?: number;
  /** How long one call may go without an answer before it is made again. */
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
  const names = streamNames(options.streamPrefix ?? '', categories);
  const { onServer } = names;
  const patience = { clock, name: connection.name, milliseconds: patienceMilliseconds, signal };
  const passes = openRetryingReads(connection, patience, answerMilliseconds);
  const progress = openProgress();
  const places = openPlaces(passes, names.starts, progress);
  const lookedThrough = options.lookedThrough ?? (() => Promise.resolve(undefined));
  const end = openEndOfLog({ passes, prefixes: names.starts, progress, places, clock, log, lookedThrough });
  const silenceMilliseconds = answerMilliseconds;
  const reads = openReads({ passes, codec, names, progress, places, end, silenceMilliseconds });
  const { whatIsAt } = reads;
  const limitBytes = appendLimitBytes;
  const appends = openAppends({ connection, patience, answerMilliseconds, onServer, codec, limitBytes, whatIsAt });
  const followed = {
    connection,
    codec,
    clock,
    log,
    names,
    progress,
    end,
    places,
    silenceMilliseconds,
    closed: signal,
  };
  const close = async (): Promise<void> => {
    await appends.close();
    closing.abort(new StoreUnavailable('the event store is closed'));
    connection.close();
  };

  try {
    await probe(connection, passes, answerMilliseconds);
    await refuseOtherPrefix(connection.name, passes, options);
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
    follow: (after, until, told = {}) => follow(followed, after, until, told),
    end,
    eventAt: reads.eventAt,
    close,
  };
}

const LOGIN_ADVICE =
  'the login must be valid, and may read $all: edgeward stores grant LOGIN --as CONNECTION_STRING_OF_AN_ADMINISTRATOR gives it that right';

/** A log that was begun without the prefix would look like an empty one. */
async function refuseOtherPrefix(
  name: string,
  passes: RetryingReads,
  { streamPrefix = '', streamOfEveryLog }: EventStoreDbOptions,
): Promise<void> {
  if (streamPrefix === '' || streamOfEveryLog === undefined) return;
  const firstOf = async (stream: string) => (await passes.some(readStreamForwards(stream, 0n, 1)))[0];
  if ((await firstOf(`${streamPrefix}${streamOfEveryLog}`)) !== undefined) return;
  const other = await firstOf(streamOfEveryLog);
  if (other === undefined || hashOf(other) === '') return;
  const ways =
    'set EVENT_STORE_STREAM_PREFIX to nothing to go on with it, or move it: edgeward stores copy --from-prefix ""';
  throw new StoreRefused(
    'other-prefix',
    `EventStoreDB at ${name} holds a log of edgeward whose streams have no prefix, and none under ${streamPrefix}: ${ways}`,
  );
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
      throw new StoreRefused('login-refused', `EventStoreDB at ${name} refused: ${failure.message}; ${LOGIN_ADVICE}`);
    }
    throw new StoreRefused('unreachable', `EventStoreDB at ${name} can't be reached: ${message}`, { cause: error });
  }
  const needed = 'EventStoreDB 22.10 or newer, or KurrentDB, is needed';
  throw new StoreRefused('unsupported', `EventStoreDB at ${name} takes no batches of appends: ${needed}`);
}
