import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import { CloudFailure } from '../../../ports/clouds.ts';

/** An answer, read to its end. */
export type HttpAnswer = Readonly<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>;

export type HttpCall = Readonly<{
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}>;

/** The connections of one account. */
export type HttpCalls = Readonly<{
  /** One request and its answer, whatever its status. @throws CloudFailure `unreachable` (nothing was sent), `timed-out`, `outcome-unknown` */
  call: (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>;
  close: () => Promise<void>;
}>;

const CONNECT_MILLISECONDS = 5_000;
const ANSWER_MILLISECONDS = 30_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** With one of these there was no connection, so nothing was sent. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Opens the connections of an account; `who` names the provider in messages. A request is never sent twice: whether it may be is for the driver to say. */
export function openHttpCalls(who: string, options: Readonly<{ answerMilliseconds?: number }> = {}): HttpCalls {
  const agent = new Agent({ connect: { timeout: CONNECT_MILLISECONDS }, connections: 4, pipelining: 1 });
  const within = options.answerMilliseconds ?? ANSWER_MILLISECONDS;
  return {
    call: async ({ method, url, headers, body }, signal) => {
      signal.throwIfAborted();
      const limit = AbortSignal.timeout(within);
      try {
        const answer = await request(url, {
          method,
          headers,
          body: body ?? null,
          dispatcher: agent,
          signal: AbortSignal.any([signal, limit]),
        });
        return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer.body) };
      } catch (error) {
        if (error instanceof CloudFailure) throw error;
        if (signal.aborted) throw signal.reason;
        throw failureOf(error, limit.aborted, who, within);
      }
    },
    close: () => agent.destroy(),
  };
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const piece: unknown = chunk;
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > ANSWER_BYTES_MAX)
      throw new CloudFailure('unreadable-answer', `an answer has more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function failureOf(cause: unknown, isLate: boolean, who: string, within: number): CloudFailure {
  if (isLate) return new CloudFailure('timed-out', `${who} did not answer within ${within / 1000} s`, { cause });
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code';
  if (NOT_CONNECTED.has(code)) return new CloudFailure('unreachable', `${who} can not be reached (${code})`, { cause });
  return new CloudFailure('outcome-unknown', `the connection to ${who} was cut before the answer (${code})`, { cause });
}
