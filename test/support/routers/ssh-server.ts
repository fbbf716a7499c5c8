import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2';
import { newSshKeyPair, type SshKeyPair } from './ssh-keys.ts';

/** An SSH server inside the test, where OpenSSH would not do what the test needs. */
export type TestSshServer = Readonly<{
  port: number;
  /** The public host key, as in a `.pub` file. */
  hostKey: string;
  fingerprint: string;
  /** How many connections were made so far. */
  connections: () => number;
  /** How many channels are open, and how many were at most. */
  channels: () => Readonly<{ now: number; most: number }>;
  /** Takes no more notice of what clients send, as a router that has gone does. */
  fallSilent: () => void;
  /** Cuts all connections. */
  cut: () => void;
  stop: () => Promise<void>;
}>;

export type TestSshServerOptions = Readonly<{
  /** A key pair to show in place of a new one. */
  hostKey?: SshKeyPair;
  /** Lets a client in or not. */
  authenticate: (attempt: AuthContext) => void;
  /** What commands do; nothing else ends the channel. */
  exec?: (command: string, channel: ServerChannel) => void;
  /** What subsystems do; undefined refuses them. */
  subsystem?: (name: string, channel: ServerChannel) => void;
}>;

export async function startSshServer(options: TestSshServerOptions): Promise<TestSshServer> {
  const keys = options.hostKey ?? newSshKeyPair();
  const sockets = new Set<Socket>();
  const clients = new Set<Connection>();
  let connections = 0;
  let now = 0;
  let most = 0;

  const opened = (channel: ServerChannel): ServerChannel => {
    now += 1;
    most = Math.max(most, now);
    channel.once('close', () => (now -= 1));
    // Whoever wants to read what comes in pipes it on at once; nobody else has to, for the end to be seen.
    return channel.on('error', () => undefined).resume();
  };
  const server = new ssh2.Server({ hostKeys: [keys.private] }, (client) => {
    connections += 1;
    clients.add(client);
    client.on('error', () => undefined);
    client.on('authentication', options.authenticate);
    client.on('session', (accept) => {
      const session = accept();
      session.on('exec', (acceptExec, reject, { command }) => {
        if (options.exec === undefined) return reject();
        options.exec(command, opened(acceptExec()));
      });
      session.on('subsystem', (acceptSubsystem, reject, { name }) => {
        if (options.subsystem === undefined) return reject();
        options.subsystem(name, opened(acceptSubsystem()));
      });
    });
  });
  server.on('connection', () => undefined);
  // The sockets below ssh2's connections, which it does not show.
  const listener: unknown = Reflect.get(server, '_srv');
  if (!isEmitter(listener)) throw new Error('ssh2 has changed: a server listens by its _srv');
  listener.on('connection', (socket) => sockets.add(socket.setNoDelay(true)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: unknown = server.address();
  if (typeof address !== 'object' || address === null || !('port' in address) || typeof address.port !== 'number') {
    throw new Error('a TCP server has a port');
  }

  const blob = Buffer.from(keys.public.split(' ')[1] ?? '', 'base64');
  return {
    port: address.port,
    hostKey: keys.public,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
    connections: () => connections,
    channels: () => ({ now, most }),
    fallSilent: () => {
      for (const socket of sockets) socket.pause().removeAllListeners('data');
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const client of clients) client.end();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Emitter = { on: (event: string, listener: (socket: Socket) => void) => unknown };

function isEmitter(value: unknown): value is Emitter {
  return typeof value === 'object' && value !== null && 'on' in value && typeof value.on === 'function';
}
