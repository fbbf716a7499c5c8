import { constants } from 'node:fs';
import { access, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { compareCidrs, formatCidr } from '../../../addresses/cidr.ts';
import { sharedRun } from '../../../concurrency/shared-run.ts';
import type { Ids } from '../../../ports/ids.ts';
import { RouterFailure, type RouterFailureCode } from '../../../ports/routers.ts';
import { stoppedInTime } from '../driver-kit/driver-calls.ts';
import { canonicalCidr } from '../driver-kit/prefix-lists.ts';
import { draftName, draftsIn, removeLeftOvers } from './drafts.ts';
import { withOpenFile, type OpenFile } from './open-file.ts';

/** A directory with one file a list. Names have been checked by the caller. */
export type ListDirectory = Readonly<{
  /** The prefixes in a list's file, in numeric order. @throws RouterFailure `unreadable-answer` for a file we could not have written */
  read: (list: string, signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  /** What is in a list's file, whatever it is. What is read is there after a power cut as well, whoever has put it there. */
  readText: (list: string, signal: AbortSignal) => Promise<Buffer | 'absent'>;
  /**
   * Puts a new file in the place of the list's old one: a reader sees all of one or all of the other, also after a power cut.
   * @throws RouterFailure `too-large` before anything is written, for a text that would not be read back
   */
  write: (list: string, text: readonly Uint8Array[], signal: AbortSignal) => Promise<void>;
  /** Takes a list's file away, if there is one. */
  remove: (list: string) => Promise<void>;
  /** The names of all files. */
  names: () => Promise<readonly string[]>;
  /** Removes what processes that are gone have left beside the lists. */
  removeLeftOvers: () => Promise<void>;
  /** The directory is there and can be written. */
  check: () => Promise<void>;
}>;

/** More than a million and a half of the longest lines. */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024;
/** Never through a symbolic link, never waiting for the other end of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const FILE_MODE = 0o644;

const CODES: Readonly<Record<string, RouterFailureCode>> = {
  ENOENT: 'unreachable',
  ENOTDIR: 'unreachable',
  EACCES: 'not-permitted',
  EPERM: 'not-permitted',
  EROFS: 'not-permitted',
};

/**
 * `ids` makes the names of files that are not in place yet; files of more than `most` bytes are neither read nor written. Lists that are
 * written at once share a look at the directory, and its sync.
 */
export function openListDirectory(
  path: string,
  ids: Ids,
  most = LARGEST_FILE_BYTES,
  sync: (path: string) => Promise<void> = syncDirectory,
): ListDirectory {
  const drafts = sharedRun(() => draftsIn(path));
  const reached = sharedRun(() => requireDirectory(path));
  const names = openNameChanges(() => sync(path));
  const readText: ListDirectory['readText'] = async (list, signal) => {
    const text = await textOf(join(path, list), most, signal);
    if (text === 'absent') await reached();
    await names.onDisk(list);
    return text;
  };
  return {
    read: async (list, signal) => {
      const text = await readText(list, signal);
      return text === 'absent' ? text : prefixesOf(join(path, list), text.toString('utf8'));
    },
    readText,
    write: async (list, text, signal) => {
      requireReadable(join(path, list), text, most);
      const aside = join(path, draftName(list, ids.uuid()));
      try {
        await removeLeftOvers((await drafts()).filter((draft) => draft.list === list));
        await writeDurably(aside, text);
        if (signal.aborted) throw stoppedInTime(signal);
        await rename(aside, join(path, list));
        names.changed(list);
      } catch (error) {
        await unlink(aside).catch((failure: unknown) => ignoreMissing(aside, failure));
        throw asFailure(error, join(path, list), 'rejected');
      }
      await names.onDisk(list);
    },
    remove: async (list) => {
      const file = join(path, list);
      try {
        await unlink(file);
        names.changed(list);
      } catch (error) {
        ignoreMissing(file, error);
      }
      await names.onDisk(list);
    },
    names: async () => {
      try {
        return await readdir(path);
      } catch (error) {
        throw asFailure(error, path, 'unreachable');
      }
    },
    removeLeftOvers: async () => {
      try {
        await removeLeftOvers(await drafts());
      } catch (error) {
        throw asFailure(error, path, 'rejected');
      }
    },
    check: async () => {
      try {
        if (!(await stat(path)).isDirectory()) throw new RouterFailure('unreachable', `${path} is not a directory`);
        await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      } catch (error) {
        throw asFailure(error, path, 'unreachable');
      }
    },
  };
}

type NameChanges = Readonly<{
  /** A list was put in place or taken away. */
  changed: (list: string) => void;
  /** Resolves when the newest change of a list is on disk. */
  onDisk: (list: string) => Promise<void>;
}>;

/** Lists that are changed at once share a sync. */
function openNameChanges(sync: () => Promise<void>): NameChanges {
  /** How many there were. One before our time, perhaps: of a process that ended before it had synced that. */
  let count = 1;
  let synced = 0;
  const changedAt = new Map<string, number>();
  const syncAll = sharedRun(async () => {
    const until = count;
    await sync();
    synced = until;
  });
  return {
    changed: (list) => void changedAt.set(list, (count += 1)),
    onDisk: async (list) => {
      if (synced < (changedAt.get(list) ?? 1)) await syncAll();
    },
  };
}

async function textOf(file: string, most: number, signal: AbortSignal): Promise<Buffer | 'absent'> {
  try {
    return await withOpenFile(file, READ_FLAGS, (open) => wholeText(file, open, most, signal));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'absent';
    throw asFailure(error, file, 'unreadable-answer');
  }
}

async function wholeText(
  file: string,
  { stat: ask, read }: OpenFile,
  most: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const found = await ask();
  if (!found.isFile()) throw new RouterFailure('unreadable-answer', `${file} is not a regular file`);
  if (found.size > most) {
    throw new RouterFailure('unreadable-answer', `${file} has ${found.size} bytes, more than any list of ours`);
  }
  if (signal.aborted) throw stoppedInTime(signal);
  return read(found.size);
}

/** Only what can be read back is ever known to be there. */
function requireReadable(file: string, text: readonly Uint8Array[], most: number): void {
  const bytes = text.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= most) return;
  const because = `${file} would have ${bytes} bytes, and no more than ${most} are read back; nothing was written`;
  throw new RouterFailure('too-large', because);
}

/** A list that is not there is absent only where its directory can be reached. */
async function requireDirectory(path: string): Promise<void> {
  try {
    await access(path, constants.X_OK);
  } catch (error) {
    throw asFailure(error, path, 'unreachable');
  }
}

function prefixesOf(file: string, text: string): readonly string[] {
  if (text === '') return [];
  if (!text.endsWith('\n')) throw new RouterFailure('unreadable-answer', `the last line of ${file} is cut off`);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line, at) => {
      const cidr = canonicalCidr(line);
      if (cidr !== undefined) return cidr;
      const shown = JSON.stringify(line.slice(0, 60));
      throw new RouterFailure('unreadable-answer', `line ${at + 1} of ${file} is no canonical CIDR: ${shown}`);
    })
    .sort(compareCidrs)
    .map(formatCidr);
}

async function writeDurably(file: string, text: readonly Uint8Array[]): Promise<void> {
  await withOpenFile(
    file,
    WRITE_FLAGS,
    async ({ write, sync }) => {
      await write(text);
      await sync();
    },
    FILE_MODE,
  );
}

/** The new name must be on disk before anyone hears that the list is there. */
async function syncDirectory(path: string): Promise<void> {
  try {
    await withOpenFile(path, constants.O_RDONLY | constants.O_DIRECTORY, ({ sync }) => sync());
  } catch (error) {
    throw new RouterFailure('outcome-unknown', `${path} could not be synced to disk`, { cause: error });
  }
}

function ignoreMissing(file: string, failure: unknown): void {
  if (codeOf(failure) !== 'ENOENT') throw asFailure(failure, file, 'rejected');
}

function asFailure(error: unknown, file: string, otherwise: RouterFailureCode): RouterFailure {
  if (error instanceof RouterFailure) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  return new RouterFailure(CODES[code ?? ''] ?? otherwise, `${file}: ${text}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
