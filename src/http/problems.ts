import type { ServerResponse } from 'node:http';
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
  wrongContentType: { status: 415, message: 'the content type must be application/json, in UTF-8.' },
  wrongContentEncoding: { status: 415, message: 'the content encoding must be identity, gzip, deflate or br.' },
  requestTimeout: { status: 408, message: 'the request took too long to arrive.' },
  expectationFailed: { status: 417, message: 'the only expectation that can be met is 100-continue.' },
  headersTooLarge: { status: 431, message: 'the request headers are too large.' },
  internal: { status: 500, message: 'internal server error' },
  unavailable: { status: 503, message: 'the service is temporarily unavailable.', headers: { 'Retry-After': '5' } },
} as const satisfies Record<string, Problem>;

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
  const status = STATUS_OF_REFUSAL[refusal.refused];
  if (status === undefined) return { ...problems.internal, because: refusal };
  const { refused: code, field, because: message } = refusal;
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

/** Sends a problem as JSON. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  if (response.writableEnded) return;
  const { status, message, errors, headers, more, because } = problem;
  if (because !== undefined) explain(response, because);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  sendJson(response, status, { message, ...(errors === undefined ? {} : { errors }), ...more });
}

/**
 * Sends JSON; bigints become exact integers. What has been answered stays so: the HTTP parser may have refused the rest of a request
 * while its answer was being worked out.
 */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.writableEnded) return;
  const text = jsonText(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** JSON text of a value in which bigints are written as exact integers, which JSON allows and `JSON.stringify` does not. */
function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  let text = '';
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonText(member)}`;
  }
  return `{${text}}`;
}
