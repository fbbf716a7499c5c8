import type { Cidr } from '../../../addresses/cidr.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type ReplaceOptions, type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import { createDriverCalls, createRouterTurns, stoppedBefore } from '../driver-kit/driver-calls.ts';
import { ourLists, wantedPrefixes } from '../driver-kit/prefix-lists.ts';
import { entryTexts } from './frr-answers.ts';
import { type Change, changeFor, wishesFor } from './frr-change.ts';
import { entriesWithin, LINEAR_SINCE, type RouterSpeed } from './frr-load-time.ts';
import { type Applied, type FrrChange, type FrrShell, LOCKED } from './frr-shell.ts';

export type FrrDriverOptions = Readonly<{
  shell: FrrShell;
  clock: Clock;
  /** Saves the configuration after every change, so that the lists survive a restart of FRR. */
  writeMemory: boolean;
  close: () => Promise<void>;
}>;

/** What a call to `replace` is about. */
type Task = Readonly<{ list: string; wanted: readonly Cidr[]; signal: AbortSignal; timeLeft: () => number }>;

const WAITING = 1000;

/** Keeps prefix-lists on a router that runs FRR. */
export function createFrrDriver({ shell, clock, writeMemory, close }: FrrDriverOptions): RouterDriver {
  const changes = createRouterTurns(1, WAITING);
  const calls = createDriverCalls();
  /** Whether all that this driver changed is saved; at first it is unknown what was changed before. */
  let saved = false;

  const replace = async (task: Task): Promise<void> => {
    const change = await shell.begin(task.list, task.signal);
    try {
      const changed = await fulfil(change, task, () => (saved = false));
      if (writeMemory && (changed || !saved)) {
        const complaint = await change.save().catch((failure: unknown) => unseen(failure));
        if (complaint !== undefined) throw notSaved(inForce(task), complaint);
        saved = true;
      }
    } catch (failure) {
      change.abandon();
      throw failure;
    }
    // What was asked for is done and was seen; however the shell ends now, it has nothing left to do.
    await change.finish().catch(() => change.abandon());
  };

  /** FRR can't take a change back by itself; whether it has the time is known before anything is sent. */
  const askForTime = async (task: Task): Promise<void> => {
    const change = await shell.begin(task.list, task.signal);
    try {
      const needed = changeFor(wishesFor(task.list, change.held, task.wanted), change.speed, false);
      if (needed !== undefined) requireTime(needed, task, change);
    } finally {
      await change.finish().catch(() => change.abandon());
    }
  };

  const save = (signal: AbortSignal): Promise<void> =>
    calls.run(signal, undefined, () =>
      changes.take(signal, async () => {
        const complaint = await shell.save(signal).catch((failure: unknown) => unseen(failure));
        if (complaint !== undefined) throw notSaved('what runs', complaint);
        saved = true;
      }),
    );

  const inTurn =
    (work: (task: Task) => Promise<void>) =>
    (list: string, prefixes: readonly string[], signal: AbortSignal, options?: ReplaceOptions): Promise<void> =>
      calls.run(signal, list, async () => {
        const timeLeft = countdown(clock, options);
        const wanted = wantedPrefixes(prefixes);
        await changes.take(signal, () => work({ list, wanted, signal, timeLeft }));
      });
  const replaceInTurn = inTurn(replace);
  const askInTurn = inTurn(askForTime);

  return {
    check: (signal) => calls.run(signal, undefined, () => shell.check(writeMemory, signal)),
    ...(writeMemory ? { save } : {}),
    lists: (signal) => calls.run(signal, undefined, async () => ourLists(await shell.names(signal))),
    read: (list, signal) =>
      calls.run(signal, list, async () => {
        const { ip, ipv6 } = await shell.read(list, signal);
        return ip === undefined && ipv6 === undefined ? 'absent' : entryTexts([...(ip ?? []), ...(ipv6 ?? [])]);
      }),
    replace: replaceInTurn,
    prepare: async (...change) => {
      await askInTurn(...change);
      return undefined;
    },
    // An empty list of FRR's is none.
    remove: (list, signal) => replaceInTurn(list, [], signal),
    close: () => calls.close(close),
  };
}

function inForce({ list, wanted }: Task): string {
  return wanted.length === 0 ? `${list} is gone from what runs, and that` : `${list} is in force, and`;
}

function notSaved(what: string, complaint: string): RouterFailure {
  return new RouterFailure('not-saved', `${what} was not saved: ${complaint}`);
}

function unseen(failure: unknown): string {
  return `no answer was seen (${failure instanceof Error ? failure.message : String(failure)})`;
}

/** Whether anything had to be applied. */
async function fulfil(change: FrrChange, task: Task, onApply: () => void): Promise<boolean> {
  const { speed } = change;
  const needed = changeFor(wishesFor(task.list, change.held, task.wanted), speed, false);
  if (needed === undefined) return false;
  requireTime(needed, task, change);
  await change.prepare(needed.text);
  if (task.signal.aborted) throw stoppedBefore('the change', task.signal);
  onApply();
  const outcome = await onceSent(task, () => change.apply());
  if (isFulfilled(task, outcome, speed)) return true;
  if (!needed.whole) return writeWhole(change, task, outcome);
  throw notHeld(task, outcome);
}

/** The second try, where the smallest change led elsewhere: it clears what the router's daemons disagree about. */
async function writeWhole(change: FrrChange, task: Task, first: Applied): Promise<true> {
  const whole = changeFor(wishesFor(task.list, first.held, task.wanted), change.speed, true);
  if (whole === undefined || whole.milliseconds > task.timeLeft()) throw notHeld(task, first);
  const outcome = await onceSent(task, async () => {
    await change.prepare(whole.text);
    return change.apply();
  });
  if (isFulfilled(task, outcome, change.speed)) return true;
  throw notHeld(task, outcome);
}

/** After the point of no return a lost answer is no failure: the router goes on by itself. */
async function onceSent<T>({ list, signal }: Task, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    const words = failure instanceof Error ? failure.message : String(failure);
    const because = signal.aborted ? 'the wait was stopped' : words;
    throw new RouterFailure('outcome-unknown', `${list} was sent, but its outcome was not seen: ${because}`, {
      cause: signal.aborted ? signal.reason : failure,
    });
  }
}

function isFulfilled({ list, wanted }: Task, { complaints, held }: Applied, speed: RouterSpeed): boolean {
  return complaints.length === 0 && changeFor(wishesFor(list, held, wanted), speed, false) === undefined;
}

function requireTime(needed: Change, { list, timeLeft }: Task, { speed, held }: FrrChange): void {
  const left = timeLeft();
  if (needed.milliseconds <= left) return;
  const { majorVersion } = speed;
  // Each family is a list of its own: the longer one makes new entries dear.
  const possible = entriesWithin(left, Math.max(held.ip?.length ?? 0, held.ipv6?.length ?? 0), speed);
  const why =
    majorVersion < LINEAR_SINCE ? `; before FRR ${LINEAR_SINCE} it grows with the square of the list's length` : '';
  throw new RouterFailure(
    'too-large',
    `${list}: FRR ${majorVersion} needs about ${seconds(needed.milliseconds)} s to load ${needed.adds} entries${why}; ` +
      `${seconds(left)} s are left, so nothing was sent. A longer time limit or a newer FRR would do`,
    { possible },
  );
}

function notHeld({ list, wanted }: Task, { held, complaints }: Applied): RouterFailure {
  const entries = (held.ip?.length ?? 0) + (held.ipv6?.length ?? 0);
  const said = complaints.slice(0, 3).join('; ');
  return new RouterFailure(
    LOCKED.test(said) ? 'locked' : 'rejected',
    `${list} has ${entries} entries after a change to ${wanted.length}${said && `; the router said: ${said}`}`,
  );
}

/** The milliseconds that are left of the caller's patience, at any time. */
function countdown(clock: Clock, options: ReplaceOptions | undefined): () => number {
  const patience = options?.timeoutMilliseconds;
  if (patience === undefined) return () => Number.POSITIVE_INFINITY;
  const began = clock.monotonicMilliseconds();
  return () => patience - (clock.monotonicMilliseconds() - began);
}

function seconds(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds / 1000));
}
