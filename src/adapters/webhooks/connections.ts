import type { Socket } from 'node:net';
import { Client } from 'undici';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Connector } from './guarded-connector.ts';
import type { TimeLimit } from './time-limit.ts';

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

export type ConnectionBounds = Readonly<{
  /** Connections to one origin at a time. */
  perOrigin: number;
  /** Connections at a time in all, idle ones included. */
  total: number;
  /** How many may wait for a connection to one origin. */
  waitingPerOrigin: number;
  /** How many that have their turn at their origin may wait for others to finish. */
  waiting: number;
}>;

/**
 * Keep-alive connections, bounded per origin and in all, so that one slow origin never takes those of the others. undici's `Agent`
 * bounds those of one origin alone: it neither tells which connection is idle, so that the oldest could make room, nor gives up one
 * that is still being made with the request that wanted it, and a request that waits in it is signed already. Once it does
 * these, this pool goes.
 */
export type Connections = Readonly<{
  /** An idle connection, or a new one, as soon as the bounds allow. Rejects with the reason for which `limit` is stopped, or SemaphoreFull. */
  acquire: (origin: string, limit: TimeLimit) => Connection | Promise<Connection>;
  /** Gives it back; one that is not `reusable` is destroyed. */
  release: (connection: Connection, reusable: boolean) => void;
  /** Destroys every connection and resolves when no socket is left. */
  close: () => Promise<void>;
}>;

type Origin = Readonly<{ places: Semaphore; idle: Connection[] }>;

/** Their sockets are opened by `connect`. An origin without a request and without an open connection is forgotten. */
export function createConnections(connect: Connector, bounds: ConnectionBounds): Connections {
  const { originOf, forget } = createOrigins(bounds);
  // First a place at the origin, then one in all: an origin with a long queue stands in the common one with few.
  const common = new Semaphore(bounds.total, bounds.waiting);
  const open = new Set<Connection>();
  /** Those of `open` that no request uses, the longest idle first. */
  const idle = new Set<Connection>();
  const closing = new Set<Promise<void>>();

  const drop = (connection: Connection): void => {
    if (!open.delete(connection)) return;
    if (idle.delete(connection)) {
      const mates = originOf(connection.origin).idle;
      mates.splice(mates.indexOf(connection), 1);
      forget(connection.origin);
    }
    const gone = connection.destroy().finally(() => closing.delete(gone));
    closing.add(gone);
  };
  const take = (name: string): Connection => {
    const reused = originOf(name).idle.pop();
    if (reused !== undefined) {
      idle.delete(reused);
      return reused;
    }
    const [oldest] = idle;
    if (open.size >= bounds.total && oldest !== undefined) drop(oldest);
    const connection = openConnection(name, connect, () => {
      if (idle.has(connection)) drop(connection);
    });
    open.add(connection);
    return connection;
  };
  const enterLater = async (
    name: string,
    places: Semaphore,
    limit: TimeLimit,
    atOrigin: boolean,
  ): Promise<Connection> => {
    if (!atOrigin) await places.enter(limit);
    try {
      await common.enter(limit);
    } catch (error) {
      places.leave();
      forget(name);
      throw error;
    }
    return take(name);
  };

  return {
    acquire: (name, limit) => {
      const { places } = originOf(name);
      if (!places.tryEnter()) return enterLater(name, places, limit, false);
      if (!common.tryEnter()) return enterLater(name, places, limit, true);
      return take(name);
    },
    release: (connection, reusable) => {
      if (reusable && open.has(connection) && connection.isConnected()) {
        originOf(connection.origin).idle.push(connection);
        idle.add(connection);
      } else drop(connection);
      common.leave();
      originOf(connection.origin).places.leave();
      forget(connection.origin);
    },
    close: async () => {
      for (const connection of open) drop(connection);
      await Promise.all(closing);
    },
  };
}

function createOrigins(
  bounds: ConnectionBounds,
): Readonly<{ originOf: (name: string) => Origin; forget: (name: string) => void }> {
  const origins = new Map<string, Origin>();
  return {
    originOf: (name) => {
      let origin = origins.get(name);
      if (origin === undefined) {
        origin = { places: new Semaphore(bounds.perOrigin, bounds.waitingPerOrigin), idle: [] };
        origins.set(name, origin);
      }
      return origin;
    },
    forget: (name) => {
      const origin = origins.get(name);
      if (origin !== undefined && origin.idle.length === 0 && origin.places.isEmpty) origins.delete(name);
    },
  };
}

/**
 * A connection to an origin (`https://host:port`), over a socket from `connect`. An idle socket is closed after four seconds, or
 * what the server's `Keep-Alive` says, at most 30; `onDisconnect` hears of every end of a socket that was connected.
 */
function openConnection(origin: string, connect: Connector, onDisconnect: () => void): Connection {
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
