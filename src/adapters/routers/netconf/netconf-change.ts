import { type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import { RouterFailure, type RouterFailureCode } from '../../../ports/routers.ts';
import { stoppedBefore } from '../driver-kit/driver-calls.ts';
import { PERSIST_ID } from './candidate-lock.ts';
import type { Dialect } from './dialect.ts';
import type { NetconfSession, Reply } from './netconf-session.ts';
import {
  COMMIT,
  commitForNow,
  confirmCommit,
  DISCARD_CHANGES,
  editCandidate,
  getConfig,
  SAVE_RUNNING,
  VALIDATE_CANDIDATE,
} from './operations.ts';
import { RpcFailure, textOfError } from './rpc-error.ts';
import { childNamed, type XmlElement } from '../../xml.ts';

/** How lists are changed on a kind of router. */
export type ChangePlan = Readonly<{
  dialect: Dialect;
  /** The router takes back by itself what is not confirmed within so many seconds. */
  confirmSeconds: number;
  /** Where the router is to check a change before its commit, if it offers to. */
  validation: Validation;
  /** Copies what runs to what the router starts with, where these are two. */
  save: boolean;
  /** Texts in warnings that pass, besides the dialect's own. */
  ignoredWarnings: readonly string[];
}>;

export type Validation = 'with-edit' | 'before-commit' | 'none';

/**
 * A list, what it is to hold (`absent`: it is to go), and how long each step may take. `anew`: also where it is held already, as the router
 * may take that back.
 */
export type ChangeTask = Readonly<{
  list: string;
  wanted: readonly Cidr[] | 'absent';
  signal: AbortSignal;
  anew?: boolean;
}>;

/** What a router holds of a list. @throws RpcFailure, RouterFailure */
export async function readList(
  session: NetconfSession,
  dialect: Dialect,
  list: string,
  signal: AbortSignal,
): Promise<readonly string[] | 'absent'> {
  const { reply } = await session.call(getConfig('running', dialect.filterFor(list)), signal);
  return dialect.entriesIn(childNamed(reply, 'data'), list);
}

/** The names of all lists that a router has. @throws RpcFailure, RouterFailure */
export async function readNames(
  session: NetconfSession,
  dialect: Dialect,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { reply } = await session.call(getConfig('running', dialect.namesFilter), signal);
  return dialect.namesIn(childNamed(reply, 'data'));
}

/**
 * Makes a list hold what is wanted, under the candidate's lock; whether anything had to be changed. Until the commit is sent a
 * failure means that nothing was changed, after that it says `outcome-unknown` unless the router has answered. `waits` hears of a commit
 * that the router takes back unless it is confirmed.
 */
export async function changeList(
  session: NetconfSession,
  task: ChangeTask,
  plan: ChangePlan,
  waits: () => void,
): Promise<boolean> {
  const { list, wanted, signal, anew } = task;
  const held = await readList(session, plan.dialect, list, signal);
  if (isHeld(held, wanted)) {
    if (anew !== true) return false;
    // What is not there can't be removed once more.
    if (wanted === 'absent') throw mayBeTakenBack(list);
  }
  await prepareCandidate(session, task, plan);
  if (signal.aborted) throw stoppedBefore('the commit', signal);
  if (session.capabilities.confirmedCommit === undefined) {
    await send(session, COMMIT, task, plan);
    return true;
  }
  await commitForAWhile(session, task, plan, waits);
  await seeThatItIsHeld(session, task, plan);
  await confirmForGood(session, task, plan);
  return true;
}

/** Puts the change into the candidate, where nothing else is, and has it checked; nothing is in force yet. */
export async function prepareCandidate(session: NetconfSession, task: ChangeTask, plan: ChangePlan): Promise<void> {
  await session.call(DISCARD_CHANGES, task.signal);
  const { list, wanted, signal } = task;
  const { dialect, validation } = plan;
  const validates = session.capabilities.validate ? validation : 'none';
  const config = wanted === 'absent' ? dialect.removalOf(list) : dialect.replacementFor(list, wanted);
  heed(list, await session.call(editCandidate(config, validates === 'with-edit'), signal), plan);
  if (validates === 'before-commit') heed(list, await session.call(VALIDATE_CANDIDATE, signal), plan);
}

/** Puts the candidate in force; the router takes it back unless it is confirmed in time: `waits` hears that it is in force. */
export async function commitForAWhile(
  session: NetconfSession,
  task: ChangeTask,
  plan: ChangePlan,
  waits: () => void,
): Promise<void> {
  const reply = await sent(session, commitForNow(plan.confirmSeconds, persistIdOf(session)), task);
  waits();
  heed(task.list, reply, plan);
}

/** Keeps what was put in force for a while. */
export function confirmForGood(session: NetconfSession, task: ChangeTask, plan: ChangePlan): Promise<void> {
  const persist = persistIdOf(session);
  return send(session, persist === undefined ? COMMIT : confirmCommit(persist), task, plan);
}

function persistIdOf({ capabilities }: NetconfSession): string | undefined {
  return capabilities.confirmedCommit === 'persist' ? PERSIST_ID : undefined;
}

/** Copies what runs to what the router starts with, where these are two. @throws RouterFailure when it was not copied */
export async function saveRunning(session: NetconfSession, what: string, signal: AbortSignal): Promise<void> {
  if (!session.capabilities.startup) return;
  try {
    await session.call(SAVE_RUNNING, signal);
  } catch (failure) {
    const because = failure instanceof Error ? failure.message : String(failure);
    throw new RouterFailure('not-saved', `${what} was not saved: ${because}`, { cause: failure });
  }
}

/** A refusal in the words of the port. */
export function refused(what: string, failure: RpcFailure): RouterFailure {
  const code = REFUSALS.find(([tag]) => failure.has(tag))?.[1] ?? 'rejected';
  return new RouterFailure(code, `${what}: ${failure.message}`, { cause: failure });
}

const REFUSALS: readonly (readonly [tag: string, code: RouterFailureCode])[] = [
  ['access-denied', 'not-permitted'],
  ['lock-denied', 'locked'],
  ['in-use', 'locked'],
  ['resource-denied', 'locked'],
  ['too-big', 'too-large'],
];

async function send(session: NetconfSession, operation: XmlElement, task: ChangeTask, plan: ChangePlan): Promise<void> {
  heed(task.list, await sent(session, operation, task), plan);
}

/** From here on an answer that does not come is no failure: the router goes on by itself. */
function sent(session: NetconfSession, operation: XmlElement, { list, signal }: ChangeTask): Promise<Reply> {
  return session.call(operation, signal).catch((failure: unknown) => {
    throw failure instanceof RpcFailure ? refused(list, failure) : unknownOutcome(list, signal, failure);
  });
}

/** Routers answer ok to what they do not know, and then hold something else. */
async function seeThatItIsHeld(session: NetconfSession, task: ChangeTask, plan: ChangePlan): Promise<void> {
  const { list, wanted, signal } = task;
  const held = await readList(session, plan.dialect, list, signal).catch((failure: unknown) => {
    throw failure instanceof RpcFailure ? refused(list, failure) : unknownOutcome(list, signal, failure);
  });
  if (isHeld(held, wanted)) return;
  const entries = held === 'absent' ? 'is missing' : `has ${held.length} entries`;
  throw new RouterFailure(
    'rejected',
    `${list} ${entries} after a change to ${wanted === 'absent' ? 'none' : wanted.length} that the router answered with ok; it was taken back`,
  );
}

/** Whether a list holds what is wanted. */
export function isHeld(held: readonly string[] | 'absent', wanted: ChangeTask['wanted']): boolean {
  if (held === 'absent' || wanted === 'absent') return held === wanted;
  return held.length === wanted.length && wanted.every((cidr, at) => formatCidr(cidr) === held[at]);
}

function heed(list: string, { warnings }: Reply, { dialect, ignoredWarnings }: ChangePlan): void {
  const unknown = warnings.filter(({ message = '' }) => {
    const isHarmless = dialect.harmlessWarnings.some((pattern) => pattern.test(message));
    return !isHarmless && !ignoredWarnings.some((text) => message.includes(text));
  });
  if (unknown.length === 0) return;
  const said = unknown.slice(0, 3).map(textOfError).join('; ');
  throw new RouterFailure(
    'rejected',
    `${list}: the router warns, and option ignore_warnings does not say that it may: ${said}`,
  );
}

/** What the router shows of a list is no proof: a commit whose outcome was not seen may wait, and may be taken back whenever it ends. */
export function mayBeTakenBack(list: string): RouterFailure {
  return new RouterFailure(
    'locked',
    `${list}: the router may still take back a commit whose outcome was not seen, and with it what it shows now`,
  );
}

function unknownOutcome(list: string, signal: AbortSignal, failure: unknown): RouterFailure {
  const because = failure instanceof Error ? failure.message : String(failure);
  const shown = signal.aborted ? 'the wait was stopped' : because;
  return new RouterFailure('outcome-unknown', `${list} was sent, but its outcome was not seen: ${shown}`, {
    cause: signal.aborted ? signal.reason : failure,
  });
}
