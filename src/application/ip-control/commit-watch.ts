import type { RecordedEvent } from '../../kernel/event.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';

/** How one attempt of a commit set ended: `overtaken` when its next attempt goes on with it. */
export type Settlement = 'success' | 'failed' | 'overtaken';

type Outcome = Settlement | 'slow';

/** So many attempts of commits of one list of a region have ended in this way. */
export type EndedCommits = Readonly<{ regionId: number; list: string; status: 'success' | 'failed'; count: number }>;

/** Sees commits end, whichever process deploys them. */
export type CommitWatch = Readonly<{
  /** How this attempt ended, as soon as it has; `undefined` when `signal` aborts first. Only for attempts requested after the watch began. */
  settled: (commitSetId: string, attempt: number, signal: AbortSignal) => Promise<Settlement | undefined>;
  /** As `settled`, or `slow` as soon as the attempt is seen to be: a newer change need not wait for its end. */
  settledOrSlow: (commitSetId: string, attempt: number, signal: AbortSignal) => Promise<Outcome | undefined>;
  /** The commits that have ended since the watch began: how many of each list of a region, and how. */
  ended: () => readonly EndedCommits[];
  /** Watches until `signal` aborts; when it has failed, the next run goes on where it ended. @throws StoreUnavailable */
  run: (signal: AbortSignal) => Promise<void>;
}>;

const REMEMBERED_MAX = 10_000;

/** Begins to watch at the end of the log as it is now. */
export async function openCommitWatch(store: EventStore): Promise<CommitWatch> {
  let position = await store.end();
  const known = new BoundedMap<string, Settlement>(REMEMBERED_MAX);
  const slow = new BoundedMap<string, true>(REMEMBERED_MAX);
  const waiting = new Map<string, Set<(told: Outcome) => void>>();
  const ended = new Map<string, EndedCommits>();

  const told = <T extends Outcome>(key: string, signal: AbortSignal, isAnswer: (told: Outcome) => told is T) => {
    const before = known.get(key) ?? (slow.get(key) === undefined ? undefined : 'slow');
    if (before !== undefined && isAnswer(before)) return Promise.resolve(before);
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise<T | undefined>((resolve) => {
      const listeners = waiting.get(key) ?? new Set();
      waiting.set(key, listeners);
      const finish = (answer: T | undefined): void => {
        listeners.delete(listen);
        if (listeners.size === 0) waiting.delete(key);
        signal.removeEventListener('abort', giveUp);
        resolve(answer);
      };
      const listen = (said: Outcome): void => {
        if (isAnswer(said)) finish(said);
      };
      const giveUp = (): void => finish(undefined);
      listeners.add(listen);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  };

  return {
    settled: (commitSetId, attempt, signal) => told(keyOf(commitSetId, attempt), signal, isSettlement),
    settledOrSlow: (commitSetId, attempt, signal) => told(keyOf(commitSetId, attempt), signal, isAny),
    ended: () => [...ended.values()],
    run: async (signal) => {
      for await (const page of store.follow(position, signal)) {
        for (const event of page) {
          notice(event);
          position = event.position;
        }
      }
    },
  };

  function notice({ type, data }: RecordedEvent): void {
    if (!('commitSetId' in data) || !('attempt' in data)) return;
    const commitSetId = String(data.commitSetId);
    const attempt = Number(data.attempt);
    if (type === 'CommitCompleted' || type === 'CommitFailed') {
      const status = type === 'CommitCompleted' ? 'success' : 'failed';
      settle(keyOf(commitSetId, attempt), status);
      if ('regionId' in data && 'list' in data) count(Number(data.regionId), String(data.list), status);
    }
    // Where the attempt before has ended by itself, that is known, and stays.
    else if (type === 'CommitRequested') settle(keyOf(commitSetId, attempt - 1), 'overtaken');
    else if (type === 'CommitSliceDeployed' || type === 'CommitHeldUp') {
      const key = keyOf(commitSetId, attempt);
      slow.set(key, true);
      for (const listener of waiting.get(key) ?? []) listener('slow');
    }
  }

  function count(regionId: number, list: string, status: EndedCommits['status']): void {
    const key = `${regionId}/${list}/${status}`;
    ended.set(key, { regionId, list, status, count: (ended.get(key)?.count ?? 0) + 1 });
  }

  function settle(key: string, settlement: Settlement): void {
    if (known.get(key) !== undefined) return;
    known.set(key, settlement);
    for (const listener of waiting.get(key) ?? []) listener(settlement);
  }
}

function keyOf(commitSetId: string, attempt: number): string {
  return `${commitSetId}#${attempt}`;
}

function isSettlement(told: Outcome): told is Settlement {
  return told !== 'slow';
}

function isAny(_told: Outcome): _told is Outcome {
  return true;
}
