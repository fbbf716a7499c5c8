import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts a server that ends with this process, however this process ends. */
export function startBoundProcess(words: readonly string[]): ChildProcess {
  const [program, ...args] = ['setpriv', '--pdeathsig', 'KILL', ...words];
  return spawn(program, args, { stdio: 'ignore' });
}

/** Kills a server as a power cut would, and waits until it is gone. */
export async function killed(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
