import { randomUUID } from 'node:crypto';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../../ports/log.ts';
import type { Connections } from './connections.ts';
import { showDefaultLimit } from '../middleware/limits.ts';
import { type Problem, problems, sendProblem } from '../problems.ts';
import { noteRefused } from '../middleware/request-context.ts';

/** What the HTTP parser and its timers call what they refuse. */
const PROBLEM_OF_CODE: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: problems.headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: problems.bodyTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: problems.requestTimeout,
};
/** The client went away in the middle of a request. */
const BROKEN_OFF = 'HPE_INVALID_EOF_STATE';

const LINGER_MILLISECONDS = 1_000;

/** HTTP/1.1 wants a Host header (RFC 9112, 3.2). Node would refuse without our headers. */
export function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === '1.1';
}

/**
 * Answers what never becomes a request, or stops in the middle of one, as everything else is answered. What came whole before it on the same
 * connection is answered first, in order; nothing is read after it.
 */
export function answerUnreadableRequests(
  server: Server<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>>,
  { receiving, whenQuiet }: Pick<Connections, 'receiving' | 'whenQuiet'>,
  log?: Pick<Log, 'debug'>,
): void {
  const refused = new WeakSet<Duplex>();
  server.on('checkExpectation', (_request, response) => {
    showOwnHeaders(response);
    sendProblem(response, problems.expectationFailed);
  });
  // A tunnel is asked for, which needs a proxy.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    whenQuiet(socket, () => answerAlone(socket, problems.badRequest));
  });
  server.on('clientError', (error, socket) => {
    // The last answer may be on its way.
    if (socket.writableEnded) return;
    if (!socket.writable) return void socket.destroy();
    // The parser says the same again of all that follows.
    if (refused.has(socket)) return;
    refused.add(socket);
    const code = codeOf(error);
    log?.debug({ code }, 'a request could not be read');
    const problem = PROBLEM_OF_CODE[code] ?? problems.badRequest;
    const { request, response } = receiving(socket) ?? {};
    if (request === undefined) return whenQuiet(socket, () => answerAlone(socket, problem));
    // One request has one answer, which may be out already.
    if (response === undefined || response.headersSent) return whenQuiet(socket, () => endSoon(socket));
    if (code !== BROKEN_OFF) noteRefused(response);
    response.setHeader('Connection', 'close');
    sendProblem(response, problem);
  });
}

/** Answers on a connection on which no other answer is under way, and ends it. */
function answerAlone(socket: Duplex, problem: Problem): void {
  if (socket.writableEnded) return;
  if (!socket.writable || !(socket instanceof Socket)) return void socket.destroy();
  const response = new ServerResponse(new IncomingMessage(socket));
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    response.detachSocket(socket);
    endSoon(socket);
  });
  showOwnHeaders(response);
  sendProblem(response, problem);
}

/** Ends a connection, with time for the client to read what was sent before it hears that the connection is gone. */
function endSoon(socket: Duplex): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
}

function showOwnHeaders(response: ServerResponse): void {
  showDefaultLimit(response);
  response.setHeader('X-Request-Id', randomUUID());
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
