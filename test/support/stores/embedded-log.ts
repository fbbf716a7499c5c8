import { join } from 'node:path';
import { systemIds } from '../../../src/adapters/ids.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../../src/adapters/sqlite/read-models.ts';
import type { AggregateDependencies } from '../../../src/commands/aggregate.ts';
import { type Codec, createCodec } from '../../../src/events/codec.ts';
import { checkLink, seal } from '../../../src/events/hash-chain.ts';
import type { Event, RecordedEvent } from '../../../src/kernel/event.ts';
import { EVENT_CATALOGUE } from '../../../src/main/contexts.ts';
import { type EventStore, NO_STREAM } from '../../../src/ports/event-store.ts';
import type { Log } from '../../../src/ports/log.ts';
import type { ReadModels, Snapshot, Snapshots } from '../../../src/ports/read-models.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A line that was logged. */
export type LogLine = Readonly<{ level: 'debug' | 'info' | 'warn' | 'error'; message: string; fields: object }>;

/** A real event log in a folder of its own, and everything that commands need beside it. */
export type EmbeddedLog = Readonly<{
  folder: string;
  codec: Codec;
  store: EventStore;
  clock: ManualClock;
  log: Log;
  lines: readonly LogLine[];
  /** Snapshots in memory, by stream; a test may change them. */
  kept: Map<string, Snapshot>;
  /** Their large parts, by stream and name. */
  keptParts: Map<string, Map<string, string>>;
  /** What an aggregate needs, with parts of it replaced. */
  dependencies: (changes?: Partial<AggregateDependencies>) => AggregateDependencies;
  /** Real read models beside the log; each call is a connection of its own, as another process has it. */
  readModels: () => ReadModels;
  /** Another connection to the same log, as another process has it; with another codec, if need be. */
  another: (by?: Codec) => EventStore;
  /** The events of a stream, or of the whole log. */
  events: (stream?: string) => Promise<readonly RecordedEvent[]>;
  /** Fails unless every event of the stream follows the one before it. */
  checkChain: (stream: string) => Promise<void>;
  /** Appends events to the end of a stream, whatever the rules say. */
  append: (stream: string, ...events: readonly Event[]) => Promise<void>;
  close: () => Promise<void>;
}>;

export async function openEmbeddedLog(): Promise<EmbeddedLog> {
  const folder = await temporaryFolder();
  const codec = createCodec(EVENT_CATALOGUE);
  const lines: LogLine[] = [];
  const log = logInto(lines);
  const file = join(folder.path, 'events.db');
  const opened: Pick<EventStore, 'close'>[] = [];
  const open = (by: Codec = codec): EventStore => {
    const connection = openSqliteEventStore({ file, codec: by, log });
    opened.push(connection);
    return connection;
  };
  const openReadModels = (): ReadModels => {
    const { readModels } = openSqliteReadModels({ file: join(folder.path, 'views.db'), log, clock });
    opened.push(readModels);
    return readModels;
  };
  const store = open();
  const clock = createManualClock();
  const kept = new Map<string, Snapshot>();
  const keptParts = new Map<string, Map<string, string>>();
  const snapshots: Snapshots = {
    load: async (stream) => kept.get(stream),
    save: async (stream, snapshot) => void kept.set(stream, snapshot),
    loadParts: async (stream, names) => {
      const parts = keptParts.get(stream) ?? new Map<string, string>();
      return new Map([...parts].filter(([name]) => names.includes(name)));
    },
    replace: async (stream, over, snapshot) => {
      if ((kept.get(stream)?.revision ?? NO_STREAM) !== over) return false;
      kept.set(stream, snapshot);
      return true;
    },
    partNames: async (stream) => [...(keptParts.get(stream)?.keys() ?? [])],
    saveParts: async (stream, _revision, changes) => {
      const parts = keptParts.get(stream) ?? new Map<string, string>();
      keptParts.set(stream, parts);
      for (const [name, text] of changes) parts.set(name, text);
    },
    dropParts: async (stream, names) => {
      for (const name of names) keptParts.get(stream)?.delete(name);
    },
  };
  const events = async (stream?: string): Promise<readonly RecordedEvent[]> => {
    const all: RecordedEvent[] = [];
    for await (const page of stream === undefined ? store.readAll(-1n) : store.read(stream)) all.push(...page);
    return all;
  };
  return {
    folder: folder.path,
    codec,
    store,
    clock,
    log,
    lines,
    kept,
    keptParts,
    dependencies: (changes = {}) => ({ store, codec, snapshots, clock, ids: systemIds, log, ...changes }),
    readModels: openReadModels,
    another: open,
    events,
    checkChain: async (stream) => {
      let previous = '';
      for (const event of await events(stream)) {
        if (!checkLink(previous, event))
          throw new Error(`revision ${event.revision} does not follow the one before it`);
        previous = event.metadata.hash;
      }
    },
    append: async (stream, ...added) => {
      const last = (await events(stream)).at(-1);
      const sealed = seal(added, {
        stream,
        previousHash: last?.metadata.hash ?? '',
        actor: 'system:test',
        at: clock.nowText(),
        correlationId: 'test',
        causationId: 'test',
        ids: systemIds,
        schemaOf: codec.schemaOf,
      });
      await store.append(stream, last?.revision ?? NO_STREAM, sealed);
    },
    close: async () => {
      for (const one of opened) await one.close();
      await folder.remove();
    },
  };
}

function logInto(lines: LogLine[]): Log {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log };
  return log;
}
