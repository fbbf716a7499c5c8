import type { Readable, Writable } from 'node:stream';

/** How a command ended: by itself with a code, or by a signal. */
export type CommandExit = Readonly<{ code: number | null; signal: string | undefined }>;

/** A command that runs on a router. Its end is seen only when its output is read. */
export type RemoteCommand = Readonly<{
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Rejects with RouterFailure `unreachable` when the way to the router was lost before the end was seen. */
  exit: Promise<CommandExit>;
  /** Lets go of the command: its input ends and nothing more is read from it. It is not killed, and may run on. */
  abandon: () => void;
}>;

/** A way to a router's shell. */
export type CommandTransport = Readonly<{
  /** Starts a program with its arguments, exactly as they are. @throws RouterFailure */
  start: (words: readonly string[], signal: AbortSignal) => Promise<RemoteCommand>;
  close: () => Promise<void>;
}>;
