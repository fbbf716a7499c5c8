import type { Event, RecordedEvent } from '../../kernel/event.ts';
import type { BatchedProjection } from './batched-projection.ts';
import { type Entry, viewOf } from './view-entry.ts';

/** So many wait at most: enough for many to each view, and less memory than what one by one leaves behind. */
const WAITING_MAX = 131_072;

/** Events that wait in the batches of their views, until those are read or saved. */
export class WaitingEvents<E extends Event, V extends object> {
  readonly #projection: Partial<Pick<BatchedProjection<E, V>, 'batch'>>;
  /** What has a batch, and may have had one before. */
  #entries: Entry<E, V>[] = [];
  #count = 0;

  constructor(projection: Partial<Pick<BatchedProjection<E, V>, 'batch'>>) {
    this.#projection = projection;
  }

  /** Whether the event can wait, in a batch with others, until the view is read; then it does. */
  takes(entry: Entry<E, V>, event: RecordedEvent<E>): boolean {
    if (this.#projection.batch === undefined || entry.view === undefined) return false;
    const batch = entry.batch ?? this.#projection.batch(entry.view);
    if (!batch.take(event)) return false;
    if (entry.batch === undefined) {
      entry.batch = batch;
      this.#entries.push(entry);
    }
    this.#count += 1;
    if (this.#count >= WAITING_MAX) this.apply();
    return true;
  }

  /** Nothing waits from here on. */
  apply(): void {
    for (const entry of this.#entries) viewOf(entry);
    this.forget();
  }

  /** The views are no longer ours. */
  forget(): void {
    this.#entries = [];
    this.#count = 0;
  }
}
