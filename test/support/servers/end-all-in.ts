import { readdirSync, readFileSync } from 'node:fs';
import { waitUntil } from '../wait-until.ts';

/**
 * Kills what a router has begun and what outlives it, such as the shell of a change whose server was killed, and waits until it is gone:
 * all processes that name `mark`, which nothing but this router has, in their command line or in the environment that they began with.
 */
export async function endAllIn(mark: string): Promise<void> {
  await waitUntil(`nothing of ${mark} runs`, () => {
    const running = processesOf(mark);
    for (const pid of running) kill(pid);
    return running.length === 0;
  });
}

function processesOf(mark: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid && [`cmdline`, `environ`].some((file) => names(pid, file, mark)));
}

function names(pid: number, file: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(mark);
  } catch {
    // It has ended, or is none of ours to be looked at.
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
