import { readFile, rename, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Beside `events.db`, `evidence` and `secrets` of a backup. */
const NOTE = 'backup.json';

const note = z.strictObject({
  at: z.string(),
  version: z.string(),
  events: z.int(),
  evidence: z.int(),
  secrets: z.int().nullable(),
});

/** What a directory says of the backup in it; `undefined`: it is none that was ended. */
export async function readBackUpNote(directory: string): Promise<z.infer<typeof note> | undefined> {
  const file = join(directory, NOTE);
  return existsSync(file) ? note.parse(JSON.parse(await readFile(file, 'utf8'))) : undefined;
}

export async function writeBackUpNote(directory: string, written: z.infer<typeof note>): Promise<void> {
  const file = join(directory, NOTE);
  await writeFile(`${file}.new`, `${JSON.stringify(written)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
