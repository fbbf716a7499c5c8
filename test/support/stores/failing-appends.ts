import { type EventStore, StoreUnavailable } from '../../../src/ports/event-store.ts';

/** A store that makes none of the next so many appends of one actor. */
export type FailingAppends = Readonly<{
  between: (store: EventStore) => EventStore;
  next: (appends: number) => void;
  /** How many are still to fail. */
  left: () => number;
}>;

export function failingAppends(actor: string): FailingAppends {
  let left = 0;
  return {
    between: (store) => ({
      ...store,
      append: async (stream, expected, events) => {
        if (left === 0 || events[0]?.metadata.actor !== actor) return store.append(stream, expected, events);
        left -= 1;
        throw new StoreUnavailable('the test has it so: nothing was recorded');
      },
    }),
    next: (appends) => void (left = appends),
    left: () => left,
  };
}
