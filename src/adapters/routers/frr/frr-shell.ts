import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { type ShellSession, openShellSession } from '../shell/shell-session.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import type { Section } from '../shell/section-reader.ts';
import { complaintsIn, entriesIn, majorVersionIn, namesIn } from './frr-answers.ts';
import type { HeldList } from './frr-change.ts';
import { loadersIn, type RouterSpeed } from './frr-load-time.ts';
import { FRR_SCRIPT, LOCK_SECONDS, MARK } from './frr-script.ts';

/** Where vtysh is, which router it shall talk to, and the daemon that uses the lists. */
export type FrrPlace = Readonly<{
  prefix: readonly string[];
  vtysh: readonly string[];
  sockets: string;
  /** The directory of the configuration that FRR starts with. */
  configuration: string;
  daemon: string;
}>;

/** FRR behind a shell. */
export type FrrShell = Readonly<{
  /** `saves`: what is put there is to be saved, too. */
  check: (saves: boolean, signal: AbortSignal) => Promise<void>;
  read: (list: string, signal: AbortSignal) => Promise<HeldList>;
  /** The names of all lists, ours and others. */
  names: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Saves the configuration that runs; what the router said against it, or undefined when it is saved. */
  save: (signal: AbortSignal) => Promise<string | undefined>;
  /** Takes the router's lock and holds it until `finish` or `abandon`. */
  begin: (list: string, signal: AbortSignal) => Promise<FrrChange>;
}>;

/** What vtysh complained about when it applied a change, and the list thereafter. */
export type Applied = Readonly<{ complaints: readonly string[]; held: HeldList }>;

/** A change under the router's lock: nothing is applied before `apply`. */
export type FrrChange = Readonly<{
  speed: RouterSpeed;
  held: HeldList;
  /** Uploads a file for vtysh and lets it be checked without applying it. @throws RouterFailure `rejected` */
  prepare: (text: string) => Promise<void>;
  apply: () => Promise<Applied>;
  /** Saves the configuration that runs; what the router said against it, or undefined when it is saved. */
  save: () => Promise<string | undefined>;
  finish: () => Promise<void>;
  abandon: () => void;
}>;

/** A million entries are 110 MB of JSON. */
const OUTPUT_BYTES = 128 * 1024 * 1024;

/** The vtysh of FRR 10 cuts a `show` of a longer name short; then all lists are shown, and the one is picked. */
const LONGEST_SHOWN_NAME = 97;

export function createFrrShell(transport: CommandTransport, place: FrrPlace, clock: Clock): FrrShell {
  const talk = async (
    mode: 'check' | 'names' | 'read' | 'change' | 'save',
    list: string,
    signal: AbortSignal,
  ): Promise<ShellSession> => {
    const asked = list.length > LONGEST_SHOWN_NAME ? '' : list;
    const parameters = [
      mode,
      asked,
      place.daemon,
      place.sockets,
      place.configuration,
      String(LOCK_SECONDS),
      ...place.vtysh,
    ];
    const command = await transport.start([...place.prefix, 'sh', '-c', FRR_SCRIPT, 'edgeward', ...parameters], signal);
    return openShellSession(command, { mark: MARK, outputBytes: OUTPUT_BYTES, clock, signal });
  };

  return {
    check: async (saves, signal) => {
      const check = await talk('check', '', signal);
      await orAbandon(check, async () => {
        await expectVersion(check);
        const configure = await expect(check, 'configure');
        refuseComplaints('the router lets nobody configure it now', configure);
        if ((await expect(check, 'savable')).rest === 'no' && saves) throw notSavable(place);
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
        const names = [...namesIn(await expectShown(reading, 'ip')), ...namesIn(await expectShown(reading, 'ipv6'))];
        await reading.finish();
        return names;
      });
    },
    save: async (signal) => {
      const saving = await talk('save', '', signal);
      return orAbandon(saving, async () => {
        const complaint = complaintOf(await expect(saving, 'saved'));
        await saving.finish();
        return complaint;
      });
    },
    begin: async (list, signal) => {
      const change = await talk('change', list, signal);
      return orAbandon(change, async () => {
        const majorVersion = await expectVersion(change);
        const loaders = loadersIn((await expect(change, 'daemons')).text);
        return changeOf(change, list, { majorVersion, loaders }, await expectList(change, list));
      });
    },
  };
}

function changeOf(talk: ShellSession, list: string, speed: RouterSpeed, held: HeldList): FrrChange {
  return {
    speed,
    held,
    prepare: async (text) => {
      talk.say(`upload ${Buffer.byteLength(text)}\n${text}`);
      refuseComplaints(
        `${list}: the router does not understand the change, nothing was applied`,
        await expect(talk, 'checked'),
      );
    },
    apply: async () => {
      talk.say('apply\n');
      const { text } = await expect(talk, 'applied');
      return { complaints: complaintsIn(text), held: await expectList(talk, list) };
    },
    save: async () => {
      talk.say('save\n');
      return complaintOf(await expect(talk, 'saved'));
    },
    finish: talk.finish,
    abandon: talk.abandon,
  };
}

/** FRR says so of the one file that vtysh or watchfrr writes, and of the one that each daemon writes. */
const SAVED = /^(?:Integrated c|C)onfiguration saved to /m;
/** It is saved all the same, and FRR reads it as root. */
const HARMLESS = /^% Warning: can't ch(?:own|mod) configuration file/;

function complaintOf({ rest, text }: Section): string | undefined {
  const complaints = complaintsIn(text).filter((line) => !HARMLESS.test(line));
  if (rest === '0' && complaints.length === 0 && SAVED.test(text)) return undefined;
  return complaints.slice(0, 3).join('; ') || shown(text) || `code ${rest}`;
}

function notSavable({ configuration }: FrrPlace): RouterFailure {
  return new RouterFailure(
    'not-saved',
    `lists can be put in force and could not be saved, so that a restart of FRR loses them: ${configuration} and its frr.conf can't be ` +
      'written by this user, and watchfrr, which would write them, does not run. Run watchfrr, or let command_prefix make the commands run ' +
      'as frr, or choose write_memory=false',
  );
}

async function orAbandon<T>(talk: ShellSession, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    talk.abandon();
    throw failure;
  }
}

async function expect(talk: ShellSession, word: string): Promise<Section> {
  for (;;) {
    const section = await talk.next();
    if (section.word === word) return section;
    if (section.word === 'failed') throw scriptFailure(section.rest);
    if (section.word !== 'waiting') {
      throw new RouterFailure('unreadable-answer', `the router's shell answered ${section.word} in place of ${word}`);
    }
  }
}

async function expectVersion(talk: ShellSession): Promise<number> {
  const { rest, text } = await expect(talk, 'version');
  if (rest === '0') return majorVersionIn(text);
  throw new RouterFailure('unreachable', `the daemon that uses the lists does not answer: ${shown(text)}`);
}

async function expectList(talk: ShellSession, list: string): Promise<HeldList> {
  return { ip: await expectFamily(talk, 'ip', list), ipv6: await expectFamily(talk, 'ipv6', list) };
}

async function expectFamily(talk: ShellSession, family: 'ip' | 'ipv6', list: string): Promise<HeldList['ip']> {
  return entriesIn(await expectShown(talk, family), list);
}

async function expectShown(talk: ShellSession, family: 'ip' | 'ipv6'): Promise<string> {
  const section = await expect(talk, family);
  if (section.rest === '0' && !DAEMON_LOST.test(section.text)) return section.text;
  const because = shown(section.text) || talk.complaints();
  throw new RouterFailure('unreachable', `the router shows no prefix-lists: ${because}`);
}

/** How an answer ends whose daemon died; vtysh's exit code is 0 all the same. */
const DAEMON_LOST = /closing connection to \S+ because of an I\/O error!\s*$/;

function refuseComplaints(what: string, section: Section): void {
  const complaints = complaintsIn(section.text);
  if (section.rest === '0' && complaints.length === 0) return;
  const because = complaints.slice(0, 3).join('; ') || shown(section.text) || `vtysh ended with code ${section.rest}`;
  throw new RouterFailure(LOCKED.test(because) ? 'locked' : 'rejected', `${what}: ${because}`);
}

/** As FRR says it in its versions. */
export const LOCKED = /\block(ed)?\b/i;

const SCRIPT_FAILURES: Readonly<Record<string, (detail: string) => RouterFailure>> = {
  locked: () => new RouterFailure('locked', `another change on this router was not over after ${LOCK_SECONDS} s`),
  'no-vtysh': (path) =>
    new RouterFailure('bad-option', `there is no ${path} on the router: option vtysh must be the path of FRR's vtysh`),
  'no-flock': () =>
    new RouterFailure('rejected', 'there is no flock on the router (package util-linux); it keeps two changes apart'),
  'no-sockets': (directory) =>
    new RouterFailure(
      'bad-option',
      `FRR's sockets are not in ${directory}: FRR does not run, or option pathspace or vty_socket must say where they are`,
    ),
  'no-daemon': (socket) =>
    new RouterFailure(
      'unreachable',
      `${socket} is missing: the daemon that uses the lists (option daemon) does not run`,
    ),
  'not-permitted': (socket) =>
    new RouterFailure('not-permitted', `${socket} may not be used: the user must be in the groups frrvty and frr`),
  'no-temporary': () => new RouterFailure('rejected', 'the router has no room for a temporary file'),
};

function scriptFailure(line: string): RouterFailure {
  const [reason = '', ...detail] = line.split(' ');
  const failure = SCRIPT_FAILURES[reason]?.(detail.join(' '));
  return failure ?? new RouterFailure('unreadable-answer', `the router's shell failed: ${line}`);
}

function shown(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ').slice(0, 300);
}
