import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { invariant } from '../../kernel/invariant.ts';
import type { AdminPrincipal } from '../admin/access.ts';
import type { TokenView } from '../../projections/ip-control/token-view.ts';
import type { CustomerView } from '../../projections/ip-control/customer-view.ts';

/** Who is calling: a customer, through one of its tokens. `isElsewhere`: from where that token may not be used. */
export type Caller = Readonly<{ customer: CustomerView; tokenId: string; token: TokenView; isElsewhere: boolean }>;

/** What the middlewares find out about one request. */
export type RequestContext = {
  requestId: string;
  /** Of the trace that the request is part of, where its client says so (W3C Trace Context). */
  traceId: string | undefined;
  startedMilliseconds: number;
  caller: Caller | undefined;
  /** What has become of the token that was sent, where a customer has one like it that is of no use now. */
  tokenEnd: 'is disabled' | 'has expired' | undefined;
  /** Who asks for a page, or calls the administration API. */
  principal: AdminPrincipal | undefined;
};

declare global {
  // Express's own way for types to say what `response.locals` holds.
  namespace Express {
    interface Locals {
      context?: RequestContext;
    }
  }
}

const SANE_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Gives a request its context, with an id, an incoming one that looks sane included, and sends the id back. */
export function openContext(request: Request, response: Response): RequestContext {
  const incoming = request.headers['x-request-id'];
  const requestId = typeof incoming === 'string' && SANE_REQUEST_ID.test(incoming) ? incoming : randomUUID();
  const traceId = traceIdOf(request.headers.traceparent);
  const context = {
    requestId,
    traceId,
    startedMilliseconds: performance.now(),
    caller: undefined,
    tokenEnd: undefined,
    principal: undefined,
  };
  response.locals.context = context;
  response.setHeader('X-Request-Id', requestId);
  return context;
}

/** W3C Trace Context: version, trace, parent, flags; later versions may append to it. An id of zeros is none. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/;

function traceIdOf(traceparent: string | readonly string[] | undefined): string | undefined {
  return typeof traceparent === 'string' ? TRACE_PARENT.exec(traceparent)?.[1] : undefined;
}

/** The context of a response that passed `openContext`. */
export function contextOf(response: Response): RequestContext {
  const { context } = response.locals;
  invariant(context, 'every request has a context');
  return context;
}

const refusedByParser = new WeakSet<ServerResponse>();

/** Notes that the HTTP parser has refused the rest of a request, which is answered and done with. */
export function noteRefused(response: ServerResponse): void {
  refusedByParser.add(response);
}

/** Whether the HTTP parser has refused the rest of the request. */
export function wasRefused(response: ServerResponse): boolean {
  return refusedByParser.has(response);
}

/** The caller of a request that passed authentication. */
export function callerOf(response: Response): Caller {
  const { caller } = contextOf(response);
  invariant(caller, 'the route is behind authentication');
  return caller;
}

/** Whose request is counted. A token that is used from elsewhere has leaked, it seems: that must not take the requests of its customer. */
export function countedCaller({ caller }: RequestContext): Caller | undefined {
  return caller?.isElsewhere === true ? undefined : caller;
}

/** Who asks, of a request that passed the authentication of administrators. @public for the routes of administration */
export function principalOf(response: Response): AdminPrincipal {
  const { principal } = contextOf(response);
  invariant(principal, 'the route is behind authentication');
  return principal;
}

/** The bearer token of a request. */
export function bearerToken(request: Request): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/=-]{1,512}) *$/i.exec(request.headers.authorization ?? '')?.[1];
}
