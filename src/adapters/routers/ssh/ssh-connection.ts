import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type ssh2 from 'ssh2';
import type { Client, ClientChannel, ConnectConfig } from 'ssh2';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppable } from '../driver-kit/driver-calls.ts';
import type { CommandExit } from '../shell/remote-command.ts';
import { fingerprintOf, type HostKeyPin, hostKeyType } from './host-key.ts';

/** How a router lets us in. */
export type SshLogin =
  | Readonly<{ privateKey: string; passphrase?: string | undefined }>
  | Readonly<{ password: string }>;

/** Which router, and who we are to it. `login` is asked for whenever a connection is made, so that a new key is used at once. */
export type SshTarget = Readonly<{
  host: string;
  port: number;
  user: string;
  hostKey: HostKeyPin;
  login: () => Promise<SshLogin>;
}>;

/** A channel, watched from its first moment: a short command may be over before anyone else gets to look. */
export type SshChannel = Readonly<{
  channel: ClientChannel;
  closed: Promise<void>;
  /** Resolves when the channel was destroyed from here; whether the router closes it, too, `closed` tells. */
  released: Promise<void>;
  /** Rejects with RouterFailure `unreachable` when the channel was closed without an exit. */
  exit: Promise<CommandExit>;
}>;

/** A connection that is logged in. */
export type SshConnection = Readonly<{
  exec: (command: string) => Promise<SshChannel>;
  subsystem: (name: string) => Promise<SshChannel>;
  /** Resolves when the connection is over, for whatever reason. */
  lost: Promise<void>;
  /** Says goodbye. */
  end: () => void;
  /** Does not wait for a router that may be gone. */
  destroy: () => void;
}>;

export type SshConnectionLimits = Readonly<{ connectMilliseconds: number; keepAliveMilliseconds: number }>;

const UNANSWERED_KEEP_ALIVES = 3;

const require = createRequire(import.meta.url);

/**
 * Reads the login, connects, checks the host key, and logs in, unless `signal` aborts first; reading and connecting have `connectMilliseconds` each.
 * @throws RouterFailure `unreachable`, `host-key-mismatch`, `login-refused`, `bad-option`
 */
export async function openConnection(
  target: SshTarget,
  limits: SshConnectionLimits,
  signal: AbortSignal,
): Promise<SshConnection> {
  const ssh = loadSsh();
  const login = await loginTo(target, limits, signal);
  requireReadableKey(login, ssh);
  const client = new ssh.Client();
  const socket = new Socket().setMaxListeners(0);
  // The call that waits for the connection or a channel fails with the error; ssh2 may have more than one to tell.
  client.on('error', () => undefined);
  let shownKey: Buffer | undefined;
  const config: ConnectConfig = {
    sock: socket,
    username: target.user,
    readyTimeout: limits.connectMilliseconds,
    keepaliveInterval: limits.keepAliveMilliseconds,
    keepaliveCountMax: UNANSWERED_KEEP_ALIVES,
    hostVerifier: (key: Buffer): boolean => {
      shownKey = key;
      return target.hostKey.matches(key);
    },
    ...algorithmsFor(target.hostKey),
    ...credentials(login, client),
  };
  const lost = new Promise<void>((resolve) => client.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error): void => reject(connectFailure(error, target, shownKey));
    const stop = (): void => {
      refuse(new Error('it is no longer wanted'));
      socket.destroy();
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    client.once('close', () => signal.removeEventListener('abort', stop));
    client.once('ready', () => {
      signal.removeEventListener('abort', stop);
      // Questions and answers are small: without this each of them waits 40 ms for an acknowledgement of the one before.
      client.setNoDelay(true);
      resolve();
    });
    client.once('error', refuse);
    client.once('close', () => refuse(new Error('the connection was closed')));
    try {
      socket.connect(target.port, target.host);
      client.connect(config);
    } catch (error) {
      refuse(error instanceof Error ? error : new Error(String(error)));
    }
  });
  return {
    exec: (command) => openChannel(client, target, (done) => client.exec(command, done)),
    subsystem: (name) => openChannel(client, target, (done) => client.subsys(name, done)),
    lost,
    end: () => void client.end(),
    // After an `end` ssh2's own `destroy` does nothing any more, and the router is waited for.
    destroy: () => void socket.destroy(),
  };
}

/** A secret on a mount that hangs, or in a pipe that nobody writes to, is never read. */
function loginTo(
  { host, port, login }: SshTarget,
  { connectMilliseconds }: SshConnectionLimits,
  signal: AbortSignal,
): Promise<SshLogin> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(connectMilliseconds)]);
  return stoppable(either, login(), () => {
    const notRead = `the key or password for ${host}, port ${port}, was not read`;
    if (signal.aborted) return new RouterFailure('unreachable', `${notRead}: it is no longer wanted`);
    return new RouterFailure('bad-option', `${notRead} within ${connectMilliseconds / 1000} s: does its storage hang?`);
  });
}

type ChannelOpened = (error: Error | undefined, channel: ClientChannel) => void;

function openChannel(client: Client, target: SshTarget, open: (done: ChannelOpened) => unknown): Promise<SshChannel> {
  return new Promise((resolve, reject) => {
    const lost = (cause?: Error): void =>
      reject(new RouterFailure('unreachable', `the connection to ${target.host} was lost`, { cause }));
    client.once('close', lost);
    const done: ChannelOpened = (error, channel) => {
      client.off('close', lost);
      if (error === undefined) resolve(watch(channel, target));
      // ssh2 answers so when the connection is gone, and not the router.
      else if (error.message === 'No response from server') lost(error);
      else {
        const because = `${target.user} is logged in to ${target.host}, but may not do that: ${error.message}`;
        reject(new RouterFailure('not-permitted', because, { cause: error }));
      }
    };
    try {
      open(done);
    } catch (error) {
      lost(error instanceof Error ? error : undefined);
    }
  });
}

function watch(channel: ClientChannel, { host }: SshTarget): SshChannel {
  let seen: CommandExit | undefined;
  channel.once('exit', (code: number | null, signal?: string) => {
    seen = { code, signal };
  });
  // Writing to a command that has ended is no news: its exit tells.
  channel.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => channel.once('close', resolve));
  // Channels tell when the router has closed them, and not when they were destroyed.
  const destroy = channel.destroy.bind(channel);
  const released = new Promise<void>((resolve) => {
    channel.destroy = () => {
      resolve();
      return destroy();
    };
  });
  const exit = closed.then(() => {
    if (seen !== undefined) return seen;
    throw new RouterFailure('unreachable', `the connection to ${host} was lost`);
  });
  // The promise rejects for the callers that wait for it; without one the rejection is no error.
  exit.catch(() => undefined);
  return { channel, closed, released, exit };
}

function algorithmsFor(pin: HostKeyPin): ConnectConfig {
  if (pin.algorithms === undefined) return {};
  return { algorithms: { serverHostKey: [...pin.algorithms] as HostKeyAlgorithms } };
}

type HostKeyAlgorithms = Extract<NonNullable<ConnectConfig['algorithms']>['serverHostKey'], readonly unknown[]>;

function credentials(login: SshLogin, client: Client): ConnectConfig {
  if ('privateKey' in login) {
    return {
      privateKey: login.privateKey,
      ...(login.passphrase === undefined ? {} : { passphrase: login.passphrase }),
    };
  }
  // Many routers ask for the password in the way of a keyboard.
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
    finish(prompts.map(() => login.password));
  });
  return { password: login.password, tryKeyboard: true };
}

function requireReadableKey(login: SshLogin, ssh: Pick<typeof ssh2, 'utils'>): void {
  if (!('privateKey' in login)) return;
  const key = ssh.utils.parseKey(login.privateKey, login.passphrase);
  if (key instanceof Error) {
    throw new RouterFailure('bad-option', `option key is no private key that can be used: ${key.message}`);
  }
  if (!key.isPrivateKey()) {
    throw new RouterFailure('bad-option', 'option key is a public key; it must be the private one');
  }
}

function connectFailure(error: Error, target: SshTarget, shownKey: Buffer | undefined): RouterFailure {
  const where = `${target.host}, port ${target.port}`;
  if (shownKey !== undefined && !target.hostKey.matches(shownKey)) {
    const shown = `${hostKeyType(shownKey)} ${fingerprintOf(shownKey)}`;
    return new RouterFailure('host-key-mismatch', `${where} shows the host key ${shown}, which is not the pinned one`);
  }
  const level = 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') {
    return new RouterFailure('login-refused', `${where} does not let ${target.user} in with this key or password`);
  }
  if (/no matching host key/.test(error.message)) {
    return new RouterFailure('host-key-mismatch', `${where} has no host key of the pinned kind`);
  }
  const because = level === 'client-timeout' ? 'no answer in time' : error.message;
  return new RouterFailure('unreachable', `no SSH connection to ${where}: ${because}`, { cause: error });
}

/**
 * Gives ssh2 without its native part, which can end the process on Node 24.19 and later; what routers are sent is as fast without it. It is
 * loaded at the first connection: every command would load it, and few have a router to speak to.
 */
export function loadSsh(): typeof ssh2 {
  const native = require.extensions['.node'];
  require.extensions['.node'] = () => {
    throw new Error('the native part of ssh2 is not used');
  };
  try {
    const loaded: typeof ssh2 = require('ssh2');
    return loaded;
  } finally {
    require.extensions['.node'] = native;
  }
}
