import { AppendInDoubt, type EventStore, StoreUnavailable } from '../../../src/ports/event-store.ts';

/** A store of which one append in ten fails while it is on: before it was made, after it was made, or so that it can't be said. */
export type FailingStore = {
  isOn: boolean;
  readonly between: (store: EventStore) => EventStore;
  /** Looks without any failure. */
  readonly paused: <T>(look: () => Promise<T>) => Promise<T>;
  readonly tried: () => number;
  readonly failed: () => number;
};

/** `ofActors`: whose appends may fail. */
export function failingStore(random: () => number, ofActors = /./): FailingStore {
  let [tried, failed] = [0, 0];
  const failing: FailingStore = {
    isOn: false,
    between: (store) => ({
      ...store,
      append: async (stream, expected, events) => {
        if (!failing.isOn || !ofActors.test(events[0]?.metadata.actor ?? ''))
          return store.append(stream, expected, events);
        tried += 1;
        const chance = random();
        if (chance >= 0.1) return store.append(stream, expected, events);
        failed += 1;
        if (chance < 0.03) throw new StoreUnavailable('a fault was played: nothing was recorded');
        if (chance < 0.06) throw new AppendInDoubt('a fault was played: nothing was recorded, which is not known');
        await store.append(stream, expected, events);
        throw new AppendInDoubt('a fault was played: it was recorded, which is not known');
      },
    }),
    paused: async (look) => {
      const was = failing.isOn;
      failing.isOn = false;
      try {
        return await look();
      } finally {
        failing.isOn = was;
      }
    },
    tried: () => tried,
    failed: () => failed,
  };
  return failing;
}
