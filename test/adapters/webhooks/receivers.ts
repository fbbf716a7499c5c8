import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type Received = Readonly<{ method: string; path: string; headers: IncomingHttpHeaders; body: string }>;

export type Receiver = AsyncDisposable &
  Readonly<{
    port: number;
    url: string;
    /** Connections that are open. */
    sockets: ReadonlySet<Socket>;
    /** Connections that were ever made. */
    accepted: () => number;
    received: readonly Received[];
  }>;

/** An HTTP (or, with a certificate, HTTPS) receiver that keeps what it got and then lets `answer` speak (default: 204). */
export async function startReceiver(
  answer: RequestListener = (_, response) => response.writeHead(204).end(),
  certificate?: Readonly<{ key: string; cert: string }>,
): Promise<Receiver> {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  };
  const server = certificate === undefined ? createHttpServer(listener) : createHttpsServer(certificate, listener);
  return listen(server, certificate === undefined ? 'http' : 'https', received);
}

/** A receiver that speaks bytes: `speak` gets every connection. */
export async function startRawReceiver(speak: (socket: Socket) => void): Promise<Receiver> {
  return listen(createTcpServer(speak), 'http', []);
}

/** A port of the loopback interface that nobody listens on. */
export async function refusedPort(): Promise<number> {
  await using receiver = await startRawReceiver(() => undefined);
  return receiver.port;
}

/** Waits for a state. */
export async function until(state: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (state()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`never: ${state.toString()}`);
}

async function listen(server: Server, scheme: string, received: readonly Received[]): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = addressOf(server);
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/hook`,
    sockets,
    accepted: () => accepted,
    received,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}
