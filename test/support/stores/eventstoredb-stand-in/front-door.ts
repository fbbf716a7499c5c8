import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP relay before the server, so that connections can break while the server stays whole. */
export type FrontDoor = Readonly<{
  port: number;
  /** Breaks every connection. */
  cut: () => void;
  close: () => Promise<void>;
}>;

export async function openFrontDoor(port: number, innerPort: number): Promise<FrontDoor> {
  const open = new Set<Socket>();
  const server = createServer((outer) => {
    const inner = connect(innerPort, '127.0.0.1');
    for (const [socket, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
