import { connect, createServer, type Server, type Socket } from 'node:net';

/** Which way the bytes are counted. */
export type Direction = 'to router' | 'from router';

/** A TCP proxy on loopback that cuts its connections after a number of bytes in one direction. */
export type CuttingProxy = Readonly<{
  port: number;
  /** How many bytes have gone either way. */
  passed: Readonly<Record<Direction, number>>;
  /** Resolves when a connection was cut. */
  cut: Promise<void>;
  stop: () => Promise<void>;
}>;

export async function startCuttingProxy(
  routerPort: number,
  direction: Direction = 'to router',
  bytes = Number.POSITIVE_INFINITY,
  port = 0,
): Promise<CuttingProxy> {
  const passed = { 'to router': 0, 'from router': 0 };
  const sockets = new Set<Socket>();
  let announceCut: () => void;
  const cut = new Promise<void>((resolve) => (announceCut = resolve));

  const carry = (from: Socket, to: Socket, way: Direction): void => {
    from.on('data', (chunk) => {
      const allowed = way === direction ? Math.max(0, bytes - passed[way]) : chunk.length;
      passed[way] += Math.min(allowed, chunk.length);
      to.write(chunk.subarray(0, allowed));
      if (chunk.length <= allowed) return;
      to.end(() => to.destroy());
      from.destroy();
      announceCut();
    });
    from.on('error', () => undefined);
    from.on('close', () => to.end());
  };

  const server = createServer((client) => {
    const router = connect(routerPort, '127.0.0.1');
    for (const socket of [client, router]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
    carry(client, router, 'to router');
    carry(router, client, 'from router');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    passed,
    cut,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A TCP server on loopback that takes connections and says nothing. */
export async function startSilentServer(): Promise<
  Readonly<{ port: number; connected: Promise<void>; stop: () => Promise<void> }>
> {
  const sockets = new Set<Socket>();
  let announce: () => void;
  const connected = new Promise<void>((resolve) => (announce = resolve));
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    announce();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    connected,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
