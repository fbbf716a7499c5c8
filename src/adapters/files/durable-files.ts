import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';

/** Only the service's own user may read it. */
const FILE_MODE = 0o600;

/** Makes a file whose text is on disk when this resolves. @throws with code `EEXIST` where it is there */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', FILE_MODE);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file that was made, moved or removed is so after a power cut, too, once the directory of its name is on disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** Whether the operating system has refused with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
