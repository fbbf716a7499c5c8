import { type RequestHandler, Router } from 'express';
import { z } from 'zod';
import { epochMilliseconds } from '../domain/instants.ts';
import type { AdminScope } from '../events/ip-control/administrator.ts';
import { methodNotAllowed, sendProblem } from './problems.ts';

/** One endpoint: where it is, what it takes, and all that it may answer. What is made of the endpoints is made from these. */
export type Operation = Readonly<{
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below what its scope begins with; `{name}` is a parameter. */
  path: string;
  /** Who may ask: a customer with a token, below `/api/v1`; an administrator with one, below `/api/admin/v1`; a worker, below `/api/worker/v1`; or anybody. */
  scope: 'customer' | 'admin' | 'worker' | 'anybody';
  /** Of an administrator's operation: the scope that the token must have. */
  needs?: AdminScope;
  /** As clients send it; what the endpoint reads from that is its own. Parameters and queries are texts. */
  request: Readonly<{
    params?: z.ZodObject;
    query?: z.ZodObject;
    body?: Readonly<{ contentType: 'application/json' | 'multipart/form-data'; schema: z.ZodType }>;
  }>;
  /** By status: the body. */
  answers: Readonly<Record<number, z.ZodType>>;
  /** Since when it should not be used any more, and when it will be gone: instants. Every answer says both. */
  deprecated?: Readonly<{ since: string; sunset: string }>;
  /** Of the answers; default JSON. */
  contentType?: string;
  /** Of what may come in place of JSON with status 200, where it was asked for or is what the operation gives. */
  otherTypes?: readonly string[];
}>;

/** An operation with what carries it out, in this order. */
export type Route = Operation & Readonly<{ handle: readonly RequestHandler[] }>;

const message = z.strictObject({ message: z.string() });
const fieldErrors = z.record(z.string(), z.array(z.string()).nonempty());

/** What is answered in place of what was asked for. */
export const PROBLEMS = {
  400: message,
  401: message,
  403: message,
  404: message,
  /** Of a path, whatever the method: never of an operation. */
  405: message,
  409: message,
  412: message,
  413: message,
  415: message,
  422: z.strictObject({ message: z.string(), errors: fieldErrors.optional() }),
  429: z.strictObject({ message: z.string(), retry_after: z.int().min(1).max(60) }),
  500: message,
  503: message,
} as const;

/** The answers with these statuses, which are the same for all operations. */
export function problemAnswers<S extends keyof typeof PROBLEMS>(...statuses: readonly S[]): Pick<typeof PROBLEMS, S> {
  const picked: Partial<typeof PROBLEMS> = {};
  for (const status of statuses) Object.assign(picked, { [status]: PROBLEMS[status] });
  return picked as Pick<typeof PROBLEMS, S>;
}

/** What every operation of customers may answer. */
export const CUSTOMER_PROBLEMS = problemAnswers(401, 403, 422, 429, 500, 503);

/** What is answered where there is no operation: the path is unknown, or has other methods. @public what describes the API is made from it */
export const NO_OPERATION_PROBLEMS = problemAnswers(401, 403, 404, 405, 429, 500, 503);

/** What the HTTP parser answers to a request, whatever it asks for. @public what describes the API is made from it */
export const UNREADABLE_PROBLEMS: Operation['answers'] = {
  ...problemAnswers(400, 413),
  408: message,
  417: message,
  431: message,
};

/** A body of JSON, as an operation's request names it. */
export function jsonOf<S extends z.ZodType>(schema: S) {
  return { contentType: 'application/json', schema } as const;
}

/** How a text is described that has one of these formats; what it must be, its own reader says. */
export function textOf(...formats: readonly string[]) {
  return { type: undefined, anyOf: formats.map((format) => ({ type: 'string', format })) } as const;
}

/** How an exact count is described. */
export const EXACT_COUNT = { type: 'integer', minimum: 0, description: 'Exact, also above 2^53.' } as const;

/**
 * A count of addresses: an exact integer, which may be larger than 2^53 (a /48 has 2^80). Those who read JSON numbers as doubles lose its
 * last digits, and can have it as decimal text.
 */
export const exactCount = z
  .custom<number | bigint>((value) => typeof value === 'bigint' || Number.isSafeInteger(value))
  .refine((value) => value >= 0)
  .meta(EXACT_COUNT);

/** How counts are to be written, which every operation of customers takes. */
export const numbersQuery = { numbers: z.literal('string').optional() } as const;

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
function sayDeprecated({ since, sunset }: NonNullable<Operation['deprecated']>): RequestHandler {
  const date = new Date(epochMilliseconds(sunset)).toUTCString();
  const deprecation = `@${Math.floor(epochMilliseconds(since) / 1000)}`;
  return (_request, response, next) => {
    response.setHeader('Deprecation', deprecation);
    response.setHeader('Sunset', date);
    next();
  };
}

/** The Express router of these routes. A path that has other methods than the one that is asked for is 405. */
export function routerOf(routes: readonly Route[], options: Readonly<{ caseSensitive: boolean }>): Router {
  const router = Router(options);
  for (const path of new Set(routes.map((route) => route.path))) {
    const atPath = routes.filter((route) => route.path === path);
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const { method, deprecated, handle: own } of atPath) {
      const handle = deprecated === undefined ? own : [sayDeprecated(deprecated), ...own];
      switch (method) {
        case 'GET':
          route.get(...handle);
          break;
        case 'POST':
          route.post(...handle);
          break;
        case 'PUT':
          route.put(...handle);
          break;
        case 'PATCH':
          route.patch(...handle);
          break;
        case 'DELETE':
          route.delete(...handle);
          break;
      }
    }
    // Express answers HEAD as it does GET.
    const allowed = atPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    route.all((_request, response) => sendProblem(response, methodNotAllowed(allowed)));
  }
  return router;
}
