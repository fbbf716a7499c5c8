import type { CoverText } from '../addresses/cover-text.ts';

/**
 * One connection to one router. Lists are given and taken as canonical CIDR text, IPv4 first, then IPv6, numeric order;
 * a host is written with its length (`192.0.2.7/32`). Only lists with our prefix (`Svc-`) are ever touched.
 * Every call obeys its signal: stopped before a change was put in force it fails with `timed-out`, and the message says what was waited
 * for; after that with `outcome-unknown`. The failure's cause is the signal's reason. Nothing but RouterFailure is thrown.
 */
export type RouterDriver = Readonly<{
  /**
   * What the router holds under this name, from the part of it that uses the list, once changes that run there are over.
   * An entry that is more than a permitted CIDR is given in the dialect's words (`192.0.2.0/24 le 32`), so that it equals
   * none of ours. After an empty `replace` the answer is `[]` or `'absent'`, as the dialect has it.
   */
  read: (list: string, signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  /**
   * Makes the list hold exactly `prefixes`, by the smallest change in one step; empty has the dialect's safe meaning (matches nothing).
   * Compares first: a list that holds them already is not touched. Resolving is no proof: the caller reads back. @throws RouterFailure;
   * `not-saved` when the change is in force and the router will have lost it after a restart
   */
  replace: (list: string, prefixes: readonly string[], signal: AbortSignal, options?: ReplaceOptions) => Promise<void>;
  /**
   * Takes the list away from the router; one that is absent already is left alone. Where a dialect's empty list is none, that is
   * what it makes. Refused (`rejected`) by routers whose configuration still uses the list. @throws RouterFailure; `not-saved` when it is
   * gone until the router restarts
   */
  remove: (list: string, signal: AbortSignal) => Promise<void>;
  /** The names of the lists with our prefix that the router has, sorted. @throws RouterFailure */
  lists: (signal: AbortSignal) => Promise<readonly string[]>;
  /**
   * Where the driver can hold a change back: has the router check it, and puts nothing in force. Holds the router until the change
   * is kept or taken back: the one who prepares must end it. Undefined when this very router can't. A driver that knows how long its routers
   * take asks whether `replace` would do it in that time, and lets go again. @throws RouterFailure
   */
  prepare?: (
    list: string,
    prefixes: readonly string[],
    signal: AbortSignal,
    options?: ReplaceOptions,
  ) => Promise<PreparedChange | undefined>;
  /**
   * Where a router starts with another configuration than the one that runs: saves what runs. @throws RouterFailure `not-saved`
   */
  save?: (signal: AbortSignal) => Promise<void>;
  /**
   * Reachable, logged in, and allowed to write; changes nothing. @throws RouterFailure `not-saved` when what is written would be in force
   * and could not be saved, as far as that can be seen
   */
  check: (signal: AbortSignal) => Promise<void>;
  /** Where what a router holds is the list's text itself. */
  text?: ListsAsText;
  /** The folder of the server that it writes into, where it writes files: made when the router is added. */
  folder?: string;
  /** Lets no more calls begin, and closes when those that run are over. */
  close: () => Promise<void>;
}>;

/**
 * Lists as they are kept: canonical blocks, one a line, each line ended by a newline. `read` and `replace` do the same by entries; of very
 * long lists nobody has to make entries to see that they hold what they should.
 */
export type ListsAsText = Readonly<{
  /** What is there, whatever it is. @throws RouterFailure */
  read: (list: string, signal: AbortSignal) => Promise<Uint8Array | 'absent'>;
  /** Makes the list hold exactly this, as `replace` does. @throws RouterFailure */
  replace: (list: string, wanted: CoverText, signal: AbortSignal) => Promise<void>;
}>;

/**
 * A change that a router has checked. Until `confirm` the router goes back to what it had by itself, at the latest when its timer
 * is over: also when this process, or the way to the router, is gone.
 */
export type PreparedChange = Readonly<{
  /** What the list held. */
  before: readonly string[] | 'absent';
  /** Puts it in force for a while; nothing is sent to a router that holds it already. @throws RouterFailure */
  commit: (signal: AbortSignal) => Promise<void>;
  /** What the list holds now. @throws RouterFailure */
  read: (signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  /** Keeps it, and lets go of the router, whatever comes of it. Only reading back decides. @throws RouterFailure */
  confirm: (signal: AbortSignal) => Promise<void>;
  /** Has the router go back to what it had, and lets go of it; does nothing after `confirm`. Reading back tells. */
  undo: () => Promise<void>;
}>;

/** `timeoutMilliseconds`: how long the caller is going to wait, so that what can't be done by then is refused before it is begun. */
export type ReplaceOptions = Readonly<{ timeoutMilliseconds?: number }>;

/**
 * Why a router did not do it. `outcome-unknown`: the change was sent and no answer came; only reading back decides. `not-saved`: it is in
 * force, and the router does not keep it over a restart.
 */
export type RouterFailureCode =
  | 'bad-option'
  | 'unreachable'
  | 'host-key-mismatch'
  | 'login-refused'
  | 'not-permitted'
  | 'locked'
  | 'rejected'
  | 'too-large'
  | 'timed-out'
  | 'outcome-unknown'
  | 'not-saved'
  | 'unreadable-answer';

/** A router said no, or said nothing. The message is for an operator and holds no secret. */
export class RouterFailure extends Error {
  override readonly name = 'RouterFailure';
  readonly code: RouterFailureCode;
  /** With `too-large`: about how many new entries the router would take in that time, so that a list can come in slices. */
  readonly possible: number | undefined;
  constructor(code: RouterFailureCode, message: string, options?: ErrorOptions & Readonly<{ possible?: number }>) {
    super(message, options);
    this.code = code;
    this.possible = options?.possible;
  }
}

/**
 * A router as it is configured: which driver, and that driver's own options (validated by the driver).
 * An option that is a secret holds `secret:<id>`, or the absolute path of a file that has it; never the secret itself.
 */
export type RouterSettings = Readonly<{ name: string; driver: string; options: Readonly<Record<string, string>> }>;

/**
 * What an option of a driver gives access to, beside the router: `secret`, a secret or file of the server (`secret:<id>`, or an absolute
 * path); `folder`, a folder of the server; `machine`, programs and files of the machine that the driver's commands run on.
 */
export type RouterOptionReach = 'secret' | 'folder' | 'machine';

/** A driver that ships, as far as those who let others choose its options must know it. */
export type RouterDriverReach = Readonly<{
  driver: string;
  options: readonly Readonly<{ name: string; reach: RouterOptionReach | undefined }>[];
  /** The choice with which the driver's commands run on the server itself; undefined where all of them do, or it has none. */
  here: Readonly<{ option: string; value: string }> | undefined;
}>;

/** Opens a driver for a router, or throws RouterFailure `bad-option` with a message that names the option and what would be right. */
export type OpenRouter = (router: RouterSettings) => RouterDriver;
