import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { z } from 'zod';
import { IP_OPERATIONS } from '../../../src/http/customer/ips.ts';
import { SOURCE_WHITELIST_OPERATIONS } from '../../../src/http/customer/source-whitelist.ts';
import { SUBNET_OPERATIONS } from '../../../src/http/customer/subnets.ts';
import { HEALTH_OPERATIONS } from '../../../src/http/operations/health.ts';
import { NO_OPERATION_PROBLEMS, type Operation, UNREADABLE_PROBLEMS } from '../../../src/http/route.ts';

export const OPERATIONS: readonly Operation[] = [
  ...IP_OPERATIONS,
  ...SUBNET_OPERATIONS,
  ...SOURCE_WHITELIST_OPERATIONS,
  ...HEALTH_OPERATIONS,
];

/** The path of an operation from the root, with its parameters' names. */
export function fullPath({ scope, path }: Operation): string {
  return `${scope === 'customer' ? '/api/v1' : ''}${path}`;
}

/** What was asked for and what was answered. */
export type Exchange = Readonly<{ method: string; url: string; status: number; contentType: unknown; text: string }>;

/** The answers of the servers of this process that were as stated: `GET /api/v1/subnets 200`, `405` after a path. */
export const seenAnswers = new Set<string>();

let isWatching = false;

/** From now on each answer of an edgeward server in this process must be one that its operation states; anything else ends the process. */
export function watchAnswers(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as Readonly<{ request: unknown; response: unknown }>;
    if (request instanceof IncomingMessage && response instanceof ServerResponse) watchAnswer(request, response);
  });
}

function watchAnswer(request: IncomingMessage, response: ServerResponse): void {
  // Express shortens the URL on its way through the routers.
  const { method = '', url = '' } = request;
  const pieces: Buffer[] = [];
  const gather = (piece: unknown): void => {
    // The bytes of a listing are good until the next ones only.
    if (typeof piece === 'string' || piece instanceof Uint8Array) pieces.push(Buffer.from(piece));
  };
  for (const name of ['write', 'end'] as const) {
    const send = response[name];
    Object.defineProperty(response, name, {
      value: (...args: unknown[]) => {
        gather(args[0]);
        return Reflect.apply(send, response, args) as unknown;
      },
    });
  }
  response.once('finish', () => {
    // Other servers of a test's don't say this.
    if (!response.hasHeader('x-request-id')) return;
    const text = Buffer.concat(pieces).toString();
    const contentType = response.getHeader('content-type');
    const seen = checkExchange({ method, url, status: response.statusCode, contentType, text });
    if (seen !== undefined) seenAnswers.add(seen);
  });
}

/** Says which answer this is, of which operation. @throws when its operation does not state it */
export function checkExchange({ method, url, status, contentType, text }: Exchange): string | undefined {
  // A proxy's request names the host too (RFC 9112, 3.2.2).
  const [path = '', query = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const atPath = OPERATIONS.filter((operation) => pattern(operation).test(path));
  const operation = atPath.find((candidate) => candidate.method === (method === 'HEAD' ? 'GET' : method));
  const where = `${method} ${url} ${status}: ${text.slice(0, 500)}`;
  const schema =
    (operation === undefined ? NO_OPERATION_PROBLEMS : operation.answers)[status as 401] ?? UNREADABLE_PROBLEMS[status];
  if (schema === undefined) throw new Error(`an answer that is not stated: ${where}`);
  if (contentType !== 'application/json; charset=utf-8')
    throw new Error(`an answer of type ${String(contentType)}: ${where}`);
  if (method !== 'HEAD') assertFits(schema, exactJson(text), where);
  if (operation === undefined) return atPath[0] === undefined ? undefined : `${fullPath(atPath[0])} ${status}`;
  if (status === 200 && operation.request.query !== undefined)
    assertFits(operation.request.query, { ...parse(query) }, `the query of ${where}`);
  return `${operation.method} ${fullPath(operation)} ${status}`;
}

function assertFits(schema: z.ZodType, value: unknown, where: string): void {
  const { error } = schema.safeParse(value);
  if (error !== undefined) throw new Error(`not as stated: ${where}\n${error.message}`);
}

function pattern(operation: Operation): RegExp {
  const flags = operation.scope === 'customer' ? '' : 'i';
  return new RegExp(`^${fullPath(operation).replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, flags);
}

/** JSON in which integers above 2^53 are bigints. */
export function exactJson(text: string): unknown {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|(?<![\d.])\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `{"exact":"${token}"}`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && 'exact' in value ? integer(String(value.exact)) : value,
  );
}

function integer(text: string): number | bigint {
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}
