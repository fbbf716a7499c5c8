import { spawn } from 'node:child_process';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppedInTime } from '../driver-kit/driver-calls.ts';
import type { CommandExit, CommandTransport, RemoteCommand } from './remote-command.ts';

/** Runs the commands on this machine, for an edgeward that stands beside its router. */
export function createLocalTransport(): CommandTransport {
  const running = new Set<RemoteCommand>();
  return {
    start: async (words, signal) => {
      if (signal.aborted) throw stoppedInTime(signal);
      const command = await startLocally(words);
      running.add(command);
      const forget = (): boolean => running.delete(command);
      command.exit.then(forget, forget);
      return command;
    },
    close: async () => {
      for (const command of running) command.abandon();
    },
  };
}

async function startLocally([program = '', ...args]: readonly string[]): Promise<RemoteCommand> {
  // In a process group of its own: a Ctrl-C for the server must not reach a change that is half done.
  const child = spawn(program, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = new Promise<CommandExit>((resolve, reject) => {
    child.once('close', (code, signal) => resolve({ code, signal: signal ?? undefined }));
    child.once('error', (cause) => reject(notStarted(program, cause)));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    exit.catch(reject);
  });
  // Writing to a command that has ended is no news: its exit tells.
  child.stdin.on('error', () => undefined);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exit,
    abandon: () => {
      child.stdin.destroy();
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
    },
  };
}

function notStarted(program: string, cause: Error): RouterFailure {
  const isMissing = 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'EACCES');
  return new RouterFailure(isMissing ? 'bad-option' : 'unreachable', `${program} can't be started: ${cause.message}`, {
    cause,
  });
}
