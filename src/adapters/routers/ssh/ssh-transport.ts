import type { CommandTransport } from '../shell/remote-command.ts';
import type { SshSession } from './ssh-session.ts';

/** Runs commands on a router over SSH; its login shell must be a POSIX one. */
export function createSshTransport(session: SshSession): CommandTransport {
  return {
    start: (words, signal) => session.exec(words.map(quoteForShell).join(' '), signal),
    close: () => session.close(),
  };
}

/** One word for a POSIX shell, whatever is in it. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
