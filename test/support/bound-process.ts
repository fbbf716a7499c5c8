import { type ChildProcess, spawn } from 'node:child_process';

/** Starts a server that ends with this process, however this process ends. */
export function startBoundProcess(words: readonly string[]): ChildProcess {
  const [program, ...args] = ['setpriv', '--pdeathsig', 'KILL', ...words];
  return spawn(program, args, { stdio: 'ignore' });
}
