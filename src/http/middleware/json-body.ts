import { raw, type RequestHandler } from 'express';
import type { z } from 'zod';
import { bodyTooLarge, type FieldErrors, invalid, type Problem, problems, sendProblem } from '../problems.ts';
import { issueText } from './issue-texts.ts';
import { repeatedFields } from './repeated-fields.ts';
import { requireWhole } from './whole-requests.ts';

const BODY_BYTES_MAX = 1024 * 1024;
/** With parameters or none; a charset can only be UTF-8. */
const JSON_TYPE =
  /^application\/json[ \t]*(?:;(?![ \t]*charset[ \t]*=)[^;]*|;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)*$/i;
/** Does not read what is not UTF-8 as replacement characters. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** The first wrong fields tell enough; naming them all would let a small request ask for a large answer. */
const FIELDS_MAX = 100;
/** The object itself is the first level. */
const DEPTH_MAX = 64;

/** 415 for a body that does not say that it is JSON. A request without any body goes on and is told what is missing. */
function requireJson(bytesMax: number): RequestHandler {
  return (request, response, next) => {
    const { 'content-length': length, 'content-type': type, 'transfer-encoding': encoding } = request.headers;
    const hasBody = length !== '0' && (length ?? encoding) !== undefined;
    if ((hasBody || type !== undefined) && !JSON_TYPE.test(type ?? ''))
      sendProblem(response, problems.wrongContentType);
    // Said at once: the parser would read all of it first.
    else if (Number(length ?? 0) > bytesMax) sendProblem(response, bodyTooLarge(bytesMax));
    else next();
  };
}

/** Has all of a JSON body read, as bytes; 413 for a larger one. */
export function jsonBodyUpTo(bytesMax: number): readonly RequestHandler[] {
  const read = raw({ limit: bytesMax, type: () => true });
  const readWithin: RequestHandler = (request, response, next) =>
    read(request, response, (error?: unknown) => {
      if (isTooLarge(error)) sendProblem(response, bodyTooLarge(bytesMax));
      else next(error);
    });
  return [requireJson(bytesMax), readWithin, requireWhole];
}

function isTooLarge(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 413;
}

/** Has all of a JSON body of customers read, as bytes. */
export const jsonBody: readonly RequestHandler[] = jsonBodyUpTo(BODY_BYTES_MAX);

/** A body as it was read, and which of its fields are there more than once: that takes as long again as reading it. */
export type ReadBody = Readonly<{ sent: unknown; length: number; repeated: () => FieldErrors }>;

/** What a body says; a request without any says `{}`. RFC 8259: JSON between systems is UTF-8, with or without a mark at its start. */
export function readJson(body: unknown): ReadBody | undefined {
  if (!(body instanceof Uint8Array) || body.length === 0) return { sent: {}, length: 0, repeated: () => ({}) };
  try {
    const text = UTF8.decode(body);
    const sent: unknown = JSON.parse(text);
    const repeated = (): FieldErrors =>
      Object.fromEntries(repeatedFields(text).map((path) => [path, ['must be given once.']]));
    return { sent, length: body.length, repeated };
  } catch {
    return undefined;
  }
}

/** A body longer than this that is refused already is not looked through for repeated fields as well. */
const LOOKED_THROUGH_BYTES = 16 * 1024;

/** The value of a body that a schema takes and that has each field once, or a 422 that names what is wrong with it and with the query. */
export function checkedBody<T>(
  schema: z.ZodType<T>,
  { sent, length, repeated }: ReadBody,
  query: FieldErrors,
): Readonly<{ value: T }> | Readonly<{ problem: Problem }> {
  const outcome = checked(schema, sent, query);
  if ('problem' in outcome && length > LOOKED_THROUGH_BYTES) return outcome;
  const errors = repeated();
  return Object.keys(errors).length === 0 ? outcome : checked(schema, sent, { ...query, ...errors });
}

/** What a schema says of a body: its value, or a 422 that names every field as the client sent it, after those that are known to be wrong already. */
function checked<T>(
  schema: z.ZodType<T>,
  body: unknown,
  known: FieldErrors = {},
): Readonly<{ value: T }> | Readonly<{ problem: Problem }> {
  const wrong = bodyProblem(body);
  if (wrong !== undefined) return { problem: invalid({ ...known, body: [wrong] }) };
  const parsed = schema.safeParse(body);
  if (!parsed.success) return { problem: invalid(withoutMore(known, fieldErrors(parsed.error.issues))) };
  return Object.keys(known).length > 0 ? { problem: invalid(known) } : { value: parsed.data };
}

/** What no body may be, whatever its schema. What is nested deeper than anyone needs could be taken now and not be read again later: schemas follow it level by level. */
export function bodyProblem(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'must be a JSON object.';
  return isDeeper(body, DEPTH_MAX) ? `must not be nested deeper than ${DEPTH_MAX} levels.` : undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** What is known of a field already says enough about it. */
function withoutMore(known: FieldErrors, others: FieldErrors): FieldErrors {
  const more = Object.entries(others).filter(([field]) => !Object.hasOwn(known, field));
  return Object.fromEntries([...Object.entries(known), ...more].slice(0, FIELDS_MAX));
}

/** What is wrong with a value, by field as the client sent it. */
export function fieldErrors(issues: readonly z.core.$ZodIssue[]): Record<string, string[]> {
  const errors = new Map<string, string[]>();
  const add = (field: string, message: string): void => {
    const messages = errors.get(field);
    if (messages !== undefined) messages.push(message);
    else if (errors.size < FIELDS_MAX) errors.set(field, [message]);
  };
  for (const issue of issues) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...path, key].join('.'), 'is not a known field.');
    } else {
      add(path.join('.') || 'body', issueText(issue));
    }
  }
  return Object.fromEntries(errors);
}
