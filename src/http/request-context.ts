import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { invariant } from '../kernel/invariant.ts';
import type { CustomerView } from '../projections/ip-control/customer-view.ts';

/** Who is calling: a customer, through one of its tokens. */
export type Caller = Readonly<{ customer: CustomerView; tokenId: string }>;

/** What the middlewares find out about one request. */
export type RequestContext = { requestId: string; startedMilliseconds: number; caller: Caller | undefined };

const contexts = new WeakMap<Response, RequestContext>();
const SANE_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Gives every request an id, an incoming one that looks sane included, and sends it back. */
export const requestContext: RequestHandler = (request, response, next) => {
  const incoming = request.headers['x-request-id'];
  const requestId = typeof incoming === 'string' && SANE_REQUEST_ID.test(incoming) ? incoming : randomUUID();
  contexts.set(response, { requestId, startedMilliseconds: performance.now(), caller: undefined });
  response.setHeader('X-Request-Id', requestId);
  next();
};

/** The context of a response that passed `requestContext`. */
export function contextOf(response: Response): RequestContext {
  const context = contexts.get(response);
  invariant(context, 'every request has a context');
  return context;
}

/** The caller of a request that passed authentication. */
export function callerOf(response: Response): Caller {
  const { caller } = contextOf(response);
  invariant(caller, 'the route is behind authentication');
  return caller;
}

/** The bearer token of a request. */
export function bearerToken(request: Request): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/=-]{1,512}) *$/i.exec(request.headers.authorization ?? '')?.[1];
}
