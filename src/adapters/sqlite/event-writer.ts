import type Database from 'better-sqlite3';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Sealed } from '../../kernel/event.ts';
import { type Appended, BEGINNING, NO_STREAM, WrongExpectedRevision } from '../../ports/event-store.ts';
import { prepareInsertEvent } from './event-row.ts';

/** An append whose events have been checked and rendered. */
export type Append = Readonly<{
  stream: string;
  expected: bigint;
  events: readonly Sealed[];
  /** The data of each event as JSON. */
  texts: readonly string[];
}>;

export type AppendOutcome = Appended | WrongExpectedRevision;

/** Appends each of the group or says why not, in one transaction: on disk when it returns. When it throws, nothing was appended. */
export type WriteEvents = (group: readonly Append[]) => readonly AppendOutcome[];

/** Streams whose end is remembered, as long as no other process has written. */
const STREAMS_MAX = 10_000;

export function openEventWriter(db: Database.Database): WriteEvents {
  const insert = prepareInsertEvent(db);
  const selectEnd = db
    .prepare<[string], Appended>(
      'SELECT revision, position FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1',
    )
    .safeIntegers();
  const selectIds = db
    .prepare<[string, bigint, number], { id: string; position: bigint }>(
      'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?',
    )
    .safeIntegers();
  const selectDataVersion = db.prepare('PRAGMA data_version').pluck();
  let ends = new BoundedMap<string, Appended>(STREAMS_MAX);
  let dataVersion: unknown;

  const write = db.transaction((group: readonly Append[]) => {
    const current = selectDataVersion.get();
    if (current !== dataVersion) forgetEnds();
    dataVersion = current;
    return group.map(writeOne);
  });
  return (group) => {
    try {
      // Immediate: a revision that was looked up must still be the last one when the event is written.
      return write.immediate(group);
    } catch (error) {
      forgetEnds();
      throw error;
    }
  };

  function forgetEnds(): void {
    ends = new BoundedMap(STREAMS_MAX);
  }

  function writeOne(append: Append): AppendOutcome {
    const { stream, expected, events, texts } = append;
    const end = ends.get(stream) ?? selectEnd.get(stream) ?? { revision: NO_STREAM, position: BEGINNING };
    if (end.revision !== expected) {
      return answerBefore(append) ?? new WrongExpectedRevision(stream, expected, end.revision);
    }
    let { revision, position } = end;
    for (let index = 0; index < events.length; index += 1) {
      const [event, text] = [events[index], texts[index]];
      invariant(event !== undefined && text !== undefined, 'every event has been rendered');
      revision += 1n;
      position = insert(stream, revision, event, text);
    }
    const appended = { revision, position };
    ends.set(stream, appended);
    return appended;
  }

  /** The answer to the same append when it was made before, if it was. */
  function answerBefore({ stream, expected, events }: Append): Appended | undefined {
    const there = selectIds.all(stream, expected, events.length);
    const last = there.at(-1);
    if (last === undefined || there.length < events.length) return undefined;
    if (events.some(({ id }, index) => there[index]?.id !== id)) return undefined;
    return { revision: expected + BigInt(events.length), position: last.position };
  }
}
