import { readFile, rename } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { syncDirectory, unlinkIfThere, writeDurably } from './durable-files.ts';

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

/** Says of the backup in a directory that it is whole. The note is on disk when this resolves. */
export async function writeBackUpNote(directory: string, written: z.infer<typeof note>): Promise<void> {
  const file = join(directory, NOTE);
  const draft = `${file}.new`;
  await unlinkIfThere(draft);
  await writeDurably(draft, `${JSON.stringify(written)}\n`);
  await rename(draft, file);
  await syncDirectory(directory);
}
