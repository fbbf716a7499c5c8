import type Database from 'better-sqlite3';
import type { Sealed } from '../../kernel/event.ts';
import { type Appended, BEGINNING, NO_STREAM, WrongExpectedRevision } from '../../ports/event-store.ts';
import { eventValues, INSERT_EVENT } from './event-row.ts';

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

export function openEventWriter(db: Database.Database): WriteEvents {
  const insert = db.prepare(INSERT_EVENT);
  const selectTail = db
    .prepare<[string], Appended>(
      'SELECT revision, position FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1',
    )
    .safeIntegers();
  const selectIds = db
    .prepare<[string, bigint, number], { id: string; position: bigint }>(
      'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?',
    )
    .safeIntegers();
  const write = db.transaction((group: readonly Append[]) => {
    const tails = new Map<string, Appended>();
    return group.map((append) => writeOne(append, tails));
  });
  // Immediate: a revision that was looked up must still be the last one when the event is written.
  return (group) => write.immediate(group);

  function writeOne(append: Append, tails: Map<string, Appended>): AppendOutcome {
    const { stream, expected, events, texts } = append;
    const tail = tails.get(stream) ?? selectTail.get(stream) ?? { revision: NO_STREAM, position: BEGINNING };
    if (tail.revision !== expected) {
      return answerBefore(append) ?? new WrongExpectedRevision(stream, expected, tail.revision);
    }
    let { revision, position } = tail;
    for (const [index, event] of events.entries()) {
      revision += 1n;
      position = BigInt(insert.run(eventValues(stream, revision, event, texts[index] ?? '')).lastInsertRowid);
    }
    tails.set(stream, { revision, position });
    return { revision, position };
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
