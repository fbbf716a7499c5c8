import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { gunzipSync } from 'node:zlib';
import type { z } from 'zod';
import { COMMIT_OPERATIONS } from '../../../src/http/customer/commits.ts';
import { WEBHOOK_DELIVERY_OPERATIONS } from '../../../src/http/customer/webhook-deliveries.ts';
import { IP_OPERATIONS } from '../../../src/http/customer/ips.ts';
import { SOURCE_WHITELIST_OPERATIONS } from '../../../src/http/customer/source-whitelist.ts';
import { SUBNET_OPERATIONS } from '../../../src/http/customer/subnets.ts';
import { ADMIN_OPERATIONS } from '../../../src/http/admin/api/routes.ts';
import { DESCRIPTION_OPERATIONS } from '../../../src/http/openapi/pages.ts';
import { HEALTH_OPERATIONS } from '../../../src/http/operations/health.ts';
import { WORKER_OPERATIONS } from '../../../src/http/worker/worker-api.ts';
import { NO_OPERATION_PROBLEMS, type Operation, UNREADABLE_PROBLEMS } from '../../../src/http/route.ts';

/** Every operation of a server. */
export const OPERATIONS: readonly Operation[] = [
  ...IP_OPERATIONS,
  ...SUBNET_OPERATIONS,
  ...COMMIT_OPERATIONS,
  ...WEBHOOK_DELIVERY_OPERATIONS,
  ...SOURCE_WHITELIST_OPERATIONS,
  ...HEALTH_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...WORKER_OPERATIONS,
  ...DESCRIPTION_OPERATIONS,
];

const PREFIXES = { customer: '/api/v1', admin: '/api/admin/v1', worker: '/api/worker/v1', anybody: '' } as const;

/** The path of an operation from the root, with its parameters' names. */
export function fullPath({ scope, path }: Operation): string {
  return `${PREFIXES[scope]}${path}`;
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
    // Pages are for people: no operation states them.
    if (/^\/admin(?:[/?]|$)/.test(url)) return;
    const bytes = Buffer.concat(pieces);
    const text = (response.getHeader('content-encoding') === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    const contentType = response.getHeader('content-type');
    const seen = checkExchange({ method, url, status: response.statusCode, contentType, text });
    if (seen !== undefined) seenAnswers.add(seen);
  });
}

/** Says which answer this is, of which operation. @throws when its operation does not state it */
export function checkExchange({ method, url, status, contentType, text }: Exchange): string | undefined {
  // What a browser asks before it asks for an operation is answered without a body.
  if (method === 'OPTIONS' && status === 204) return undefined;
  // What a client has already is not sent again.
  if (status === 304) return undefined;
  // A proxy's request names the host too (RFC 9112, 3.2.2).
  const [path = '', query = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const atPath = OPERATIONS.filter((operation) => pattern(operation).test(path));
  const operation = atPath.find((candidate) => candidate.method === (method === 'HEAD' ? 'GET' : method));
  const where = `${method} ${url} ${status}: ${text.slice(0, 500)}`;
  const schema =
    (operation === undefined ? NO_OPERATION_PROBLEMS : operation.answers)[status as 401] ?? UNREADABLE_PROBLEMS[status];
  if (schema === undefined) throw new Error(`an answer that is not stated by one of OPERATIONS: ${where}`);
  const isOther = status === 200 && operation?.otherTypes?.some((type) => type === contentType) === true;
  if (isOther && operation !== undefined) return `${operation.method} ${fullPath(operation)} 200`;
  const hasCountsAsText = contentType === 'application/json; charset=utf-8; numbers=string';
  if (status === 204) {
    if (text !== '' || contentType !== undefined) throw new Error(`an answer without content that has some: ${where}`);
  } else if (contentType !== 'application/json; charset=utf-8' && !hasCountsAsText)
    throw new Error(`an answer of type ${String(contentType)}: ${where}`);
  const value = status === 204 || method === 'HEAD' ? undefined : exactJson(text);
  if (method !== 'HEAD') assertFits(schema, hasCountsAsText ? withCounts(value) : value, where);
  if (operation === undefined) return atPath[0] === undefined ? undefined : `${fullPath(atPath[0])} ${status}`;
  if (status === 200 && operation.request.query !== undefined)
    assertFits(operation.request.query, { ...parse(query) }, `the query of ${where}`);
  return `${operation.method} ${fullPath(operation)} ${status}`;
}

const COUNTS = new Set(['changed', 'pending_changes', 'total', 'enabled', 'disabled', 'pending']);

/** What was answered with its counts as text, with its counts as the operation states them. */
function withCounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCounts);
  if (typeof value !== 'object' || value === null) return value;
  const counted = (name: string, member: unknown): unknown => {
    if (!COUNTS.has(name)) return withCounts(member);
    if (typeof member !== 'string' || !/^\d+$/.test(member)) throw new Error(`${name} is no count as text`);
    return BigInt(member);
  };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, counted(name, member)]));
}

function assertFits(schema: z.ZodType, value: unknown, where: string): void {
  const { error } = schema.safeParse(value);
  if (error !== undefined) throw new Error(`not as stated: ${where}\n${error.message}`);
}

function pattern(operation: Operation): RegExp {
  const flags = operation.scope === 'anybody' ? 'i' : '';
  return new RegExp(`^${fullPath(operation).replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, flags);
}

/** JSON in which integers above 2^53 are bigints. */
export function exactJson(text: string): unknown {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `{"exact":"${token}"}`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && 'exact' in value ? integer(String(value.exact)) : value,
  );
}

function integer(text: string): number | bigint {
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}
