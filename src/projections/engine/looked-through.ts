import type { RecordedEvent } from '../../kernel/event.ts';
import type { Log } from '../../ports/log.ts';
import { EventsLeftOut } from './stream-continuity.ts';

/** Where saved views had looked and the log, which others write to as well, had no event of ours. */
type Gap = Readonly<{ after: bigint; upTo: bigint }>;

/**
 * Notices an event where an earlier reading found none: the log was put back from an older copy, which lacked only what others had written. What is
 * saved lies behind such an event, and would take it for an old one.
 */
export class LookedThrough {
  readonly #store: string;
  readonly #log: Log;
  #gaps: readonly Gap[] = [];

  constructor(store: string, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  clear(): void {
    this.#gaps = [];
  }

  add(after: bigint, upTo: bigint): void {
    // Views that are fed together mostly stand at the same place.
    if (!this.#gaps.some((gap) => gap.after === after && gap.upTo === upTo))
      this.#gaps = [...this.#gaps, { after, upTo }];
  }

  /** @throws EventsLeftOut, told in one line of the log: whatever is saved behind that event is made again */
  take(page: readonly RecordedEvent[]): void {
    if (this.#gaps.length === 0) return;
    const found = page.find(({ position }) =>
      this.#gaps.some(({ after, upTo }) => position > after && position <= upTo),
    );
    if (found === undefined) return;
    const { stream, revision, position } = found;
    const message = `${this.#store} holds revision ${revision} of ${stream} where it had none of ours: it was put back from an older copy`;
    this.#log.error(
      { stream, revision: String(revision), position: String(position) },
      `${message}; views are made again`,
    );
    throw new EventsLeftOut(message, position, 'any');
  }
}
