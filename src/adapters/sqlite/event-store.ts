import type Database from 'better-sqlite3';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';
import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { invariant } from '../../kernel/invariant.ts';
import {
  AppendInDoubt,
  AppendTooLarge,
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { StoreRefused } from '../../ports/store-refused.ts';
import { openedOrRefused } from '../open-failure.ts';
import { createAppendQueue } from './append-queue.ts';
import { openDatabase } from './database.ts';
import { openEventReader, type Page } from './event-reader.ts';
import { EVENT_LOG } from './event-row.ts';
import { type Append, type AppendOutcome, openEventWriter } from './event-writer.ts';
import { accessTo, type FileAccess, openFilePlace } from './file-access.ts';
import { createFollowers } from './followers.ts';

export type SqliteEventStoreOptions = Readonly<{
  file: string;
  codec: Codec;
  log: Log;
  /** How long another process may hold the file before a call fails. */
  busyMilliseconds?: number;
  /** The log is there: none is begun. */
  mustExist?: boolean;
  /** The log is only read: nothing can be appended. */
  readOnly?: boolean;
  /** Every page of the file is looked at before anything is read. */
  mustBeWhole?: boolean;
  /**
   * Set: all that the log holds must be known to the codec, whatever was read of it before; the text names the program that knows it and goes
   * on after the event's name.
   */
  mustBeKnown?: string | undefined;
  /** Events are given as they are stored, for those who look for damage: whether they are the ones that were sealed is not checked. */
  isAudit?: boolean;
}>;

/** Of the data of one append, as JSON. */
const APPEND_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The log in one SQLite file (WAL, `synchronous=FULL`), shared by the processes of one machine.
 *
 * Everything happens in the event loop, appends as group commits. A worker thread for writing was measured beside it under
 * HTTP load on two cores (1, 16 and 64 connections): it answered no more requests, and each took a fifth more CPU. Calls
 * never wait for another process inside SQLite, which would hold up the loop; they come back until the file is free.
 * @throws StoreRefused, StoreUnavailable
 */
export function openSqliteEventStore(options: SqliteEventStoreOptions): EventStore {
  const { file, codec, log } = options;
  const { mustExist = false, readOnly = false, mustBeWhole = false, isAudit = false } = options;
  const db = openedOrRefused(file, () => openDatabase(file, EVENT_LOG, { mustExist, readOnly, mustBeWhole }));
  if (options.mustBeKnown !== undefined) requireKnown(db, codec, options.mustBeKnown);
  const reader = openEventReader(db, { codec, isChecked: !isAudit });
  const write = openEventWriter(db);
  const place = openFilePlace(file, log);
  const free = accessTo(db, options.busyMilliseconds, place.requireFile);
  const followers = createFollowers({ free, readPage: reader.logPage, foreignChanges });
  const queue = createAppendQueue({ free, commit, log: log.child({ file }) });

  return {
    name: file,
    read: (stream, after = NO_STREAM) => pages(free, after, (last) => reader.streamPage(stream, last), 'revision'),
    revision: (stream) => free(() => reader.revision(stream)),
    append: async (stream, expected, events) => {
      invariant(events.length > 0, 'an append has events');
      const texts = events.map(codec.encode);
      refuseTooLarge(stream, texts);
      return queue.add({ stream, expected, events, texts });
    },
    readAll: (after) => upToEnd(after, reader.logPage),
    follow: followers.follow,
    end: () => free(reader.end),
    eventAt: (stream, revision) => free(() => reader.eventAt(stream, revision)),
    close: async () => {
      await queue.close();
      followers.fail(new StoreUnavailable(`${file} is closed`));
      db.close();
    },
  };

  function commit(group: readonly Append[]): readonly AppendOutcome[] {
    const outcomes = write(group);
    try {
      // Only now is it known that they are in the log that others find.
      place.requireAll();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      // In files that are away they are written, and are there when those are back.
      throw new AppendInDoubt(error.message, { cause: error });
    }
    if (followers.any()) followers.publish(newEvents(group, outcomes));
    return outcomes;
  }

  function foreignChanges(): unknown {
    place.requireAll();
    return reader.foreignChanges();
  }

  function upToEnd(after: bigint, read: ReadPage): AsyncIterable<readonly RecordedEvent[]> {
    const end = free(reader.end);
    // A reader meets the failure, if there ever is a reader.
    end.catch(() => undefined);
    return upTo(end, after, read);
  }

  async function* upTo(
    end: Promise<bigint>,
    after: bigint,
    read: ReadPage,
  ): AsyncGenerator<readonly RecordedEvent[], void> {
    const to = await end;
    yield* pages(free, after, (last) => read(last, to), 'position');
  }
}

/** Views that a newer program has saved hide the events that they have applied from one that would stop at them. */
function requireKnown(db: Database.Database, { knows }: Codec, who: string): void {
  const kinds = db
    .prepare<[], Readonly<{ type: string; schema: number; position: number }>>(
      'SELECT type, schema, min(position) AS position FROM events GROUP BY type, schema ORDER BY position',
    )
    .all();
  const unknown = kinds.find(({ type, schema }) => !knows(type, schema));
  if (unknown === undefined) return;
  const { name: file } = db;
  db.close();
  const { type, schema, position } = unknown;
  throw new StoreRefused('unusable', `${file} holds ${type} (schema ${schema}) at position ${position}, ${who}`);
}

function refuseTooLarge(stream: string, texts: readonly string[]): void {
  // A character has at most three bytes: counting them is seldom necessary.
  if (sum(texts, (text) => text.length * 3) <= APPEND_BYTES_MAX) return;
  const bytes = sum(texts, (text) => Buffer.byteLength(text));
  if (bytes > APPEND_BYTES_MAX) throw new AppendTooLarge(stream, bytes, APPEND_BYTES_MAX);
}

function sum(texts: readonly string[], measure: (text: string) => number): number {
  return texts.reduce((total, text) => total + measure(text), 0);
}

type ReadPage = (after: bigint, to: bigint) => Page;

async function* pages(
  free: FileAccess,
  after: bigint,
  read: (after: bigint) => Page,
  place: 'revision' | 'position',
): AsyncGenerator<readonly RecordedEvent[], void> {
  for (let last = after; ; await yieldToEventLoop()) {
    const { events, atEnd } = await free(() => read(last));
    const newest = events.at(-1);
    if (newest === undefined) return;
    yield events;
    if (atEnd) return;
    last = newest[place];
  }
}

/** What a group has added to the log, as reading it would give it. */
function newEvents(group: readonly Append[], outcomes: readonly AppendOutcome[]): readonly RecordedEvent[] {
  const added: RecordedEvent[] = [];
  for (const [index, { stream, events }] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome instanceof WrongExpectedRevision) continue;
    // A repeated append has its place earlier in the log.
    if (outcome.position <= (added.at(-1)?.position ?? BEGINNING)) continue;
    let revision = outcome.revision - BigInt(events.length);
    let position = outcome.position - BigInt(events.length);
    for (const { id, type, data, metadata } of events) {
      revision += 1n;
      position += 1n;
      added.push({ id, type, data, metadata, stream, revision, position });
    }
  }
  return added;
}
