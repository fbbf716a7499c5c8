import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryFile } from '../repository.ts';
import { runProgram } from '../servers/run-program.ts';

/** What the tests keep from one run to the next: a minute of work, 500 MB. */
const LAB = process.env.EDGEWARD_LAB ?? join(tmpdir(), 'edgeward-lab');

/** A machine that boots with some user data: its own files and processes, and this machine's network. */
export type Machine = Readonly<{
  /** What it has said so far. */
  said: () => string;
  /** Resolves when the worker has ended by itself. */
  ended: Promise<void>;
  /** Switches it off. */
  off: () => Promise<void>;
}>;

/** What is missing here to boot a machine, in words; undefined when nothing is. */
export function missingForFirstBoot(): string | undefined {
  if (process.getuid?.() !== 0) return 'root';
  if (spawnSync('unshare', ['--mount', '--uts', '--ipc', '--pid', '--fork', 'true']).status !== 0) return 'unshare';
  return spawnSync('mmdebstrap', ['--version']).status === 0 ? undefined : 'mmdebstrap (package mmdebstrap)';
}

/** Builds the image, where it is not there yet. */
export async function buildFirstBootImage(): Promise<void> {
  await runProgram(['sh', repositoryFile('test/support/worker-pools/build-first-boot.sh'), LAB]);
}

/** Boots a machine by cloud-init, in a folder of the caller's. */
export function bootMachine(folder: string, userData: string): Machine {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'user-data'), userData);
  const script = repositoryFile('test/support/worker-pools/boot-machine.sh');
  const child: ChildProcess = spawn('sh', [script, LAB, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => void (said += String(text)));
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  return {
    said: () => said,
    ended,
    off: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
