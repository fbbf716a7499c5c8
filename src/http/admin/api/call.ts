import type { Writable } from 'node:stream';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { type Expected, recordingInto } from '../../../application/operations/recording.ts';
import type { ServedApplication } from '../../../application/application.ts';
import type { CommandContext } from '../../../commands/aggregate.ts';
import { saidOf } from '../../../domain/grounds.ts';
import type { AdminScope } from '../../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/decider.ts';
import type { Sealed } from '../../../kernel/event.ts';
import type { Log } from '../../../ports/log.ts';
import { bodyProblem, fieldErrors, jsonBodyUpTo, readJson } from '../../middleware/json-body.ts';
import { contextOf, principalOf } from '../../middleware/request-context.ts';
import { type FieldErrors, invalid, type Problem, problems, sendJson, sendProblem } from '../../problems.ts';
import type { Operation, Route } from '../../route.ts';
import { untilClosed } from '../../until-closed.ts';
import { type AdminPrincipal, contextOfPrincipal, mayDo, scopeMissing } from '../access.ts';
import { refusalProblem } from './refusals.ts';

/** An operation of administrators, and which of their scopes it needs. */
export type AdminOperation = Operation & Readonly<{ scope: 'admin'; needs: AdminScope }>;

export type AdminApi = Readonly<{
  application: ServedApplication;
  /** The same for a rehearsal: what is recorded there is forgotten with it. */
  rehearse: () => ServedApplication;
  /** Waits (bounded) until every view shows this position. */
  shown: (position: bigint) => Promise<boolean>;
  log: Log;
}>;

/** One request that may be carried out: what was sent, as its operation reads it. */
export type AdminCall<O extends AdminOperation> = Readonly<{
  /** Of a rehearsal, where the request is one. */
  application: ServedApplication;
  context: CommandContext;
  principal: AdminPrincipal;
  /** What of it is taken in the answer. */
  accepts: string;
  params: ParsedOf<O, 'params'>;
  query: ParsedOf<O, 'query'>;
  body: BodyOf<O>;
  /** Whether the answer is what would come of it. */
  isRehearsal: boolean;
  /**
   * Holds `If-Match` and `If-None-Match` against the stream that says how a resource is; by default that is there where its stream is. Gives the
   * same application, whose next command on that stream finds it as it was, where the caller has said how it must be; or a refusal, where it is not so.
   */
  heldTo: (stream: Expected | undefined, isThere?: boolean) => ServedApplication | Refusal;
  /** Whether only what is not there may be made (`If-None-Match: *`). */
  onlyNew: boolean;
  signal: AbortSignal;
}>;

type ParsedOf<O extends AdminOperation, Part extends 'params' | 'query'> =
  O['request'] extends Readonly<Record<Part, infer S extends z.ZodObject>>
    ? z.output<S>
    : Readonly<Record<string, never>>;
type BodyOf<O extends AdminOperation> =
  O['request'] extends Readonly<{ body: { schema: infer S extends z.ZodType } }> ? z.output<S> : undefined;

/** What is answered. `etag`: the revision of the stream that says how the resource is; `meta` beside what each change says of itself. */
export type AdminAnswer = Readonly<{
  status?: number;
  data?: unknown;
  meta?: object;
  etag?: bigint;
  headers?: Readonly<Record<string, string>>;
  /** Sends the answer in place of JSON. */
  send?: (response: Parameters<RequestHandler>[1]) => Promise<void>;
}>;

/** The larger documents are those of worker pools, which the command line takes up to 1 MiB. */
const BODY_BYTES_MAX = 64 * 1024;

/** An operation with what carries it out: who asks is allowed to, what was sent is right, and what was recorded can be read once it is answered. */
export function adminRoute<const O extends AdminOperation>(
  operation: O,
  api: AdminApi,
  answer: (call: AdminCall<O>) => Promise<AdminAnswer | Problem | Refusal>,
  { bodyBytesMax = BODY_BYTES_MAX }: Readonly<{ bodyBytesMax?: number }> = {},
): Route {
  const allowed: RequestHandler = (_request, response, next) => {
    if (mayDo(principalOf(response), operation.needs)) next();
    else sendProblem(response, scopeMissing(operation.needs));
  };
  const carryOut: RequestHandler = async (request, response) => {
    const sent = sentWith(operation, request);
    if ('problem' in sent) return sendProblem(response, sent.problem);
    const { params, query, body } = sent;
    const recorded: Sealed[] = [];
    const isRehearsal = 'dry_run' in query && query.dry_run === true;
    const opened = isRehearsal ? api.rehearse() : api.application;
    const principal = principalOf(response);
    const grounds = saidOf(groundsOf(body ?? query));
    const call = {
      application: recordingInto(opened, recorded),
      context: { ...contextOfPrincipal(principal, contextOf(response).requestId), ...grounds },
      principal,
      accepts: request.headers.accept ?? '',
      params,
      query,
      body,
      isRehearsal,
      heldTo: (stream: Expected | undefined, isThere = stream !== undefined) => {
        if (!isAsSaid(request.headers, isThere ? stream : undefined)) return NOT_AS_SAID;
        return recordingInto(opened, recorded, saysHowItIs(request.headers) ? stream : undefined);
      },
      onlyNew: request.headers['if-none-match']?.trim() === '*',
      signal: untilClosed(response),
    };
    // What the operation's schemas have made of what was sent is what its call holds.
    const given = await answer(call as unknown as AdminCall<O>);
    if (isRefusal(given)) return sendProblem(response, refusalProblem(given));
    if ('message' in given) return sendProblem(response, given);
    if (!isRehearsal && operation.method !== 'GET') await api.shown(await api.application.store.end());
    for (const [name, value] of Object.entries(given.headers ?? {})) response.setHeader(name, value);
    // What a rehearsal has recorded is forgotten: another change may get its revision, and who has rehearsed has not seen that.
    const isRevision = !isRehearsal || recorded.length === 0;
    if (given.etag !== undefined && isRevision) response.setHeader('ETag', `"${given.etag}"`);
    if (given.send !== undefined) return given.send(response);
    const { status = 200, data, meta } = given;
    const about = operation.method === 'GET' ? {} : changeMeta(recorded, isRehearsal);
    const all = { ...about, ...meta };
    sendJson(response, status, { data, ...(Object.keys(all).length === 0 ? {} : { meta: all }) });
  };
  const reads = operation.request.body === undefined ? [] : jsonBodyUpTo(bodyBytesMax);
  return { ...operation, handle: [allowed, ...reads, carryOut] };
}

/** What each change says of itself: whether anything was recorded; of a rehearsal, what would be. */
function changeMeta(recorded: readonly Sealed[], isRehearsal: boolean): object {
  const changed = recorded.length > 0;
  if (!isRehearsal) return { changed };
  return { changed, dry_run: true, events: recorded.map(({ type, data }) => ({ type, data })) };
}

type Sent = Readonly<{ params: object; query: object; body: unknown }>;

function sentWith(
  { request: { params, query, body } }: AdminOperation,
  request: Parameters<RequestHandler>[0],
): Sent | Readonly<{ problem: Problem }> {
  const errors: Record<string, readonly string[]> = {};
  const note = (found: FieldErrors): void => {
    for (const [field, messages] of Object.entries(found)) errors[field] ??= messages;
  };
  const repeated = Object.entries(request.query).filter(([, value]) => typeof value !== 'string');
  note(Object.fromEntries(repeated.map(([name]) => [name, ['must be given once.']])));
  const parsed = (schema: z.ZodType, value: unknown): unknown => {
    const outcome = schema.safeParse(value);
    if (outcome.success) return outcome.data;
    note(fieldErrors(outcome.error.issues));
    return {};
  };
  const named = parsed(params ?? NOTHING, { ...request.params });
  const asked = parsed(query ?? NOTHING, { ...request.query });
  let said: unknown;
  if (body !== undefined) {
    const read = readJson(request.body);
    if (read === undefined) return { problem: problems.malformedJson };
    const wrong = bodyProblem(read.sent);
    if (wrong !== undefined) note({ body: [wrong] });
    else {
      note(read.repeated());
      said = parsed(body.schema, read.sent);
    }
  }
  if (Object.keys(errors).length > 0) return { problem: invalid(errors) };
  return { params: Object(named), query: Object(asked), body: said };
}

const NOTHING = z.strictObject({});

function groundsOf(given: unknown): Readonly<{ reason?: string; ticket?: string }> {
  const { reason, ticket } = Object(given) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof ticket === 'string' ? { ticket } : {}),
  };
}

/** Writes a piece of an answer; resolves when there is room for the next. @throws what has happened to the connection */
export function writePiece(response: Writable, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error instanceof Error ? reject(error) : resolve()));
  });
}

/** Whether a request says at which revision something must be, or that it must not be: others do not mind what has happened meanwhile. */
function saysHowItIs(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return (ifMatch !== undefined && String(ifMatch).trim() !== '*') || ifNoneMatch !== undefined;
}

const NOT_AS_SAID = refuse('revision-differs', 'it is not as If-Match and If-None-Match say.');

/** RFC 9110, 13.1: `*` is anything that is there. */
function isAsSaid(
  { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: Readonly<Record<string, string | string[] | undefined>>,
  there: Expected | undefined,
): boolean {
  const names = (header: string | string[]): boolean =>
    String(header)
      .split(',')
      .some((tag) => tag.trim() === '*' || tag.trim() === `"${there?.revision}"`);
  if (ifMatch !== undefined && (there === undefined || !names(ifMatch))) return false;
  return ifNoneMatch === undefined || there === undefined || !names(ifNoneMatch);
}
