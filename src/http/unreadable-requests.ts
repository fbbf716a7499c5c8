import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.ts';
import { RATE_LIMIT_DEFAULT_TEXT } from './limits.ts';
import { type Problem, problems, sendProblem } from './problems.ts';

/** What the HTTP parser and its timers call what they refuse. */
const PROBLEM_OF_CODE: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: problems.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: problems.bodyTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: problems.requestTimeout,
};

const LINGER_MILLISECONDS = 1_000;

/** HTTP/1.1 wants a Host header (RFC 9112, 3.2). Node would refuse without our headers. */
export function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

/** Answers what never becomes a request, or stops in the middle of one, as everything else is answered. */
export function answerUnreadableRequests(
  server: Server<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>,
  { newestAnswer }: Pick<Connections, 'newestAnswer'>,
): void {
  server.on('checkExpectation', (_request, response) => {
    for (const [name, value] of Object.entries(ownHeaders())) response.setHeader(name, value);
    sendProblem(response, problems.expectationFailed);
  });
  server.on('clientError', (error, socket) => {
    const problem = PROBLEM_OF_CODE[codeOf(error)] ?? problems.badRequest;
    const response = newestAnswer(socket);
    if (response === undefined) return answerRaw(socket, problem);
    // What is wrong may also be what follows a request that is being worked on: its answer must not be this one.
    if (response.req.complete || response.headersSent) return void socket.destroy(error);
    response.setHeader('Connection', 'close');
    sendProblem(response, problem);
  });
}

function answerRaw(socket: Duplex, { status, message }: Problem): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify({ message });
  const headers = {
    ...ownHeaders(),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'));
  // Time for the client to read it before it hears that the connection is gone.
  setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
}

function ownHeaders(): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit': RATE_LIMIT_DEFAULT_TEXT,
    'X-RateLimit-Remaining': RATE_LIMIT_DEFAULT_TEXT,
    'X-Request-Id': randomUUID(),
  };
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
