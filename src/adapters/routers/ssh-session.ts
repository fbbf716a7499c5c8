import type { Duplex } from 'node:stream';
import type { Clock } from '../../ports/clock.ts';
import { RouterFailure } from '../../ports/routers.ts';
import type { RemoteCommand } from './remote-command.ts';
import { openConnection, type SshChannel, type SshConnection, type SshTarget } from './ssh-connection.ts';
import { createTurns, stoppedInTime } from './turns.ts';

/** How a session behaves; every bound has a default. */
export type SshSessionLimits = Readonly<{
  /** Bound on connecting and logging in (default 10 s). */
  connectMilliseconds?: number;
  /** How often a silent router is asked whether it is there; after three questions without an answer it is lost (default 10 s). */
  keepAliveMilliseconds?: number;
  /** How long a connection that nobody uses is kept (default 30 s). */
  idleMilliseconds?: number;
  /** Channels at a time: routers allow few (OpenSSH: 10). Others wait (default 4). */
  channels?: number;
}>;

/**
 * One SSH connection to one router: made when it is first needed, shared, kept alive, closed when it is idle, made again when
 * it was lost. Fails with RouterFailure: `unreachable`, `host-key-mismatch`, `login-refused`, `bad-option` (a key or secret that
 * is missing or can't be read), `not-permitted` (logged in, but no such channel), `timed-out` when the signal aborts first.
 */
export type SshSession = Readonly<{
  /** Runs a command line in the user's login shell. */
  exec: (command: string, signal: AbortSignal) => Promise<RemoteCommand>;
  /** Opens a subsystem such as `netconf`: a channel without a shell. Destroying the channel gives its place back. */
  subsystem: (name: string, signal: AbortSignal) => Promise<Duplex>;
  close: () => Promise<void>;
}>;

const WAITING = 1000;
const DEFAULTS = { connectMilliseconds: 10_000, keepAliveMilliseconds: 10_000, idleMilliseconds: 30_000, channels: 4 };

type OpenChannel = (connection: SshConnection) => Promise<SshChannel>;

export function createSshSession(target: SshTarget, clock: Clock, limits: SshSessionLimits = {}): SshSession {
  const bounds = { ...DEFAULTS, ...limits };
  const turns = createTurns(bounds.channels, WAITING);
  let connection: Promise<SshConnection> | undefined;
  let channels = 0;
  let idle = new AbortController();
  const closing = new AbortController();

  const connect = (): Promise<SshConnection> => {
    connection ??= (async () => {
      try {
        const opened = await openConnection(target, bounds, closing.signal);
        void opened.lost.then(() => (connection = undefined));
        return opened;
      } catch (failure) {
        connection = undefined;
        throw failure;
      }
    })();
    return connection;
  };

  const closeWhenIdle = async (): Promise<void> => {
    idle = new AbortController();
    try {
      await clock.wait(bounds.idleMilliseconds, idle.signal);
    } catch {
      // Somebody needs the connection, or it was closed.
      return;
    }
    const unused = connection;
    connection = undefined;
    await unused?.then(
      ({ end }) => end(),
      () => undefined,
    );
  };

  /** Opens a channel and keeps its place until it is closed; the place is taken before, so that routers don't refuse. */
  const open = (openChannel: OpenChannel, signal: AbortSignal): Promise<SshChannel> =>
    new Promise((resolve, reject) => {
      const hold = async (): Promise<void> => {
        if (closing.signal.aborted) throw new RouterFailure('unreachable', 'the SSH session is closed');
        channels += 1;
        idle.abort();
        try {
          const opening = async (): Promise<SshChannel> => openChannel(await connect());
          const opened = await orAbort(signal, opening, ({ channel }) => channel.close());
          resolve(opened);
          await opened.closed;
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
      await connection?.then(
        ({ destroy }) => destroy(),
        () => undefined,
      );
    },
  };
}

/** Waits for what is being opened, or fails when the signal aborts first; what comes too late is closed again. */
function orAbort<T>(signal: AbortSignal, opening: () => Promise<T>, tooLate: (late: T) => void): Promise<T> {
  if (signal.aborted) return Promise.reject(stoppedInTime(signal));
  const opened = opening();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(stoppedInTime(signal));
      opened.then(tooLate, () => undefined);
    };
    signal.addEventListener('abort', stop, { once: true });
    const forget = (): void => signal.removeEventListener('abort', stop);
    opened.then(resolve, reject).finally(forget);
  });
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
      channel.end();
      channel.close();
    },
  };
}
