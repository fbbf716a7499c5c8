import type { Duplex } from 'node:stream';
import { sharedRun } from '../../../concurrency/shared-run.ts';
import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { createRouterTurns, stoppable, stoppedWaiting } from '../driver-kit/driver-calls.ts';
import type { CommandTransport, RemoteCommand } from '../shell/remote-command.ts';
import { holdChannels, type SshChannels } from './ssh-channels.ts';
import { openConnection, type SshChannel, type SshConnection, type SshTarget } from './ssh-connection.ts';

/** How a session behaves; every bound has a default. */
export type SshSessionLimits = Readonly<{
  /** Bound on connecting and logging in, and on reading the key or password before that (default 10 s). */
  connectMilliseconds?: number;
  /** How often a silent router is asked whether it is there; after three questions without an answer it is lost (default 10 s). */
  keepAliveMilliseconds?: number;
  /** How long an unused connection is kept (default 30 s). */
  idleMilliseconds?: number;
  /** Channels at a time: routers allow few (OpenSSH: 10). Others wait (default 4). */
  channels?: number;
  /**
   * How long a router may take to confirm that a channel is closed (default 3 s). Then the connection is given up, as the program behind
   * the channel hangs, or the connection itself does; the next channel is opened on a new one.
   */
  closeMilliseconds?: number;
}>;

/**
 * One SSH connection to one router: made when it is first needed, shared, kept alive, closed when it is idle, made again when
 * it was lost or is no good. Fails with RouterFailure: `unreachable`, `host-key-mismatch`, `login-refused`, `bad-option` (a key or secret that
 * is missing or can't be read), `not-permitted` (logged in, but no such channel), `timed-out` when the signal aborts first.
 */
export type SshSession = Readonly<{
  /** Runs a command line in the user's login shell. */
  exec: (command: string, signal: AbortSignal) => Promise<RemoteCommand>;
  /** Opens a subsystem such as `netconf`: a channel without a shell. Destroying the channel gives its place back, also when the router
   * does not confirm it. */
  subsystem: (name: string, signal: AbortSignal) => Promise<Duplex>;
  close: () => Promise<void>;
}>;

const WAITING = 1000;
const DEFAULTS = {
  connectMilliseconds: 10_000,
  keepAliveMilliseconds: 10_000,
  idleMilliseconds: 30_000,
  channels: 4,
  closeMilliseconds: 3000,
};

type OpenChannel = (connection: SshConnection) => Promise<SshChannel>;

export function createSshSession(target: SshTarget, clock: Clock, limits: SshSessionLimits = {}): SshSession {
  const bounds = { ...DEFAULTS, ...limits };
  const turns = createRouterTurns(bounds.channels, WAITING);
  const closing = new AbortController();
  // A read that hangs keeps a thread of the process: there is never another one beside it.
  const login = sharedRun(target.login);
  const connections = keepConnection({ ...target, login }, clock, bounds, closing.signal);
  let channels = 0;
  let idle = new AbortController();

  const closeWhenIdle = async (): Promise<void> => {
    idle = new AbortController();
    try {
      await clock.wait(bounds.idleMilliseconds, idle.signal);
    } catch {
      // A new channel needs the connection, or the session was closed.
      return;
    }
    await connections.end();
  };

  /** Opens a channel and keeps its place until it is over; the place is taken before, so that routers don't refuse. */
  const open = (openChannel: OpenChannel, signal: AbortSignal): Promise<SshChannel> =>
    new Promise((resolve, reject) => {
      const hold = async (): Promise<void> => {
        if (closing.signal.aborted) throw new RouterFailure('unreachable', 'the SSH session is closed');
        channels += 1;
        idle.abort();
        try {
          const noChannel = stoppedWaiting(`no channel to ${target.host}, port ${target.port}, was open`);
          const on = await stoppable(signal, connections.connect(), noChannel);
          const { opened, over } = on.hold(() => openChannel(on.connection), signal, noChannel);
          opened.then(resolve, reject);
          await over;
        } finally {
          channels -= 1;
          if (channels === 0 && !closing.signal.aborted) void closeWhenIdle();
        }
      };
      turns.take(signal, hold).catch(reject);
    });

  return {
    exec: async (command, signal) => asCommand(await open((connected) => connected.exec(command), signal)),
    subsystem: async (name, signal) => (await open((connected) => connected.subsystem(name), signal)).channel,
    close: async () => {
      closing.abort();
      idle.abort();
      await connections.destroy();
    },
  };
}

/** The connection that new channels are opened on, and those that are no good for that any more. */
type KeptConnection = Readonly<{
  connect: () => Promise<SshChannels>;
  /** Says goodbye on the one in use, and ends it when the router does not answer that in time. */
  end: () => Promise<void>;
  /** Ends all of them. */
  destroy: () => Promise<void>;
}>;

function keepConnection(
  target: SshTarget,
  clock: Clock,
  bounds: Readonly<typeof DEFAULTS>,
  closing: AbortSignal,
): KeptConnection {
  let current: Promise<SshChannels> | undefined;
  const living = new Set<SshConnection>();
  const forget = (connecting: Promise<SshChannels>): void => {
    if (current === connecting) current = undefined;
  };
  const forgetWhenLost = async (connecting: Promise<SshChannels>): Promise<void> => {
    try {
      const { connection } = await connecting;
      living.add(connection);
      await connection.lost;
      living.delete(connection);
    } catch {
      // Who needs the connection hears of it.
    }
    forget(connecting);
  };
  return {
    connect: () => {
      if (current !== undefined) return current;
      const connecting: Promise<SshChannels> = openConnection(target, bounds, closing).then((connection) =>
        holdChannels(connection, { clock, closeMilliseconds: bounds.closeMilliseconds }, () => forget(connecting)),
      );
      current = connecting;
      void forgetWhenLost(connecting);
      return connecting;
    },
    end: async () => {
      const unused = current;
      current = undefined;
      await unused?.then(
        ({ connection }) => sayGoodbye(connection, clock, bounds.closeMilliseconds),
        () => undefined,
      );
    },
    destroy: async () => {
      await current?.catch(() => undefined);
      for (const connection of living) connection.destroy();
    },
  };
}

/** A router that has gone, or hangs, closes nothing. */
async function sayGoodbye(connection: SshConnection, clock: Clock, milliseconds: number): Promise<void> {
  const over = new AbortController();
  void connection.lost.then(() => over.abort());
  connection.end();
  await clock.wait(milliseconds, over.signal).then(connection.destroy, () => undefined);
}

function asCommand({ channel, exit }: SshChannel): RemoteCommand {
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr,
    exit,
    abandon: () => {
      channel.resume();
      channel.stderr.resume();
      channel.destroy();
    },
  };
}

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
