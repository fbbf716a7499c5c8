import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, and what removes it with all that is in it. */
export async function temporaryFolder(): Promise<Readonly<{ path: string; remove: () => Promise<void> }>> {
  const path = await mkdtemp(join(tmpdir(), 'edgeward-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
