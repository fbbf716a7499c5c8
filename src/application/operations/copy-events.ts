import { checkLink } from '../../events/hash-chain.ts';
import { type Refusal, refuse } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { AppendTooLarge, BEGINNING, type EventStore, WrongExpectedRevision } from '../../ports/event-store.ts';

/** Two logs, each as it is stored. */
export type LogPair = Readonly<{ from: EventStore; to: EventStore }>;

/** `there`: how many events of the source the target had already. */
export type CopiedEvents = Readonly<{ copied: number; there: number; streams: number }>;

type Show = (done: bigint, end: bigint) => void;
/** Up to here the two logs are known to be the same. */
type Places = Readonly<{ from: bigint; to: bigint }>;

/** Bounds one append: neighbours of one stream go together. */
const GROUP_EVENTS_MAX = 200;
const GROUP_CHARACTERS_MAX = 200_000;

/**
 * Copies a log in its order, each event as it stands, and goes on where an earlier copy stopped. Every event of the source is checked against
 * its chain before it is written, and every one of the target against the source: those that are there before, the others at the end.
 * Refused when the target holds anything else or can't take an event, or the source was altered; what was copied by then stays.
 * `mayEndWith` knows an event that the target may hold behind all of them, as its last one.
 */
export async function copyEvents(
  logs: LogPair,
  show: Show,
  mayEndWith?: (event: RecordedEvent) => boolean,
): Promise<Refusal | CopiedEvents> {
  try {
    return await copyAll(logs, show, mayEndWith);
  } catch (error) {
    if (error instanceof CopyRefused) return error.refusal;
    throw error;
  }
}

/** Ends a copy from within its loops; it does not leave this file. */
class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.because);
    this.refusal = refusal;
  }
}

/** @throws CopyRefused */
async function copyAll(
  logs: LogPair,
  show: Show,
  mayEndWith?: (event: RecordedEvent) => boolean,
): Promise<CopiedEvents> {
  const end = await logs.from.end();
  const chains = openChains();
  const writer = openWriter(logs.to);
  const there = eventsOf(logs.to.readAll(BEGINNING));
  let copy = await there.next();
  let counted = 0;
  let same: Places = { from: BEGINNING, to: BEGINNING };
  let last = BEGINNING;
  for await (const page of logs.from.readAll(BEGINNING)) {
    for (const event of page) {
      chains.check(event);
      last = event.position;
      if (copy.done === true) {
        await writer.write(event);
        continue;
      }
      requireSame(event, copy.value);
      same = { from: event.position, to: copy.value.position };
      counted += 1;
      copy = await there.next();
    }
    show(last, end * 2n);
  }
  if (copy.done !== true && mayEndWith?.(copy.value) === true) {
    same = { from: last, to: copy.value.position };
    copy = await there.next();
  }
  if (copy.done !== true) throw differs(copy.value, 'the source has no such event');
  await writer.flush();
  await verifyCopied(logs, same, last, (done) => show(end + done, end * 2n));
  return { copied: writer.written(), there: counted, streams: chains.streams() };
}

/** What was written reads back as the source has it, in the same order, and nothing else has come in between. */
async function verifyCopied({ from, to }: LogPair, after: Places, last: bigint, show: (done: bigint) => void) {
  const copies = eventsOf(to.readAll(after.to));
  if (after.from < last) {
    for await (const page of from.readAll(after.from)) {
      for (const event of page) {
        // What was appended to the source since then is for the next copy.
        if (event.position > last) break;
        const { value: copy } = await copies.next();
        if (copy === undefined) throw notThere(event);
        requireSame(event, copy);
      }
      show(page.at(-1)?.position ?? last);
    }
  }
  const { value: other } = await copies.next();
  if (other !== undefined) throw differs(other, 'somebody else writes to the target');
}

type Chains = Readonly<{ check: (event: RecordedEvent) => void; streams: () => number }>;

function openChains(): Chains {
  const ends = new Map<string, Readonly<{ revision: bigint; hash: string }>>();
  return {
    check: (event) => {
      const { stream, revision, metadata } = event;
      const before = ends.get(stream);
      if (revision !== (before?.revision ?? -1n) + 1n || !checkLink(before?.hash ?? '', event)) {
        const message = `the source is not whole: ${placeOf(event)} was altered, or events before it are missing; edgeward verify says more.`;
        throw new CopyRefused(refuse('source-altered', message));
      }
      ends.set(stream, { revision, hash: metadata.hash });
    },
    streams: () => ends.size,
  };
}

type Writer = Readonly<{
  write: (event: RecordedEvent) => Promise<void>;
  flush: () => Promise<void>;
  written: () => number;
}>;

/** One append after another: the order of the log is the order in which they are made. */
function openWriter(to: EventStore): Writer {
  let group: RecordedEvent[] = [];
  let characters = 0;
  let written = 0;
  const flush = async (): Promise<void> => {
    await appendAll(to, group);
    written += group.length;
    group = [];
    characters = 0;
  };
  return {
    write: async (event) => {
      const isOther = group[0] !== undefined && group[0].stream !== event.stream;
      if (isOther || group.length >= GROUP_EVENTS_MAX || characters > GROUP_CHARACTERS_MAX) await flush();
      group.push(event);
      characters += JSON.stringify(event.data).length;
    },
    flush,
    written: () => written,
  };
}

async function appendAll(to: EventStore, events: readonly RecordedEvent[]): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  try {
    await to.append(first.stream, first.revision - 1n, events);
  } catch (error) {
    if (error instanceof WrongExpectedRevision) throw differs(first, `the stream is at revision ${error.actual} there`);
    if (!(error instanceof AppendTooLarge)) throw error;
    if (events.length === 1) {
      const message = `the target can not take ${placeOf(first)}: ${error.message}.`;
      throw new CopyRefused(refuse('too-large', message));
    }
    for (const event of events) await appendAll(to, [event]);
  }
}

/** The hash covers everything but the revision, and that it is the right one for what is stored is computed again. */
function requireSame(event: RecordedEvent, copy: RecordedEvent): void {
  if (copy.id !== event.id || copy.metadata.hash !== event.metadata.hash || copy.revision !== event.revision)
    throw differs(copy, `the source has ${placeOf(event)} there`);
  if (!checkLink(event.metadata.previousHash, copy)) throw differs(copy, 'it was altered');
}

function differs(copy: RecordedEvent, how: string): CopyRefused {
  const message = `the target holds other events: ${placeOf(copy)}: ${how}. Copy into a log that is empty or holds the beginning of this one.`;
  return new CopyRefused(refuse('target-differs', message));
}

function notThere(event: RecordedEvent): CopyRefused {
  return new CopyRefused(refuse('not-copied', `${placeOf(event)} was written and is not there.`));
}

function placeOf({ stream, revision, type, position }: RecordedEvent): string {
  return `${type}, revision ${revision} of ${stream} (position ${position})`;
}

async function* eventsOf(
  pages: AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<RecordedEvent, undefined, undefined> {
  for await (const page of pages) yield* page;
}
