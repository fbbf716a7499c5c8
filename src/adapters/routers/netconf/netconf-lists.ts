import type { Clock } from '../../../ports/clock.ts';
import { type PreparedChange, RouterFailure } from '../../../ports/routers.ts';
import { type CandidateLockLimits, withCandidate } from './candidate-lock.ts';
import type { Ending } from '../driver-kit/paused-work.ts';
import {
  changeList,
  type ChangePlan,
  type ChangeTask,
  commitForAWhile,
  confirmForGood,
  isHeld,
  mayBeTakenBack,
  prepareCandidate,
  readList,
  readNames,
  saveRunning,
} from './netconf-change.ts';
import type { NetconfSession } from './netconf-session.ts';

/** The lists of one router, over a session that is open. All of it may fail with RpcFailure and RouterFailure. */
export type NetconfLists = Readonly<{
  /** The router would let us read and write. */
  check: (session: NetconfSession, signal: AbortSignal) => Promise<void>;
  read: (session: NetconfSession, list: string, signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  /** The names of all lists, ours and others. */
  names: (session: NetconfSession, signal: AbortSignal) => Promise<readonly string[]>;
  replace: (session: NetconfSession, task: ChangeTask) => Promise<void>;
  /** Copies what runs to what the router starts with, where these are two. */
  save: (session: NetconfSession, signal: AbortSignal) => Promise<void>;
  /**
   * Has a change checked and offers it, under the candidate's lock until it is kept or taken back; a router without confirmed
   * commits offers undefined.
   */
  prepare: (session: NetconfSession, task: ChangeTask, offer: OfferChange) => Promise<void>;
}>;

/** A change whose steps are to be taken one after another, and waited for. */
export type ChangeSteps = Pick<PreparedChange, 'before' | 'commit' | 'read' | 'confirm'>;
export type OfferChange = (steps: ChangeSteps | undefined) => Promise<Ending>;

/** A list of ours that does not exist; reading it shows that reading is allowed. */
const NO_LIST = 'Svc-EDGEWARD-CHECK';

export function createNetconfLists(plan: ChangePlan, lock: CandidateLockLimits, clock: Clock): NetconfLists {
  const { dialect, confirmSeconds } = plan;
  const doubt = createDoubt(clock, confirmSeconds * 1000);
  const saves = createSaves(plan);

  const settled = async <T>(session: NetconfSession, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const done = await withCandidate(session, lock, signal, work);
    // Under the lock what waited was taken back by its name; without one it goes on waiting.
    if (session.capabilities.confirmedCommit === 'persist') doubt.end();
    return done;
  };
  /** Whether a commit of the list that was sent from here may wait, and has no name to take it back by. */
  const isInDoubt = ({ capabilities }: NetconfSession, list: string): boolean =>
    capabilities.confirmedCommit === 'session' && doubt.isOf(list);

  return {
    check: (session, signal) =>
      settled(session, signal, async () => {
        await readList(session, dialect, NO_LIST, signal);
      }),
    read: async (session, list, signal) => {
      const look = (): Promise<readonly string[] | 'absent'> => readList(session, dialect, list, signal);
      // Elsewhere a commit that waits for its confirmation ends with the session that made it, once the router sees that end.
      if (isInDoubt(session, list)) throw mayBeTakenBack(list);
      if (session.capabilities.confirmedCommit !== 'persist') return look();
      try {
        return await settled(session, signal, look);
      } catch (failure) {
        // Another session may keep the lock for hours; what runs is theirs to be seen, unless it may be ours to be taken back.
        if (!isLocked(failure) || doubt.exists()) throw failure;
        return look();
      }
    },
    names: (session, signal) => readNames(session, dialect, signal),
    replace: (session, task) =>
      doubt.unlessSeen(task.list, () =>
        settled(session, task.signal, async () => {
          const changed = await changeList(
            session,
            { ...task, anew: isInDoubt(session, task.list) },
            plan,
            doubt.waitsOn(session, task.list),
          );
          // The newest commit is kept, and with it all before it.
          if (changed) doubt.end();
          await saves.after(session, task, changed);
        }),
      ),
    save: saves.now,
    prepare: async (session, task, offer) => {
      if (session.capabilities.confirmedCommit === undefined) {
        await offer(undefined);
        return;
      }
      if (isInDoubt(session, task.list)) throw mayBeTakenBack(task.list);
      await settled(session, task.signal, async () => {
        const before = await readList(session, dialect, task.list, task.signal);
        if (!isHeld(before, task.wanted)) await prepareCandidate(session, task, plan);
        const how = await offer(stepsOf(session, task, before, { plan, doubt, saves }));
        // Leaving with a failure takes back what was not confirmed, and what is in the candidate.
        if (how === 'take back') throw new TakenBack();
      });
    },
  };
}

type Parts = Readonly<{ plan: ChangePlan; doubt: Doubt; saves: ReturnType<typeof createSaves> }>;

function stepsOf(
  session: NetconfSession,
  task: ChangeTask,
  before: ChangeSteps['before'],
  { plan, doubt, saves }: Parts,
): ChangeSteps {
  const changes = !isHeld(before, task.wanted);
  return {
    before,
    commit: async (signal) => {
      if (!changes) return;
      const waits = doubt.waitsOn(session, task.list);
      await doubt.unlessSeen(task.list, () => commitForAWhile(session, { ...task, signal }, plan, waits));
    },
    read: (signal) => readList(session, plan.dialect, task.list, signal),
    confirm: async (signal) => {
      if (changes) {
        await doubt.unlessSeen(task.list, () => confirmForGood(session, { ...task, signal }, plan));
        doubt.end();
      }
      await saves.after(session, { ...task, signal }, changes);
    },
  };
}

/** What runs is saved after a change, and once before the first one: it is unknown what was changed before. */
function createSaves(plan: ChangePlan) {
  let saved = false;
  const save = async (session: NetconfSession, what: string, signal: AbortSignal): Promise<void> => {
    saved = false;
    await saveRunning(session, what, signal);
    saved = true;
  };
  return {
    now: (session: NetconfSession, signal: AbortSignal) => save(session, 'what runs', signal),
    after: async (session: NetconfSession, { list, wanted, signal }: ChangeTask, changed: boolean): Promise<void> => {
      if (!plan.save || (!changed && saved)) return;
      const what = wanted === 'absent' ? `${list} is gone from what runs, and that` : `${list} is in force, and`;
      await save(session, what, signal);
    },
  };
}

/** A prepared change is to be taken back. */
class TakenBack extends Error {
  override readonly name = 'TakenBack';
}

/** Whether a commit may wait on the router whose maker is gone, so that what it shows may not stay. */
type Doubt = Readonly<{
  /** Does a work after which there is doubt when its outcome was not seen. */
  unlessSeen: <T>(list: string, work: () => Promise<T>) => Promise<T>;
  /** A commit of this process waits: without a name the end of its session takes it back, or its time alone, as the router has it. */
  waitsOn: (session: NetconfSession, list: string) => () => void;
  end: () => void;
  exists: () => boolean;
  /** Whether it was one of this list, by this process: what is shown of others does not hang on it. */
  isOf: (list: string) => boolean;
}>;

/** There is doubt at first, and never longer than a commit waits. */
function createDoubt(clock: Clock, milliseconds: number): Doubt {
  let until = clock.monotonicMilliseconds() + milliseconds;
  const lists = new Map<string, number>();
  const begin = (list: string): void => {
    until = clock.monotonicMilliseconds() + milliseconds;
    lists.set(list, until);
  };
  return {
    waitsOn: ({ capabilities }, list) => (capabilities.confirmedCommit === 'session' ? () => begin(list) : nothing),
    unlessSeen: async (list, work) => {
      try {
        return await work();
      } catch (failure) {
        const isUnknown = failure instanceof RouterFailure && failure.code === 'outcome-unknown';
        if (isUnknown) begin(list);
        throw failure;
      }
    },
    end: () => {
      until = Number.NEGATIVE_INFINITY;
      lists.clear();
    },
    exists: () => clock.monotonicMilliseconds() < until,
    isOf: (list) => clock.monotonicMilliseconds() < (lists.get(list) ?? Number.NEGATIVE_INFINITY),
  };
}

function nothing(): void {}

function isLocked(failure: unknown): boolean {
  return failure instanceof RouterFailure && failure.code === 'locked';
}
