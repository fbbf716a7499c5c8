import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '../wait-until.ts';

/** What one response on a raw connection says. */
export type RawAnswer = Readonly<{ status: number; headers: IncomingHttpHeaders; text: string }>;

/** A TCP connection to a server, for what no HTTP client would send. */
export type RawConnection = Readonly<{
  socket: Socket;
  send: (data: string | Buffer) => void;
  /** All that has come so far. */
  received: () => string;
  /** The first response, once it is complete. */
  answer: () => Promise<RawAnswer>;
  /** Resolves when the connection is closed. */
  closed: Promise<unknown>;
}>;

/** Connects; nothing is sent yet. */
export async function openRawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').catch(() => undefined);
  await once(socket, 'connect');
  return {
    socket,
    send: (data) => void socket.write(data),
    received: () => received,
    answer: () => waitUntil('an answer', () => firstAnswer(received)),
    closed,
  };
}

function firstAnswer(received: string): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const body = received.slice(end + 4);
  const length = Number(headers['content-length'] ?? 0);
  if (body.length < length) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, text: body.slice(0, length) };
}
