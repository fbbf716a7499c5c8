import type { Recorded } from '../../kernel/event.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';

/** How one attempt of a commit set ended. */
export type Settlement = 'success' | 'failed';

/** Sees commits end, whichever process deploys them. */
export type CommitWatch = Readonly<{
  /** How this attempt ended, as soon as it has; `undefined` when `signal` aborts first. Only for attempts requested after the watch began. */
  settled: (commitSetId: string, attempt: number, signal: AbortSignal) => Promise<Settlement | undefined>;
  /** Watches until `signal` aborts; when it has failed, the next run goes on where it ended. @throws StoreUnavailable */
  run: (signal: AbortSignal) => Promise<void>;
}>;

const REMEMBERED_MAX = 10_000;

/** Begins to watch at the end of the log as it is now. */
export async function openCommitWatch(store: EventStore): Promise<CommitWatch> {
  let position = await store.end();
  const known = new BoundedMap<string, Settlement>(REMEMBERED_MAX);
  const waiting = new Map<string, Set<(settlement: Settlement) => void>>();

  return {
    settled: (commitSetId, attempt, signal) => {
      const key = `${commitSetId}#${attempt}`;
      const settlement = known.get(key);
      if (settlement !== undefined || signal.aborted) return Promise.resolve(settlement);
      return new Promise((resolve) => {
        const listeners = waiting.get(key) ?? new Set();
        waiting.set(key, listeners);
        const finish = (ended: Settlement | undefined): void => {
          listeners.delete(finish);
          if (listeners.size === 0) waiting.delete(key);
          signal.removeEventListener('abort', giveUp);
          resolve(ended);
        };
        const giveUp = (): void => finish(undefined);
        listeners.add(finish);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
    run: async (signal) => {
      for await (const page of store.follow(position, signal)) {
        for (const event of page) {
          notice(event);
          position = event.position;
        }
      }
    },
  };

  function notice(event: Recorded): void {
    if (event.type !== 'CommitCompleted' && event.type !== 'CommitFailed') return;
    const { data } = event;
    if (!('commitSetId' in data) || !('attempt' in data)) return;
    const key = `${String(data.commitSetId)}#${String(data.attempt)}`;
    const settlement = event.type === 'CommitCompleted' ? 'success' : 'failed';
    known.set(key, settlement);
    for (const listener of waiting.get(key) ?? []) listener(settlement);
  }
}
