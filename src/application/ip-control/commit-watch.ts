import type { RecordedEvent } from '../../kernel/event.ts';
import { streamCategory } from '../../kernel/stream-name.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { openWholeStreams } from '../../projections/engine/whole-streams.ts';

/** How one attempt of a commit set ended: `overtaken` when its next attempt goes on with it. */
export type Settlement = 'success' | 'failed' | 'overtaken';

type Outcome = Settlement | 'slow';

/** So many attempts of commits of one list of a region have ended in this way. */
export type EndedCommits = Readonly<{ regionId: number; list: string; status: 'success' | 'failed'; count: number }>;

/** So many blocks of a list that comes in slices are still to come to the slowest router. */
export type SlicedCommits = Readonly<{ regionId: number; list: string; missing: number }>;

/** Sees commits end, whichever process deploys them. */
export type CommitWatch = Readonly<{
  /** How this attempt ended, as soon as it has; `undefined` when `signal` aborts first. Only for attempts requested after the watch began. */
  settled: (commitSetId: string, attempt: number, signal: AbortSignal) => Promise<Settlement | undefined>;
  /** As `settled`, or `slow` as soon as the attempt is seen to be: a newer change need not wait for its end. */
  settledOrSlow: (commitSetId: string, attempt: number, signal: AbortSignal) => Promise<Outcome | undefined>;
  /** The commits that have ended since the watch began: how many of each list of a region, and how. */
  ended: () => readonly EndedCommits[];
  /** The commits of which a slice has come since the watch began, and not the end. */
  sliced: () => readonly SlicedCommits[];
  /** Watches until `signal` aborts; when it has failed, the next run goes on where it ended. @throws StoreUnavailable */
  run: (signal: AbortSignal) => Promise<void>;
}>;

const REMEMBERED_MAX = 10_000;

/** Begins to watch at the end of the log as it is now; `alsoTell` hears of every event that comes after it. */
export async function openCommitWatch(
  store: EventStore,
  log: Log,
  alsoTell: (event: RecordedEvent) => void = () => undefined,
): Promise<CommitWatch> {
  let position = await store.end();
  // An end of a commit that the reading leaves out would let a request wait in vain, and a region's newer change with it.
  const customers = openWholeStreams({ store, log, from: position, isWanted: isOfCustomer });
  const known = new BoundedMap<string, Settlement>(REMEMBERED_MAX);
  const slow = new BoundedMap<string, true>(REMEMBERED_MAX);
  const waiting = new Map<string, Set<(told: Outcome) => void>>();
  const counted = countCommits();

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
    ended: counted.ended,
    sliced: counted.sliced,
    run: async (signal) => {
      for await (const page of customers.follow(position, signal)) {
        for (const event of page) {
          notice(event);
          counted.count(event);
          alsoTell(event);
          // One that was left out, and is read now, lies before others.
          if (event.position > position) position = event.position;
        }
      }
    },
  };

  function notice({ type, data }: RecordedEvent): void {
    if (!('commitSetId' in data) || !('attempt' in data)) return;
    const commitSetId = String(data.commitSetId);
    const attempt = Number(data.attempt);
    if (type === 'CommitCompleted' || type === 'CommitFailed') {
      settle(keyOf(commitSetId, attempt), type === 'CommitCompleted' ? 'success' : 'failed');
    }
    // Where the attempt before has ended by itself, that is known, and stays.
    else if (type === 'CommitRequested') settle(keyOf(commitSetId, attempt - 1), 'overtaken');
    else if (type === 'CommitSliceDeployed' || type === 'CommitHeldUp') {
      const key = keyOf(commitSetId, attempt);
      slow.set(key, true);
      for (const listener of waiting.get(key) ?? []) listener('slow');
    }
  }

  function settle(key: string, settlement: Settlement): void {
    if (known.get(key) !== undefined) return;
    known.set(key, settlement);
    for (const listener of waiting.get(key) ?? []) listener(settlement);
  }
}

/** Counts attempts of commits by how they ended, and knows what is still to come of those that come in slices. */
function countCommits(): Pick<CommitWatch, 'ended' | 'sliced'> & Readonly<{ count: (event: RecordedEvent) => void }> {
  const ended = new Map<string, EndedCommits>();
  const sliced = new BoundedMap<string, SlicedCommits>(REMEMBERED_MAX);
  return {
    ended: () => [...ended.values()],
    sliced: () => [...sliced.entries()].map(([, commit]) => commit),
    count: ({ type, data }) => {
      if (!('commitSetId' in data) || !('regionId' in data) || !('list' in data)) return;
      const [regionId, list] = [Number(data.regionId), String(data.list)];
      if (type === 'CommitSliceDeployed' && 'done' in data && 'total' in data) {
        sliced.set(String(data.commitSetId), { regionId, list, missing: Number(data.total) - Number(data.done) });
      }
      if (type !== 'CommitCompleted' && type !== 'CommitFailed') return;
      sliced.delete(String(data.commitSetId));
      const status = type === 'CommitCompleted' ? 'success' : 'failed';
      const key = `${regionId}/${list}/${status}`;
      ended.set(key, { regionId, list, status, count: (ended.get(key)?.count ?? 0) + 1 });
    },
  };
}

function isOfCustomer(stream: string): boolean {
  return streamCategory(stream) === 'customer';
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
