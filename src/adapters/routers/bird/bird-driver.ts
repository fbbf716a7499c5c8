import { type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import type { Ids } from '../../../ports/ids.ts';
import { type PreparedChange, type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import { createDriverCalls, createRouterTurns, stoppedBefore } from '../driver-kit/driver-calls.ts';
import { type Ending, runToPause } from '../driver-kit/paused-work.ts';
import { ourLists, wantedPrefixes } from '../driver-kit/prefix-lists.ts';
import { editionIfOurs, editionOf, parseFile, renderFile } from './bird-file.ts';
import type { BirdChange, BirdShell, HeldList } from './bird-shell.ts';

export type BirdDriverOptions = Readonly<{
  shell: BirdShell;
  /** Named in messages, as bird.conf must include it. */
  directory: string;
  ids: Ids;
  close: () => Promise<void>;
}>;

/** What a call is about; a list that is `absent` is to go. */
type Task = Readonly<{ list: string; wanted: readonly Cidr[] | 'absent'; signal: AbortSignal }>;

/** The same for a change that was written aside: BIRD gives back the edition of what it has loaded, undefined for a list that it has not. */
type WrittenTask = Task & Readonly<{ edition: string | undefined; directory: string }>;

/** A change that is held open, before its first step. */
type Half = Readonly<{ change: BirdChange; before: HeldList; task: WrittenTask | undefined }>;

const WAITING = 1000;

/** Keeps prefix sets on a router that runs BIRD. An empty list is two sets that match nothing. */
export function createBirdDriver({ shell, directory, ids, close }: BirdDriverOptions): RouterDriver {
  const changes = createRouterTurns(1, WAITING);
  const calls = createDriverCalls();

  const withChange = async (task: Task, work: (change: BirdChange) => Promise<void>): Promise<void> => {
    const change = await shell.begin(task.list, task.signal);
    try {
      await work(change);
    } catch (failure) {
      change.abandon();
      throw failure;
    }
    // What was asked for is done and was seen; however the shell ends now, it has nothing left to do.
    await change.finish().catch(() => change.abandon());
  };
  const write = async (change: BirdChange, task: Task): Promise<WrittenTask> => {
    const { list, wanted } = task;
    if (wanted === 'absent') return { ...task, edition: undefined, directory };
    const edition = editionOf(ids.uuid(), wanted);
    await change.upload(renderFile(list, wanted, edition));
    return { ...task, edition, directory };
  };
  const replace = (task: Task): Promise<void> =>
    changes.take(task.signal, () =>
      withChange(task, async (change) => {
        if (holds(change.held, task)) return;
        const written = await write(change, task);
        if (task.signal.aborted) throw stoppedBefore('the change', task.signal);
        await apply(change, written);
        await confirm(change, written);
      }),
    );
  const prepare = (task: Task, offer: (half: Half) => Promise<Ending>): Promise<void> =>
    changes.take(task.signal, () =>
      withChange(task, async (change) => {
        const before = change.held;
        const isHeld = holds(before, task);
        const written = isHeld ? undefined : await write(change, task);
        if (!isHeld) await change.tryOut();
        // However it goes on: where "confirm" was not said, the end of the session takes it back.
        await offer({ change, before, task: written });
      }),
    );

  return {
    check: (signal) => calls.run(signal, undefined, () => shell.check(signal)),
    lists: (signal) => calls.run(signal, undefined, async () => ourLists(await shell.names(signal))),
    read: (list, signal) => calls.run(signal, list, async () => entriesOf(await shell.read(list, signal), list)),
    replace: (list, prefixes, signal) =>
      calls.run(signal, list, () => replace({ list, wanted: wantedPrefixes(prefixes), signal })),
    remove: (list, signal) => calls.run(signal, list, () => replace({ list, wanted: 'absent', signal })),
    prepare: async (list, prefixes, signal) => {
      const { middle, end } = await runToPause<Half>((offer) =>
        calls.run(signal, list, () => prepare({ list, wanted: wantedPrefixes(prefixes), signal }, offer)),
      );
      return preparedChange(list, middle, end);
    },
    close: () => calls.close(close),
  };
}

function preparedChange(
  list: string,
  { change, before, task }: Half,
  end: (how: Ending) => Promise<void>,
): PreparedChange {
  return {
    before: entriesOf(before, list),
    commit: (signal) => unlessAborted(signal, change, async () => task && apply(change, task)),
    read: (signal) => unlessAborted(signal, change, async () => entriesOf(await change.show(), list)),
    confirm: async (signal) => {
      try {
        await unlessAborted(signal, change, async () => task && confirm(change, task));
      } finally {
        await end('keep');
      }
    },
    undo: () => end('take back'),
  };
}

/** A step that is stopped ends the session, and with it all that was not confirmed. */
async function unlessAborted<T>(signal: AbortSignal, change: BirdChange, step: () => Promise<T>): Promise<T> {
  if (signal.aborted) throw stoppedBefore('the next step', signal);
  signal.addEventListener('abort', change.abandon, { once: true });
  try {
    return await step();
  } catch (failure) {
    throw signal.aborted ? stopped(failure, signal) : failure;
  } finally {
    signal.removeEventListener('abort', change.abandon);
  }
}

/** What the router had answered before stays what it is. */
function stopped(failure: unknown, { reason: cause }: AbortSignal): unknown {
  const code = failure instanceof RouterFailure ? failure.code : undefined;
  if (code === 'outcome-unknown')
    return new RouterFailure(code, 'the change was sent, but its outcome was not seen: the wait was stopped', {
      cause,
    });
  if (code !== 'unreachable') return failure;
  const goesBack = 'BIRD had not answered when the wait was stopped; it goes back to what it had';
  return new RouterFailure('timed-out', goesBack, { cause });
}

async function apply(change: BirdChange, { list, edition, directory }: WrittenTask): Promise<void> {
  const loaded = await change.apply();
  if (loaded === edition) return;
  if (loaded === undefined) {
    throw new RouterFailure(
      'rejected',
      `${list}: BIRD does not read ${directory}: its configuration must have include "${directory}/*.conf";`,
    );
  }
  throw new RouterFailure('rejected', `${list}: BIRD has loaded another change in its place`);
}

async function confirm(change: BirdChange, { list, edition }: WrittenTask): Promise<void> {
  const kept = await change.confirm();
  if (kept === edition) return;
  throw new RouterFailure('outcome-unknown', `${list}: BIRD uses another change than the one that was confirmed`);
}

/** A list that does not exist is made even when it shall be empty: a configuration that names it can't be loaded without. */
function holds({ file, edition }: HeldList, { list, wanted }: Task): boolean {
  if (wanted === 'absent') return file === undefined && edition === undefined;
  return file !== undefined && edition !== undefined && editionIfOurs(file, list, wanted) === edition;
}

/**
 * What BIRD uses. It can't show a set of more than a few dozen prefixes, but its edition says which file it has loaded; where
 * that is not the file as it stands there, a remark makes the list differ from any of ours.
 */
function entriesOf({ file, edition }: HeldList, list: string): readonly string[] | 'absent' {
  if (file === undefined) return edition === undefined ? 'absent' : ['# used by BIRD, though its file is gone'];
  const found = parseFile(file, list);
  const entries = [...found.cidrs.map(formatCidr), ...found.foreign];
  if (found.edition === undefined) return [...entries, '# a file that edgeward did not write'];
  return edition === found.edition ? entries : [...entries, '# a file that BIRD has not loaded'];
}
