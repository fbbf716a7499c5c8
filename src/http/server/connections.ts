import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The connections of a server, each with the answers that it waits for. */
export type Connections = Readonly<{
  /**
   * Stops accepting, has the requests under way answered, and closes each connection once nothing is under way on it.
   * What is not answered after `milliseconds` is cut off.
   */
  close: (milliseconds: number) => Promise<void>;
  /** Whether a request is to be worked on: not when it came after one whose answer ends the connection. */
  takes: (request: IncomingMessage) => boolean;
  /** The request that is being received on a connection, with its answer while that is not over; undefined between requests. */
  receiving: (socket: Duplex) => Receiving | undefined;
  /** Calls `act` once no answer is under way on a connection any more, or at once. */
  whenQuiet: (socket: Duplex, act: () => void) => void;
}>;

/** A request whose end has not come yet. */
export type Receiving = Readonly<{ request: IncomingMessage; response: ServerResponse | undefined }>;

type Connection = {
  underWay: Set<ServerResponse>;
  /** Was answered before all of it had come. */
  answeredEarly: IncomingMessage | undefined;
  /** The request whose answer ends the connection. What comes after it could not be answered, and must not be carried out. */
  last: IncomingMessage | undefined;
  whenQuiet: (() => void)[];
};

/** Watches the connections of a server that does not listen yet. Node's own idea of an idle one leaves out those that were never used. */
export function watchConnections(server: Server): Connections {
  const connections = new Map<Duplex, Connection>();
  let isClosing = false;
  server.on('connection', (socket) => {
    const connection: Connection = { underWay: new Set(), answeredEarly: undefined, last: undefined, whenQuiet: [] };
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      for (const act of connection.whenQuiet) act();
    });
  });
  // Before the application hears of a request: a response that has been sent can't be told to be the last any more.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined || connection.last !== undefined) return;
    const { underWay, whenQuiet } = connection;
    underWay.add(response);
    connection.answeredEarly = undefined;
    // What follows an offer to change the protocol, which is not taken up, is lost on Node's parser.
    if (isClosing || request.headers.upgrade !== undefined) endAfter(connection, response);
    response.once('close', () => {
      underWay.delete(response);
      if (!request.complete) connection.answeredEarly = request;
      if (underWay.size > 0) return;
      for (const act of whenQuiet.splice(0)) act();
      if (isClosing) socket.destroySoon();
    });
  });

  return {
    takes: (request) => {
      const last = connections.get(request.socket)?.last;
      return last === undefined || last === request;
    },
    receiving: (socket) => {
      const connection = connections.get(socket);
      const response = [...(connection?.underWay ?? [])].at(-1);
      const request = response === undefined ? connection?.answeredEarly : response.req;
      return request === undefined || request.complete ? undefined : { request, response };
    },
    whenQuiet: (socket, act) => {
      const connection = connections.get(socket);
      if (connection === undefined || connection.underWay.size === 0) act();
      else connection.whenQuiet.push(act);
    },
    close: (milliseconds) =>
      new Promise((resolve) => {
        isClosing = true;
        const timer = setTimeout(() => server.closeAllConnections(), milliseconds);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        for (const [socket, connection] of connections) {
          const newest = [...connection.underWay].at(-1);
          if (newest === undefined) socket.destroy();
          else if (!newest.headersSent) endAfter(connection, newest);
        }
      }),
  };
}

/** Has the connection end with this answer; those to earlier requests come before it. */
function endAfter(connection: Connection, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  connection.last = response.req;
}
