import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP relay before the server, so that connections can break or stand still while the server stays whole. */
export type FrontDoor = Readonly<{
  port: number;
  /** Breaks every connection. */
  cut: () => void;
  /** Connections stand, and new ones are taken, and nothing passes: as with a process that is stopped. */
  freeze: () => void;
  thaw: () => void;
  close: () => Promise<void>;
}>;

export async function openFrontDoor(port: number, innerPort: number): Promise<FrontDoor> {
  const open = new Map<Socket, Socket>();
  let isFrozen = false;
  const server = createServer((outer) => {
    const inner = connect(innerPort, '127.0.0.1');
    for (const [socket, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      open.set(socket, other);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      if (!isFrozen) socket.pipe(other);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open.keys()) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    freeze: () => {
      isFrozen = true;
      for (const [socket, other] of open) socket.unpipe(other).pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const [socket, other] of open) socket.pipe(other);
    },
    close: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
