import { createServer, type Server } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response, Router } from 'express';
import type { Store } from 'express-rate-limit';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { CustomerView } from '../projections/ip-control/customer-view.ts';
import type { TokenView } from '../projections/ip-control/token-view.ts';
import type { Views } from '../projections/engine/view-cache.ts';
import { identifyCaller, requireCaller } from './middleware/authentication.ts';
import { bareAddress } from './middleware/client-address.ts';
import { type Connections, watchConnections } from './server/connections.ts';
import { classesFor } from './server/express-prototypes.ts';
import { healthRoutes, type Readiness } from './operations/health.ts';
import { ipRoutes, type IpDependencies } from './customer/ips.ts';
import { sourceWhitelistRoutes, type SourceWhitelistDependencies } from './customer/source-whitelist.ts';
import { subnetRoutes, type SubnetViews } from './customer/subnets.ts';
import { limitRate, showDefaultLimit } from './middleware/limits.ts';
import { causeOf, type Problem, problems, sendProblem } from './problems.ts';
import { parseQuery } from './middleware/query.ts';
import { routerOf } from './route.ts';
import { contextOf, openContext, wasRefused } from './middleware/request-context.ts';
import { answerUnreadableRequests, lacksHost } from './server/unreadable-requests.ts';

export type HttpDependencies = IpDependencies &
  SourceWhitelistDependencies &
  Readonly<{
    views: SubnetViews & Readonly<{ tokens: Views<TokenView>; customers: Views<CustomerView> }>;
    readiness: Readiness;
    /** Whether the views show what was answered before this server started. */
    isCaughtUp: () => boolean;
    /** Whether a failure means that a store can't be reached. */
    isOutage: (error: unknown) => boolean;
    log: Log;
    clock: Clock;
    trustProxy: boolean | number | string;
    rateLimitStore?: Store;
  }>;

/** The HTTP server of the customer API and the health pages, not listening yet, and its connections. */
export function createHttpServer(
  dependencies: HttpDependencies,
): Readonly<{ server: Server; connections: Connections }> {
  const { views, log, trustProxy, clock, rateLimitStore, isCaughtUp } = dependencies;
  const app = express();
  app.set('case sensitive routing', true);
  trustProxies(app, trustProxy);
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('query parser', parseQuery);
  const known = [
    whenCaughtUp(isCaughtUp),
    identifyCaller(views),
    unlessAnswered,
    limitRate(clock, rateLimitStore),
    unlessAnswered,
  ];
  const api = Router({ caseSensitive: true });
  // Changes come first: they are what must be quick under attack.
  const routes = [...ipRoutes(dependencies), ...subnetRoutes(views), ...sourceWhitelistRoutes(dependencies)];
  api.use(...known, requireCaller, routerOf(routes, { caseSensitive: true }));
  api.use(answerNotFound);
  app.use(openExchange(log));
  app.use('/api/v1', api);
  app.use(routerOf(healthRoutes(dependencies.readiness), { caseSensitive: false }));
  app.use(...known, answerNotFound);
  app.use(answerError(dependencies));
  return serverOf(app, log);
}

const answerNotFound: RequestHandler = (_request, response) => sendProblem(response, problems.notFound);

function whenCaughtUp(isCaughtUp: () => boolean): RequestHandler {
  return (_request, response, next) => (isCaughtUp() ? next() : sendProblem(response, NOT_READABLE));
}

const NOT_READABLE: Problem = {
  ...problems.unavailable,
  because: 'the views can not be read: this server does not keep them at this moment; the lines before say why',
};

/** Express compiles the setting; what it is asked about then is the address of a proxy, whatever port the proxy before it has written there. */
function trustProxies(app: Express, setting: HttpDependencies['trustProxy']): void {
  app.set('trust proxy', setting);
  const isTrusted: unknown = app.get('trust proxy fn');
  if (typeof isTrusted !== 'function') return;
  app.set('trust proxy', (address: string, hop: number) => Boolean(isTrusted(bareAddress(address), hop)));
}

/** Nothing goes on with a request once the HTTP parser has refused the rest of it. */
const unlessAnswered: RequestHandler = (_request, response, next) => {
  if (!response.headersSent) next();
};

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** What every request gets, whatever becomes of it. */
function openExchange(log: Log): RequestHandler {
  return (request, response, next) => {
    const context = openContext(request, response);
    showDefaultLimit(response);
    const { method } = request;
    const path = pathOf(request.originalUrl);
    response.once('close', () => {
      const { requestId, caller, startedMilliseconds } = context;
      if (response.statusCode >= 500) logFailure(log, response, causeOf(response) ?? 'its cause was not said');
      log[wasRefused(response) ? 'debug' : 'info'](
        {
          requestId,
          method,
          path,
          status: response.statusCode,
          customer: caller?.customer.name,
          milliseconds: Math.round((performance.now() - startedMilliseconds) * 10) / 10,
        },
        'request',
      );
    });
    if (lacksHost(request)) sendProblem(response, problems.badRequest);
    else next();
  };
}

function answerError({ isOutage, log }: Pick<HttpDependencies, 'isOutage' | 'log'>): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const problem = isOutage(error) ? problems.unavailable : problemOf(error);
    if (problem.status >= 500) logFailure(log, response, error);
    if (!response.headersSent) sendProblem(response, problem);
    // Half an answer must not look like a whole one.
    else if (!response.writableEnded) response.destroy();
  };
}

const explained = new WeakSet<Response>();

/** Each answer that is the service's own fault has its cause in the log, once. */
function logFailure(log: Log, response: Response, error: unknown): void {
  if (explained.has(response)) return;
  explained.add(response);
  log.error({ requestId: contextOf(response).requestId, error }, 'request failed');
}

/** What a thrown error means to the client. The body parser's and the router's own errors carry a status. */
function problemOf(error: unknown): Problem {
  // A part of the path that is no percent-encoded text names nothing.
  if (error instanceof URIError) return problems.notFound;
  if (typeof error !== 'object' || error === null || !('status' in error)) return problems.internal;
  const type = 'type' in error ? error.type : undefined;
  switch (error.status) {
    case 400:
      return problems.badRequest;
    case 413:
      return problems.bodyTooLarge;
    case 415:
      return type === 'encoding.unsupported' ? problems.wrongContentEncoding : problems.wrongContentType;
    default:
      return problems.internal;
  }
}

function serverOf(app: Express, log: Log): Readonly<{ server: Server; connections: Connections }> {
  const server = createServer({ ...classesFor(app), requireHostHeader: false });
  // A client that has said all that it has to say is answered all the same. Node has no documented name for this.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = watchConnections(server);
  server.on('request', (request, response) => {
    if (connections.takes(request)) app(request, response);
  });
  answerUnreadableRequests(server, connections, log);
  server.keepAliveTimeout = 65_000;
  server.requestTimeout = 60_000;
  server.headersTimeout = 30_000;
  return { server, connections };
}
