import { coalesce } from '../../concurrency/coalesce.ts';
import { type Appended, AppendInDoubt, StoreUnavailable, WrongExpectedRevision } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { Append, WriteEvents } from './event-writer.ts';
import type { FileAccess } from './file-access.ts';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';

export type AppendQueue = Readonly<{
  /** Resolves when the events are on disk. */
  add: (append: Append) => Promise<Appended>;
  /** Takes no more appends, and resolves when the ones that wait are settled. */
  close: () => Promise<void>;
}>;

export type AppendQueueOptions = Readonly<{
  free: FileAccess;
  /** Appends all in one transaction. */
  commit: WriteEvents;
  log: Log;
}>;

type Waiting = Readonly<{
  append: Append;
  characters: number;
  resolve: (appended: Appended) => void;
  reject: (error: unknown) => void;
}>;

const WAITING_MAX = 20_000;
const WAITING_CHARACTERS_MAX = 256 * 1024 * 1024;
/** Bounds how long one transaction holds up the event loop. */
const GROUP_EVENTS_MAX = 1_000;
const GROUP_CHARACTERS_MAX = 8 * 1024 * 1024;

/**
 * Group commit: what is appended in one turn of the event loop, and under load in the next ones, shares one transaction and
 * one sync to disk, in the order in which it came; what comes meanwhile shares the next.
 */
export function createAppendQueue({ free, commit, log }: AppendQueueOptions): AppendQueue {
  const waiting: Waiting[] = [];
  let characters = 0;
  let running: Promise<void> | undefined;
  let closed = false;

  return {
    add: (append) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new StoreUnavailable('the event store is closed'));
        if (waiting.length >= WAITING_MAX || characters > WAITING_CHARACTERS_MAX) {
          return reject(new StoreUnavailable(`${waiting.length} appends wait for the disk already`));
        }
        const size = sizeOf(append);
        waiting.push({ append, characters: size, resolve, reject });
        characters += size;
        running ??= run();
      }),
    close: async () => {
      closed = true;
      await running;
    },
  };

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await coalesce(waiting, yieldToEventLoop);
      await commitGroup(takeGroup());
    }
    running = undefined;
  }

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await free(() => commit(group.map(({ append }) => append)));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome instanceof WrongExpectedRevision) group[index]?.reject(outcome);
        else group[index]?.resolve(outcome);
      }
    } catch (error) {
      const isInDoubt = error instanceof AppendInDoubt;
      log.error({ error, appends: group.length }, `appends ${isInDoubt ? 'are in doubt' : 'were not made'}`);
      for (const { reject } of group) reject(error);
    }
  }

  function takeGroup(): readonly Waiting[] {
    let [count, events, size] = [0, 0, 0];
    for (const { append, characters: more } of waiting) {
      events += append.events.length;
      size += more;
      if (count > 0 && (events > GROUP_EVENTS_MAX || size > GROUP_CHARACTERS_MAX)) break;
      count += 1;
      characters -= more;
    }
    return waiting.splice(0, count);
  }
}

function sizeOf({ texts }: Append): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
