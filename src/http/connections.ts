import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The connections of a server, each with the answers that it waits for. */
export type Connections = Readonly<{
  /**
   * Stops accepting, has the requests under way answered, and closes each connection once nothing is under way on it.
   * What is not answered after `milliseconds` is cut off.
   */
  close: (milliseconds: number) => Promise<void>;
  /** The answer to the newest request on a connection, as long as it is not over. */
  newestAnswer: (socket: Duplex) => ServerResponse | undefined;
}>;

/** Watches the connections of a server that does not listen yet. Node's own idea of an idle one leaves out those that were never used. */
export function watchConnections(server: Server): Connections {
  const underWay = new Map<Duplex, Set<ServerResponse>>();
  let isClosing = false;
  server.on('connection', (socket) => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  // Before the application hears of a request: a response that has been sent can't be told to be the last any more.
  server.prependListener('request', ({ socket }, response) => {
    const responses = underWay.get(socket);
    if (responses === undefined) return;
    responses.add(response);
    if (isClosing) response.shouldKeepAlive = false;
    response.once('close', () => {
      responses.delete(response);
      if (isClosing && responses.size === 0) socket.destroySoon();
    });
  });

  return {
    newestAnswer: (socket) => [...(underWay.get(socket) ?? [])].at(-1),
    close: (milliseconds) =>
      new Promise((resolve) => {
        isClosing = true;
        const timer = setTimeout(() => server.closeAllConnections(), milliseconds);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        for (const [socket, responses] of underWay) {
          for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = false;
          if (responses.size === 0) socket.destroy();
        }
      }),
  };
}
