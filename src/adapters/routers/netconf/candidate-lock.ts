import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppedWaiting } from '../driver-kit/driver-calls.ts';
import type { NetconfSession } from './netconf-session.ts';
import { cancelCommit, DISCARD_CHANGES, GET_SESSIONS, LOCK_CANDIDATE, UNLOCK_CANDIDATE } from './operations.ts';
import { RpcFailure, textOfError } from './rpc-error.ts';
import { childNamed, elementsAt, textOf } from '../../xml.ts';

export type CandidateLockLimits = Readonly<{
  clock: Clock;
  /** How long the lock of another session is waited for. */
  lockMilliseconds: number;
  /** Throws away what another session has left in the candidate without a lock; otherwise that counts as a lock, too. */
  discardForeign: boolean;
}>;

/**
 * The name under which our commits wait for their confirmation. It is always the same, so that the process that comes after one
 * that has died can finish what it has begun; two of ours never wait at a time, as each holds the candidate's lock.
 */
export const PERSIST_ID = 'edgeward';

const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 1000;

/**
 * Works under the lock of the candidate. A commit of ours that waits for its confirmation is taken back before, and so is all
 * that was not finished when the work fails. @throws RouterFailure `locked`, naming the holder, when the lock is not to be had in time
 */
export async function withCandidate<T>(
  session: NetconfSession,
  limits: CandidateLockLimits,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  await takeLock(session, limits, signal);
  let done: T;
  try {
    await finishOldCommit(session, signal);
    done = await work();
  } catch (failure) {
    await leave(session, limits, signal, 'with what was done taken back');
    throw failure;
  }
  await leave(session, limits, signal, 'with what was done');
  return done;
}

async function takeLock(session: NetconfSession, limits: CandidateLockLimits, signal: AbortSignal): Promise<void> {
  const { clock, lockMilliseconds, discardForeign } = limits;
  const began = clock.monotonicMilliseconds();
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MILLISECONDS)) {
    try {
      await session.call(LOCK_CANDIDATE, signal);
      return;
    } catch (failure) {
      if (!(failure instanceof RpcFailure) || !LOCKS.some((tag) => failure.has(tag))) throw failure;
      const left = lockMilliseconds - (clock.monotonicMilliseconds() - began);
      const isCleared = await clearTheWay(session, failure, discardForeign, signal);
      if (left <= 0) throw await lockedBy(session, failure, lockMilliseconds, signal);
      if (!isCleared) await rest(clock, Math.min(pause, left), signal);
    }
  }
}

/** Bound on leaving in order. */
const LEAVE_MILLISECONDS = 10_000;

/** How a lock is refused: held by another session, a commit that waits, changes in the candidate. */
const LOCKS = ['lock-denied', 'in-use', 'resource-denied'];

/** Ends what keeps the lock from us, where a process that died has left it. */
async function clearTheWay(
  session: NetconfSession,
  refusal: RpcFailure,
  discardForeign: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  if (refusal.has('in-use')) return finishOldCommit(session, signal);
  if (!refusal.has('resource-denied') || !discardForeign) return false;
  await session.call(DISCARD_CHANGES, signal);
  return true;
}

async function rest(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.wait(milliseconds, signal);
  } catch {
    throw stoppedWaiting('the candidate was not to be had')(signal);
  }
}

/** Takes back a commit of ours that waits for a confirmation that will not come; whether there was one. */
async function finishOldCommit(session: NetconfSession, signal: AbortSignal): Promise<boolean> {
  if (session.capabilities.confirmedCommit !== 'persist') return false;
  try {
    await session.call(cancelCommit(PERSIST_ID), signal);
    return true;
  } catch (failure) {
    // Devices differ in how they say that nothing of that name waits.
    if (failure instanceof RpcFailure) return false;
    throw failure;
  }
}

/** Never fails: where the router does not let us leave in order, the end of the session does it. */
async function leave(
  session: NetconfSession,
  { clock }: CandidateLockLimits,
  signal: AbortSignal,
  how: 'with what was done' | 'with what was done taken back',
): Promise<void> {
  if (!session.isOpen()) return;
  if (signal.aborted) return session.destroy();
  const over = new AbortController();
  const late = new AbortController();
  const timer = clock.wait(LEAVE_MILLISECONDS, over.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    if (how === 'with what was done taken back') {
      await finishOldCommit(session, late.signal);
      await session.call(DISCARD_CHANGES, late.signal);
    }
    await session.call(UNLOCK_CANDIDATE, late.signal);
  } catch {
    session.destroy();
  } finally {
    over.abort();
    await timer;
  }
}

async function lockedBy(
  session: NetconfSession,
  refusal: RpcFailure,
  waited: number,
  signal: AbortSignal,
): Promise<RouterFailure> {
  const said = refusal.errors.map(textOfError).join('; ');
  const holder = await holderOf(session, refusal, signal);
  return new RouterFailure('locked', `the candidate is not to be had after ${waited / 1000} s: ${holder}; ${said}`, {
    cause: refusal,
  });
}

async function holderOf(session: NetconfSession, refusal: RpcFailure, signal: AbortSignal): Promise<string> {
  const id = refusal.errors.find(({ sessionId }) => sessionId !== undefined)?.sessionId;
  if (id !== undefined && id !== '0') return `session ${id}${await detailsOf(session, id, signal)} has locked it`;
  if (refusal.has('in-use')) return 'a commit of somebody else waits for its confirmation';
  if (refusal.has('resource-denied')) {
    return 'somebody has left changes in it without a commit (option discard_foreign would throw them away)';
  }
  return 'something that is no NETCONF session has locked it, such as somebody at the command line';
}

/** Who a session is, where the router tells. */
async function detailsOf(session: NetconfSession, id: string, signal: AbortSignal): Promise<string> {
  if (!session.capabilities.monitoring) return '';
  try {
    const { reply } = await session.call(GET_SESSIONS, signal);
    const sessions = elementsAt(reply, 'data', 'netconf-state', 'sessions', 'session');
    const holder = sessions.find((candidate) => textOf(childNamed(candidate, 'session-id')) === id);
    const user = textOf(childNamed(holder, 'username'));
    const host = textOf(childNamed(holder, 'source-host'));
    return user === undefined ? '' : ` (${user}${host === undefined ? '' : ` from ${host}`})`;
  } catch (failure) {
    if (failure instanceof RpcFailure) return '';
    throw failure;
  }
}
