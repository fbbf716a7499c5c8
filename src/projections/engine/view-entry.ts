import type { Event } from '../../kernel/event.ts';
import type { Batch } from './batched-projection.ts';

/** A view in memory. */
export type Entry<E extends Event, V extends object> = {
  /** Without what is in the batch. */
  view: V | undefined;
  batch: Batch<E, V> | undefined;
  /** Of the last event that changed the view: a document may be newer than the cache that loads it. */
  position: bigint;
  state: 'clean' | 'dirty' | 'saving';
  /** The taking of touched keys in which its key will be. */
  touchedFor: number;
};

const NEVER = -1;
/** What an entry has besides its view and position while no event has changed it. */
export const UNCHANGED = { batch: undefined, state: 'clean', touchedFor: NEVER } as const;

/** The view with everything that waited in its batch. */
export function viewOf<E extends Event, V extends object>(entry: Entry<E, V>): V | undefined {
  if (entry.batch !== undefined) {
    entry.view = entry.batch.view();
    entry.batch = undefined;
  }
  return entry.view;
}
