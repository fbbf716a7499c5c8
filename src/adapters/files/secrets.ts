import { randomUUID } from 'node:crypto';
import { chmodSync, constants, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, link, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Temporal } from '@js-temporal/polyfill';
import type { KeptSecret, Secrets } from '../../ports/secrets.ts';
import { hasCode, syncDirectory, unlinkIfThere, writeDurably } from './durable-files.ts';

/** Ids are file names: no separators, no dot in front, nothing that a shell or a file system reads in its own way. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const SECRET_BYTES_MAX = 64 * 1024;
const DIRECTORY_MODE = 0o700;
const OTHERS = 0o077;
/** Never through a symbolic link, never waiting for the other end of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Secrets as files that only the service's own user can read: one a secret, in a directory of their own, which is made
 * when it is not there. A value is on disk when `put` resolves, and a reader sees the old one or the new one, never a part.
 * A file that others may read is refused: the secret in it is no secret any more.
 */
export function openSecretFiles(directory: string): Secrets {
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  chmodSync(directory, DIRECTORY_MODE);
  removeLeftOvers(directory);
  return {
    get: async (id) => {
      const handle = await openForReading(fileOf(directory, id));
      if (handle === undefined) return undefined;
      try {
        return await valueIn(handle, id);
      } finally {
        await handle.close();
      }
    },
    put: (id, value) => place(directory, { id, value }, rename),
    putIfAbsent: (id, value) =>
      place(directory, { id, value }, async (draft, file) => {
        // A rename would take the place of what is there; a link does not.
        await link(draft, file).catch((error: unknown) => {
          if (!hasCode(error, 'EEXIST')) throw error;
        });
        await unlink(draft);
      }),
    remove: async (id) => {
      await unlinkIfThere(fileOf(directory, id));
      await syncDirectory(directory);
    },
    list: async () => {
      const names = (await readdir(directory)).filter((name) => ID.test(name)).toSorted();
      return (await Promise.all(names.map((id) => keptIn(directory, id)))).filter((kept) => kept !== undefined);
    },
  };
}

/** Writes a value whole under another name, then moves it to its own. */
async function place(
  directory: string,
  { id, value }: Readonly<{ id: string; value: string }>,
  move: (draft: string, file: string) => Promise<void>,
): Promise<void> {
  const file = fileOf(directory, id);
  const bytes = Buffer.byteLength(value);
  if (bytes > SECRET_BYTES_MAX)
    throw new RangeError(`secret ${id} has ${bytes} bytes, at most ${SECRET_BYTES_MAX} fit`);
  const draft = join(directory, `.${process.pid}-${randomUUID()}`);
  try {
    await writeDurably(draft, value);
    await move(draft, file);
  } catch (error) {
    await unlinkIfThere(draft);
    throw error;
  }
  await syncDirectory(directory);
}

/** A value is put by making its file; one that was removed meanwhile is not there. */
async function keptIn(directory: string, id: string): Promise<KeptSecret | undefined> {
  try {
    const stats = await lstat(join(directory, id));
    if (!stats.isFile()) return undefined;
    const since = Temporal.Instant.fromEpochMilliseconds(Math.floor(stats.mtimeMs));
    return { id, since: since.toString({ smallestUnit: 'millisecond', timeZone: 'UTC' }) };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function fileOf(directory: string, id: string): string {
  if (!ID.test(id))
    throw new RangeError(`${JSON.stringify(id)} is no id of a secret: letters, digits, "_", ".", "-", at most 128`);
  return join(directory, id);
}

async function openForReading(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, READ_FLAGS);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function valueIn(handle: FileHandle, id: string): Promise<string> {
  const { mode, size } = await handle.stat();
  if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error(`secret ${id} is not a file`);
  if ((mode & OTHERS) !== 0) {
    throw new Error(
      `secret ${id} can be read by others (mode ${(mode & 0o777).toString(8)}): replace it, and keep its file at 600`,
    );
  }
  if (size > SECRET_BYTES_MAX) throw new Error(`secret ${id} has ${size} bytes, at most ${SECRET_BYTES_MAX} are read`);
  return handle.readFile('utf8');
}

/** Drafts of processes that ended in the middle of a `put`. */
function removeLeftOvers(directory: string): void {
  for (const name of readdirSync(directory)) {
    const owner = /^\.(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && !isRunning(Number(owner))) rmSync(join(directory, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
