import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The paths of all files in a folder and the folders in it, in order. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
