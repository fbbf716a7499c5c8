import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppedWaiting } from '../driver-kit/driver-calls.ts';
import type { RemoteCommand } from './remote-command.ts';
import { readSections, type Section } from './section-reader.ts';

/** A talk with a command that divides its output by lines `<mark> <word> <rest>` and takes lines on its input. */
export type ShellSession = Readonly<{
  /** The next section. @throws RouterFailure when the command ends without one, prints too much, is lost, or the signal aborts. */
  next: () => Promise<Section>;
  say: (text: string) => void;
  /** Ends the command's input and waits for its end, for half a minute at most: the signal may have served its call already. */
  finish: () => Promise<void>;
  /** The end of what the command complained about. */
  complaints: () => string;
  /** Lets go of the command in whatever state it is; it sees the end of its input. */
  abandon: () => void;
}>;

export type ShellSessionLimits = Readonly<{ mark: string; outputBytes: number; clock: Clock; signal: AbortSignal }>;

const COMPLAINT_CHARACTERS = 4096;
const SHOWN_CHARACTERS = 500;
/** Enough to take a change back that was not kept. */
const FINISH_MILLISECONDS = 30_000;
const NO_ANSWER = stoppedWaiting("the router's shell had not answered");

/** Begins to read what a command prints. A session that is stopped fails with `timed-out`: what that means is the caller's to say. */
export function openShellSession(
  command: RemoteCommand,
  { mark, outputBytes, clock, signal }: ShellSessionLimits,
): ShellSession {
  const sections = readSections(command, mark, outputBytes);
  let complaints = '';
  command.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString('utf8')).slice(-COMPLAINT_CHARACTERS);
  });
  command.stderr.on('error', () => undefined);
  const onAbort = (): void => sections.stop(NO_ANSWER(signal));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const forget = (): void => signal.removeEventListener('abort', onAbort);
  command.exit.then(forget, forget);

  const shownComplaints = (): string => complaints.trim().slice(-SHOWN_CHARACTERS);

  return {
    complaints: shownComplaints,
    next: async () => {
      const section = await sections.next();
      if ('word' in section) return section;
      const said = `${sections.rest().slice(-SHOWN_CHARACTERS).trim()} ${shownComplaints()}`.trim();
      const end = section.signal ?? `code ${section.code ?? 'unknown'}`;
      throw new RouterFailure('rejected', `the router's shell ended early (${end})${said && `: ${said}`}`);
    },
    say: (text) => void command.stdin.write(text),
    finish: async () => {
      command.stdin.end();
      const over = new AbortController();
      const timer = clock.wait(FINISH_MILLISECONDS, over.signal).then(
        () => sections.stop(new RouterFailure('timed-out', "the router's shell has not ended")),
        () => undefined,
      );
      try {
        while ('word' in (await sections.next()));
      } finally {
        over.abort();
        await timer;
      }
    },
    abandon: () => {
      forget();
      sections.stop(new RouterFailure('unreachable', 'the session is over'));
      command.abandon();
    },
  };
}
