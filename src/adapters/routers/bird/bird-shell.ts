import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { type ShellSession, openShellSession } from '../shell/shell-session.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import type { Section } from '../shell/section-reader.ts';
import { answerIn, valueIn } from './bird-answers.ts';
import { BIRD_SCRIPT, LOCK_SECONDS, MARK } from './bird-script.ts';
import { symbolsOf } from './bird-symbols.ts';

/** Where BIRD is on the router. */
export type BirdPlace = Readonly<{
  prefix: readonly string[];
  birdc: string;
  socket: string;
  directory: string;
  /** After so long without a word BIRD undoes a change by itself. */
  confirmSeconds: number;
  /** After so long the router's shell gives up on us, and undoes what was not confirmed (default 300). */
  sessionSeconds?: number;
}>;

/** A list on the router: its file, undefined where there is none, and the edition that BIRD uses, undefined where it knows none. */
export type HeldList = Readonly<{ file: string | undefined; edition: string | undefined }>;

/** BIRD behind a shell. */
export type BirdShell = Readonly<{
  check: (signal: AbortSignal) => Promise<void>;
  read: (list: string, signal: AbortSignal) => Promise<HeldList>;
  /** The names of all files of lists. */
  names: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Takes the router's lock and holds it until `finish` or `abandon`. */
  begin: (list: string, signal: AbortSignal) => Promise<BirdChange>;
}>;

/** A change under the router's lock. However it ends before `confirm` was said, the router goes back to what it had. */
export type BirdChange = Readonly<{
  held: HeldList;
  /** Writes the new file aside. A change without one takes the list away. */
  upload: (text: string) => Promise<void>;
  /** Lets BIRD check its configuration with the new file in place, and puts the old one back. @throws RouterFailure `rejected` */
  tryOut: () => Promise<void>;
  /** What the router has now. */
  show: () => Promise<HeldList>;
  /**
   * Puts it in place, and lets BIRD check it and load it for a while; gives the edition that BIRD then uses.
   * @throws RouterFailure `rejected` by BIRD, `outcome-unknown` when no answer comes
   */
  apply: () => Promise<string | undefined>;
  /** Keeps what was loaded; gives the edition that BIRD then uses. @throws RouterFailure `outcome-unknown` */
  confirm: () => Promise<string | undefined>;
  finish: () => Promise<void>;
  abandon: () => void;
}>;

/** Two million prefixes are 48 MB. */
const OUTPUT_BYTES = 64 * 1024 * 1024;
const SESSION_SECONDS = 300;
/** Of the files that BIRD includes. */
const ENDING = '.conf';

export function createBirdShell(transport: CommandTransport, place: BirdPlace, clock: Clock): BirdShell {
  const talk = async (
    mode: 'check' | 'names' | 'read' | 'change',
    list: string,
    signal: AbortSignal,
  ): Promise<ShellSession> => {
    const { prefix, birdc, socket, directory, confirmSeconds, sessionSeconds = SESSION_SECONDS } = place;
    const script = ['timeout', String(sessionSeconds), 'sh', '-c', BIRD_SCRIPT, 'edgeward', mode, list];
    const seconds = [confirmSeconds, LOCK_SECONDS].map(String);
    const parameters = [symbolsOf(list).edition, directory, socket, ...seconds, birdc];
    const command = await transport.start([...prefix, ...script, ...parameters], signal);
    return openShellSession(command, { mark: MARK, outputBytes: OUTPUT_BYTES, clock, signal });
  };

  return {
    check: async (signal) => {
      const check = await talk('check', '', signal);
      await orAbandon(check, async () => {
        await expectAnswer(check, 'status', 'the check');
        await expectAnswer(check, 'checked', 'the configuration as it is');
        await check.finish();
      });
    },
    read: async (list, signal) => {
      const reading = await talk('read', list, signal);
      return orAbandon(reading, async () => {
        const held = await expectList(reading, list);
        await reading.finish();
        return held;
      });
    },
    names: async (signal) => {
      const reading = await talk('names', '', signal);
      return orAbandon(reading, async () => {
        await expectAnswer(reading, 'status', 'all lists');
        const { text } = await expect(reading, 'names');
        await reading.finish();
        return text.split('\n').flatMap((name) => (name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []));
      });
    },
    begin: async (list, signal) => {
      const change = await talk('change', list, signal);
      return orAbandon(change, async () => changeOf(change, list, await expectList(change, list), signal));
    },
  };
}

function changeOf(talk: ShellSession, list: string, held: HeldList, signal: AbortSignal): BirdChange {
  /** From "apply" on an answer that doesn't come is no failure: the router's shell goes on by itself. */
  const hear = async (word: string): Promise<string> => {
    const section = await expect(talk, word, 'failed').catch((cause: unknown) => {
      throw unknownOutcome(list, signal, cause);
    });
    if (section.word === 'failed') throw scriptFailure(section.rest);
    return section.text;
  };
  return {
    held,
    upload: async (text) => {
      talk.say(`upload ${Buffer.byteLength(text)}\n${text}`);
      await expect(talk, 'uploaded');
    },
    tryOut: async () => {
      talk.say('try\n');
      answerIn((await expect(talk, 'checked')).text, `${list} would not be loaded`);
    },
    show: async () => {
      talk.say('show\n');
      return expectShown(talk, list);
    },
    apply: async () => {
      talk.say('apply\n');
      answerIn(await hear('checked'), `${list} was not loaded`);
      answerIn(await hear('configured'), `${list} was not loaded`);
      return valueIn(await hear('edition'), list);
    },
    confirm: async () => {
      talk.say('confirm\n');
      await hear('confirmed');
      return valueIn(await hear('edition'), list);
    },
    finish: talk.finish,
    abandon: talk.abandon,
  };
}

function unknownOutcome(list: string, signal: AbortSignal, cause: unknown): RouterFailure {
  const because = cause instanceof Error ? cause.message : String(cause);
  const shown = signal.aborted ? 'the wait was stopped' : because;
  return new RouterFailure('outcome-unknown', `${list} was sent, but its outcome was not seen: ${shown}`, {
    cause: signal.aborted ? signal.reason : cause,
  });
}

async function orAbandon<T>(talk: ShellSession, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    talk.abandon();
    throw failure;
  }
}

async function expect(talk: ShellSession, ...words: readonly string[]): Promise<Section> {
  for (;;) {
    const section = await talk.next();
    if (words.includes(section.word)) return section;
    if (section.word === 'failed') throw scriptFailure(section.rest);
    if (section.word !== 'waiting') {
      const wanted = words.join(' or ');
      throw new RouterFailure('unreadable-answer', `the router's shell answered ${section.word} in place of ${wanted}`);
    }
  }
}

async function expectAnswer(talk: ShellSession, word: string, what: string): Promise<void> {
  answerIn((await expect(talk, word)).text, what);
}

async function expectEdition(talk: ShellSession, list: string): Promise<string | undefined> {
  return valueIn((await expect(talk, 'edition')).text, list);
}

async function expectList(talk: ShellSession, list: string): Promise<HeldList> {
  await expectAnswer(talk, 'status', list);
  return expectShown(talk, list);
}

async function expectShown(talk: ShellSession, list: string): Promise<HeldList> {
  const edition = await expectEdition(talk, list);
  const { word, rest, text } = await expect(talk, 'file', 'absent');
  if (word === 'absent') return { file: undefined, edition };
  if (rest === '0') return { file: text, edition };
  throw new RouterFailure('not-permitted', `the file of ${list} can't be read by this user`);
}

const SCRIPT_FAILURES: Readonly<Record<string, (detail: string) => RouterFailure>> = {
  locked: () => new RouterFailure('locked', `another change on this router was not over after ${LOCK_SECONDS} s`),
  'no-birdc': (path) =>
    new RouterFailure('bad-option', `there is no ${path} on the router: option birdc must be the path of BIRD's birdc`),
  'no-flock': () =>
    new RouterFailure('rejected', 'there is no flock on the router (package util-linux); it keeps two changes apart'),
  'no-directory': (directory) =>
    new RouterFailure('bad-option', `there is no directory ${directory}: make it, or let option directory say another`),
  'directory-not-permitted': (directory) =>
    new RouterFailure('not-permitted', `${directory} must be readable and writable for this user`),
  'no-socket': (socket) =>
    new RouterFailure(
      'unreachable',
      `there is no socket ${socket}: BIRD does not run, or option socket must say where its control socket is`,
    ),
  'socket-not-permitted': (socket) =>
    new RouterFailure('not-permitted', `${socket} may not be used: the user must be in BIRD's group (bird)`),
  'no-room': () => new RouterFailure('rejected', 'the directory of the lists has no room for another file'),
};

function scriptFailure(line: string): RouterFailure {
  const [reason = '', ...detail] = line.split(' ');
  const failure = SCRIPT_FAILURES[reason]?.(detail.join(' '));
  return failure ?? new RouterFailure('unreadable-answer', `the router's shell failed: ${line}`);
}
