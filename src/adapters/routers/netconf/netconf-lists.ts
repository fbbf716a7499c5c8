import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { type CandidateLockLimits, withCandidate } from './candidate-lock.ts';
import { changeList, type ChangePlan, type ChangeTask, readList, saveRunning } from './netconf-change.ts';
import type { NetconfSession } from './netconf-session.ts';

/** The lists of one router, over a session that is open. All of it may fail with RpcFailure and RouterFailure. */
export type NetconfLists = Readonly<{
  /** The router would let us read and write. */
  check: (session: NetconfSession, signal: AbortSignal) => Promise<void>;
  read: (session: NetconfSession, list: string, signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  replace: (session: NetconfSession, task: ChangeTask) => Promise<void>;
}>;

/** A list of ours that nobody has; reading it shows that reading is allowed. */
const NO_LIST = 'Svc-EDGEWARD-CHECK';

export function createNetconfLists(plan: ChangePlan, lock: CandidateLockLimits, clock: Clock): NetconfLists {
  const { dialect, confirmSeconds, save } = plan;
  const doubt = createDoubt(clock, confirmSeconds * 1000);
  /** Whether all that was changed from here is saved; at first nobody knows what was changed before. */
  let saved = false;

  const settled = async <T>(session: NetconfSession, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const done = await withCandidate(session, lock, signal, work);
    doubt.end();
    return done;
  };
  const change = async (session: NetconfSession, task: ChangeTask): Promise<void> => {
    const changed = await changeList(session, task, plan);
    if (!save || (!changed && saved)) return;
    saved = false;
    await saveRunning(session, task);
    saved = true;
  };

  return {
    check: (session, signal) =>
      settled(session, signal, async () => {
        await readList(session, dialect, NO_LIST, signal);
      }),
    read: async (session, list, signal) => {
      const look = (): Promise<readonly string[] | 'absent'> => readList(session, dialect, list, signal);
      // Elsewhere a commit that waits for its confirmation ends with the session that made it.
      if (session.capabilities.confirmedCommit !== 'persist') return look();
      try {
        return await settled(session, signal, look);
      } catch (failure) {
        // Somebody may keep the lock for hours; what runs is theirs to be seen, unless it may be ours to be taken back.
        if (!isLocked(failure) || doubt.exists()) throw failure;
        return look();
      }
    },
    replace: async (session, task) => {
      try {
        await settled(session, task.signal, () => change(session, task));
      } catch (failure) {
        if (failure instanceof RouterFailure && failure.code === 'outcome-unknown') doubt.begin();
        throw failure;
      }
    },
  };
}

/** Whether a commit may wait on the router whose maker is gone, so that what it shows may not stay. */
type Doubt = Readonly<{ begin: () => void; end: () => void; exists: () => boolean }>;

/** There is doubt at first, and never longer than a commit waits. */
function createDoubt(clock: Clock, milliseconds: number): Doubt {
  let until = clock.monotonicMilliseconds() + milliseconds;
  return {
    begin: () => void (until = clock.monotonicMilliseconds() + milliseconds),
    end: () => void (until = Number.NEGATIVE_INFINITY),
    exists: () => clock.monotonicMilliseconds() < until,
  };
}

function isLocked(failure: unknown): boolean {
  return failure instanceof RouterFailure && failure.code === 'locked';
}
