import { type Cidr, formatCidr } from '../../../kernel/addresses/cidr.ts';
import type { Ids } from '../../../ports/ids.ts';
import { type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import { createDriverCalls } from '../driver-calls.ts';
import { wantedPrefixes } from '../prefixes.ts';
import { createTurns, stoppedInTime } from '../turns.ts';
import { editionIfOurs, editionOf, parseFile, renderFile } from './bird-file.ts';
import type { BirdChange, BirdShell, HeldList } from './bird-shell.ts';

export type BirdDriverOptions = Readonly<{
  shell: BirdShell;
  /** Named in messages, as bird.conf must include it. */
  directory: string;
  ids: Ids;
  close: () => Promise<void>;
}>;

/** What a call to `replace` is about. */
type Task = Readonly<{ list: string; wanted: readonly Cidr[]; signal: AbortSignal }>;

const WAITING = 1000;

/** Keeps prefix sets on a router that runs BIRD. An empty list is two sets that match nothing. */
export function createBirdDriver({ shell, directory, ids, close }: BirdDriverOptions): RouterDriver {
  const changes = createTurns(1, WAITING);
  const calls = createDriverCalls();

  const replace = async (task: Task): Promise<void> => {
    const change = await shell.begin(task.list, task.signal);
    try {
      if (!holds(change.held, task)) await fulfil(change, task, directory, ids);
    } catch (failure) {
      change.abandon();
      throw failure;
    }
    // What was asked for is done and was seen; however the shell ends now, it has nothing left to do.
    await change.finish().catch(() => change.abandon());
  };

  return {
    check: (signal) => calls.run(signal, undefined, () => shell.check(signal)),
    read: (list, signal) => calls.run(signal, list, async () => entriesOf(await shell.read(list, signal), list)),
    replace: (list, prefixes, signal) =>
      calls.run(signal, list, async () => {
        const wanted = wantedPrefixes(prefixes);
        await changes.take(signal, () => replace({ list, wanted, signal }));
      }),
    close: () => calls.close(close),
  };
}

async function fulfil(change: BirdChange, task: Task, directory: string, ids: Ids): Promise<void> {
  const { list, wanted, signal } = task;
  const edition = editionOf(ids.uuid(), wanted);
  await change.upload(renderFile(list, wanted, edition));
  if (signal.aborted) throw stoppedInTime(signal);
  const loaded = await change.apply();
  if (loaded === undefined) {
    throw new RouterFailure(
      'rejected',
      `${list}: BIRD does not read ${directory}: its configuration must have include "${directory}/*.conf";`,
    );
  }
  if (loaded !== edition) throw new RouterFailure('rejected', `${list}: BIRD has loaded another change in its place`);
  const kept = await change.confirm();
  if (kept !== edition) {
    throw new RouterFailure('outcome-unknown', `${list}: BIRD uses another change than the one that was confirmed`);
  }
}

/** A list that nobody made is made even when it shall be empty: a configuration that names it can't be loaded without. */
function holds({ file, edition }: HeldList, { list, wanted }: Task): boolean {
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
