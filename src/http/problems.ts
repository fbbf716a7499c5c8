import type { ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';
import type { Refusal } from '../kernel/decider.ts';

/** What is wrong, by field as the client sent it. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An answer that is not a success. The message is the one that the client reads. */
export type Problem = Readonly<{
  status: number;
  message: string;
  errors?: FieldErrors;
  headers?: Readonly<Record<string, string>>;
  more?: Readonly<Record<string, unknown>>;
  /** Why, for the log alone, where the fault is ours. */
  because?: unknown;
}>;

export const problems = {
  authenticationRequired: {
    status: 401,
    message: 'authentication required',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  notFound: { status: 404, message: 'not found.' },
  malformedJson: { status: 400, message: 'the request body is not valid JSON.' },
  badRequest: { status: 400, message: 'the request could not be read.' },
  bodyTooLarge: { status: 413, message: 'the request body is larger than 1 MiB.' },
  changeTooLarge: { status: 413, message: 'the change is too large to be recorded at once; divide the request.' },
  wrongContentType: { status: 415, message: 'the content type must be application/json, in UTF-8.' },
  wrongContentEncoding: { status: 415, message: 'the content encoding must be identity, gzip, deflate or br.' },
  requestTimeout: { status: 408, message: 'the request took too long to arrive.' },
  expectationFailed: { status: 417, message: 'the only expectation that can be met is 100-continue.' },
  headersTooLarge: { status: 431, message: 'the request headers are too large.' },
  internal: { status: 500, message: 'internal server error' },
  unconfirmed: {
    status: 503,
    message: 'the change could not be confirmed: it may still come into effect. Repeat the request.',
    headers: { 'Retry-After': '5' },
  },
  unavailable: { status: 503, message: 'the service is temporarily unavailable.', headers: { 'Retry-After': '5' } },
} as const satisfies Record<string, Problem>;

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** 413, with how large a body may be. */
export function bodyTooLarge(bytesMax: number): Problem {
  const size = bytesMax < MEBIBYTE ? `${bytesMax / KIBIBYTE} KiB` : `${bytesMax / MEBIBYTE} MiB`;
  return { status: 413, message: `the request body is larger than ${size}.` };
}

const SHOWN_FIELD_LENGTH = 100;

/** 405: the path exists, the method does not. */
export function methodNotAllowed(allowed: readonly string[]): Problem {
  return { status: 405, message: 'method not allowed.', headers: { Allow: allowed.join(', ') } };
}

/** 429, with the seconds until the window ends. */
export function tooManyRequests(retryAfterSeconds: number): Problem {
  return {
    status: 429,
    message: 'too many requests.',
    headers: { 'Retry-After': String(retryAfterSeconds) },
    more: { retry_after: retryAfterSeconds },
  };
}

/** 422: what is wrong, by field as the client sent it. The name of a field is cut off where it is longer than any that is known. */
export function invalid(errors: FieldErrors): Problem {
  const shown = Object.entries(errors).map(([field, messages]) => [shownField(field), messages] as const);
  const [first] = shown;
  if (first === undefined) return { status: 422, message: 'the request is invalid.', errors };
  const [field, [problem = 'is invalid.']] = first;
  return { status: 422, message: `${field}: ${problem}`, errors: Object.fromEntries(shown) };
}

function shownField(field: string): string {
  return field.length > SHOWN_FIELD_LENGTH ? `${field.slice(0, SHOWN_FIELD_LENGTH)}…` : field;
}

/** Refusal codes of the rules → status. A code that is not here is a bug and answers 500. */
const STATUS_OF_REFUSAL: Readonly<Record<string, number>> = {
  'address-not-found': 404,
  'address-not-owned': 422,
  'bad-until': 422,
  'customer-disabled': 403,
  'too-many-prefixes': 422,
  'subnet-not-owned': 403,
  'synchronous-not-allowed': 403,
  'source-whitelist-not-allowed': 403,
  'source-whitelist-limit-reached': 422,
  'source-whitelist-too-broad': 422,
  'source-whitelist-reserved': 422,
  'source-whitelist-overlap': 422,
  'source-whitelist-not-found': 404,
};

/** The answer for a command that the rules refused. */
export function refused(refusal: Refusal): Problem {
  // The token, or the customer with all of its tokens, has gone while the request came in.
  if (refusal.refused === 'token-not-found' || refusal.refused === 'customer-not-found')
    return problems.authenticationRequired;
  const status = STATUS_OF_REFUSAL[refusal.refused];
  if (status === undefined) return { ...problems.internal, because: refusal };
  const { refused: code, field, because: message } = refusal;
  if (code === 'bad-until') return invalid({ [field ?? 'until']: [message] });
  if (code !== 'too-many-prefixes' || field === undefined) return { status, message };
  return { status, message, errors: { [field]: [message] } };
}

const causes = new WeakMap<ServerResponse, unknown>();

/** Why an answer is not what was asked for, as far as its sender has said so. */
export function causeOf(response: ServerResponse): unknown {
  return causes.get(response);
}

/** Keeps why an answer is not what was asked for: the log tells it. */
export function explain(response: ServerResponse, because: unknown): void {
  causes.set(response, because);
}

/** Why an answer is not what was asked for, though nothing is wrong: the log tells how far the views are. */
export const VIEWS_CATCH_UP = { because: 'the views are catching up with the log' } as const;

/** Sends a problem as JSON. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  if (response.writableEnded) return;
  const { status, message, errors, headers, more, because } = problem;
  if (because !== undefined) explain(response, because);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  sendJson(response, status, { message, ...(errors === undefined ? {} : { errors }), ...more });
}

const withCountsAsText = new WeakSet<ServerResponse>();

/** From now on bigints in this answer become decimal text. */
export function sendCountsAsText(response: ServerResponse): void {
  withCountsAsText.add(response);
}

/** The content type of this answer, where it is JSON. */
export function jsonType(response: ServerResponse): string {
  return withCountsAsText.has(response) ? `${JSON_TYPE}; numbers=string` : JSON_TYPE;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** A count as this answer writes it, in JSON. */
export function countText(response: ServerResponse, count: bigint): string {
  return withCountsAsText.has(response) ? `"${count}"` : count.toString();
}

/**
 * Sends JSON; bigints become exact integers, or text where that was asked for. What has been answered stays so: the HTTP parser may have refused the rest of a request
 * while its answer was being worked out.
 */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.writableEnded || response.headersSent) return;
  const bytes = Buffer.from(jsonText(body, (count) => countText(response, count)));
  if (!takesGzip(response, bytes.length)) return sendBytes(response, status, bytes);
  gzip(bytes, (error, packed) => {
    if (response.writableEnded || response.headersSent) return;
    if (error === null) response.setHeader('Content-Encoding', 'gzip');
    sendBytes(response, status, error === null ? packed : bytes);
  });
}

function sendBytes(response: ServerResponse, status: number, bytes: Uint8Array): void {
  response.statusCode = status;
  response.setHeader('Content-Type', jsonType(response));
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** Smaller answers gain nothing: they fit into one packet. */
const GZIP_BYTES_MIN = 1024;
/** `gzip` or `x-gzip` among the encodings that are taken, without a weight of nought. A weight is read in one way only: a long one would hold up all others. */
const GZIP = /(?:^|,)[ \t]*(?:x-)?gzip[ \t]*(?:;[ \t]*q[ \t]*=[ \t]*(?:1(?:\.0*)?|0\.0*[1-9]\d*)[ \t]*)?(?:,|$)/i;

/** Whether an answer of so many bytes goes out as gzip; caches are told that it depends on what is taken. */
export function takesGzip(response: ServerResponse, bytes: number): boolean {
  if (bytes <= GZIP_BYTES_MIN) return false;
  response.appendHeader('Vary', 'Accept-Encoding');
  const accepted = response.req.headers['accept-encoding'];
  return typeof accepted === 'string' && GZIP.test(accepted);
}

/** JSON text of a value in which bigints are written as `counted` says, which `JSON.stringify` does not write at all. */
function jsonText(value: unknown, counted: (count: bigint) => string): string {
  if (typeof value === 'bigint') return counted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item, counted)).join(',')}]`;
  let text = '';
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonText(member, counted)}`;
  }
  return `{${text}}`;
}
