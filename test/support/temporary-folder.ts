import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, and what removes it with all that is in it; the end of the process does so, too. */
export async function temporaryFolder(): Promise<Readonly<{ path: string; remove: () => Promise<void> }>> {
  const path = await mkdtemp(join(tmpdir(), 'edgeward-test-'));
  const removeAtExit = (): void => rmSync(path, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  return {
    path,
    remove: async () => {
      process.off('exit', removeAtExit);
      await rm(path, { recursive: true, force: true });
    },
  };
}
