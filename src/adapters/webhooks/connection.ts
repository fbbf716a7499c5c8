import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Connector } from './guarded-connector.ts';

/** One HTTP/1.1 connection to one origin, which opens its socket when it is first used. */
export type Connection = Readonly<{
  origin: string;
  client: Client;
  isConnected: () => boolean;
  /** Ends what runs on it, closes its socket, connected or not, and resolves when that is gone. */
  destroy: () => Promise<void>;
}>;

// Shorter than the five seconds after which common servers close; a server's own shorter or longer hint is respected up to the maximum.
const IDLE_MILLISECONDS = 4_000;
const IDLE_MAXIMUM_MILLISECONDS = 30_000;

/**
 * A connection to an origin (`https://host:port`), over a socket from `connect`. An idle socket is closed after four seconds, or
 * what the server's `Keep-Alive` says, at most 30; `onDisconnect` hears of every end of a socket that was connected.
 */
export function openConnection(origin: string, connect: Connector, onDisconnect: () => void): Connection {
  let connecting: Socket | undefined;
  let connected = false;
  const client = new Client(origin, {
    pipelining: 1,
    // The sender's one deadline bounds everything.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_MAXIMUM_MILLISECONDS,
    connect: (to, callback) => {
      connecting = connect(to, (error, socket) => {
        connecting = undefined;
        if (socket === null) callback(error ?? new Error('no connection'), null);
        else callback(null, socket);
      });
    },
  });
  client
    .on('connect', () => {
      connected = true;
    })
    .on('disconnect', () => {
      connected = false;
      onDisconnect();
    });
  return {
    origin,
    client,
    isConnected: () => connected,
    destroy: async () => {
      const halfOpen = connecting;
      const closed = client.destroy();
      if (halfOpen !== undefined && !halfOpen.closed) {
        await new Promise<void>((resolve) => {
          halfOpen.once('close', () => resolve());
          halfOpen.destroy();
        });
      }
      await closed;
    },
  };
}
