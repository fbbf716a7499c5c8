import { createServer, type Server } from 'node:http';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Store } from 'express-rate-limit';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type AdminTokenViews, identifyPrincipal, requirePrincipal } from './admin/api/authentication.ts';
import type { AdminApi } from './admin/api/call.ts';
import { ADMIN_OPERATIONS, adminRoutes } from './admin/api/routes.ts';
import { type AuthenticationDependencies, identifyCaller, requireCaller } from './middleware/authentication.ts';
import { bareAddress } from './middleware/client-address.ts';
import { type Connections, watchConnections } from './server/connections.ts';
import { classesFor } from './server/express-prototypes.ts';
import { descriptionRoutes } from './openapi/pages.ts';
import { healthRoutes, type Readiness } from './operations/health.ts';
import type { Instruments } from './operations/instruments.ts';
import { ipRoutes, type IpDependencies } from './customer/ips.ts';
import { sourceWhitelistRoutes, type SourceWhitelistDependencies } from './customer/source-whitelist.ts';
import { subnetRoutes, type SubnetDependencies } from './customer/subnets.ts';
import { type WebhookDeliveryDependencies, webhookDeliveryRoutes } from './customer/webhook-deliveries.ts';
import { type CommitDependencies, commitRoutes } from './customer/commits.ts';
import { allowOrigins } from './middleware/cross-origin.ts';
import { limitRate, showDefaultLimit } from './middleware/limits.ts';
import { causeOf, type Problem, problems, sendProblem, VIEWS_CATCH_UP } from './problems.ts';
import { chooseNumbers } from './middleware/numbers.ts';
import { parseQuery } from './middleware/query.ts';
import { routerOf } from './route.ts';
import { type WorkerApiDependencies, workerRoutes } from './worker/worker-api.ts';
import { contextOf, countedCaller, openContext, wasRefused } from './middleware/request-context.ts';
import { answerUnreadableRequests, lacksHost } from './server/unreadable-requests.ts';

export type HttpDependencies = IpDependencies &
  SourceWhitelistDependencies &
  AuthenticationDependencies &
  SubnetDependencies &
  CommitDependencies &
  WebhookDeliveryDependencies &
  Readonly<{
    /** Of pages that browsers may call the customers' API from. */
    corsOrigins: readonly string[];
    readiness: Readiness;
    workerApi: WorkerApiDependencies;
    /** Whether the views show what was answered before this server started. */
    isCaughtUp: () => boolean;
    /** Whether they don't because they are being made from the log. */
    isCatchingUp?: () => boolean;
    /** Resolves when reads may be answered: `false` when views don't show in time what was answered before. Nothing: they do. */
    untilShown: () => Promise<boolean> | undefined;
    /** What a failure of the stores means to the client; `undefined` for any other. */
    outageOf: (error: unknown) => Outage | undefined;
    log: Log;
    clock: Clock;
    trustProxy: boolean | number | string;
    rateLimitStore?: Store;
    instruments: Pick<Instruments, 'requestEnded' | 'rateLimited'>;
    /** What administrators use, where it is served beside the customer API. */
    administration?: Administration;
  }>;

/** The pages of administrators, below `/admin`, and their API, below `/api/admin/v1`. */
export type Administration = Readonly<{ pages: Router; api?: AdminApi & Readonly<{ views: AdminTokenViews }> }>;

type ApiLimits = Pick<HttpDependencies, 'clock' | 'isCaughtUp' | 'isCatchingUp' | 'untilShown' | 'rateLimitStore'>;

/** What every server of edgeward needs, whatever it serves. */
type ServerDependencies = Pick<HttpDependencies, 'log' | 'trustProxy' | 'outageOf' | 'instruments'>;

/** What a server of administrators alone needs. */
export type AdministrationServerDependencies = ServerDependencies & ApiLimits;

/** The HTTP server of the customer API and the health pages, not listening yet, and its connections. */
export function createHttpServer(
  dependencies: HttpDependencies,
): Readonly<{ server: Server; connections: Connections }> {
  const { log, clock, rateLimitStore, administration, corsOrigins } = dependencies;
  const app = openApp(dependencies);
  const limit = limitRate(clock, rateLimitStore);
  const known = [
    whenCaughtUp(dependencies),
    chooseNumbers,
    identifyCaller(dependencies),
    unlessAnswered,
    limit,
    unlessAnswered,
  ];
  const api = Router({ caseSensitive: true });
  // Changes come first: they are what must be quick under attack.
  const routes = [
    ...ipRoutes(dependencies),
    ...subnetRoutes(dependencies),
    ...commitRoutes(dependencies),
    ...webhookDeliveryRoutes(dependencies),
    ...sourceWhitelistRoutes(dependencies),
  ];
  api.use(...known, requireCaller, routerOf(routes, { caseSensitive: true }));
  api.use(answerNotFound);
  app.use(openExchange(log, dependencies.instruments));
  if (administration !== undefined) serveAdministration(app, administration, dependencies);
  if (corsOrigins.length > 0) app.use(CUSTOMER_API, allowOrigins(corsOrigins));
  app.use(CUSTOMER_API, api);
  const forWorkers = workerRoutes(dependencies.workerApi);
  const workers = routerOf(forWorkers, { caseSensitive: true });
  app.use('/api/worker/v1', whenCaughtUp(dependencies), workers, answerNotFound);
  const described = [...routes, ...(administration?.api === undefined ? [] : ADMIN_OPERATIONS), ...forWorkers];
  const open = [...healthRoutes(dependencies.readiness), ...descriptionRoutes(described, limit)];
  app.use(routerOf(open, { caseSensitive: false }));
  app.use(...known, answerNotFound);
  app.use(answerError(dependencies));
  return serverOf(app, log);
}

/** The server of administrators, where it has a port of its own. */
export function createAdministrationServer(
  administration: Administration,
  dependencies: AdministrationServerDependencies,
): Readonly<{ server: Server; connections: Connections }> {
  const app = openApp(dependencies);
  app.use(openExchange(dependencies.log, dependencies.instruments));
  serveAdministration(app, administration, dependencies);
  app.use(answerNotFound);
  app.use(answerError(dependencies));
  return serverOf(app, dependencies.log);
}

function openApp({ trustProxy }: Pick<ServerDependencies, 'trustProxy'>): Express {
  const app = express();
  app.set('case sensitive routing', true);
  trustProxies(app, trustProxy);
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('query parser', parseQuery);
  return app;
}

function serveAdministration(app: Express, { pages, api }: Administration, dependencies: ApiLimits): void {
  app.use('/admin', pages);
  if (api !== undefined) app.use('/api/admin/v1', administrationApi(api, dependencies));
}

/** The administration API: tokens of its own, and a limit for each of them that customers' requests have no part in. */
function administrationApi(
  adminApi: NonNullable<Administration['api']>,
  { clock, rateLimitStore, ...views }: ApiLimits,
): Router {
  const router = Router({ caseSensitive: true });
  router.use(
    whenCaughtUp(views),
    identifyPrincipal(adminApi.views, clock),
    unlessAnswered,
    limitRate(clock, rateLimitStore),
    unlessAnswered,
    requirePrincipal,
    (_request, response, next) => {
      response.setHeader('Cache-Control', 'no-store');
      next();
    },
    routerOf(adminRoutes(adminApi), { caseSensitive: true }),
    answerNotFound,
  );
  return router;
}

const CUSTOMER_API = '/api/v1';

const answerNotFound: RequestHandler = (_request, response) => sendProblem(response, problems.notFound);

/** A store can't be reached, the views are behind the log, a change is in doubt, or it was too large for the store. */
export type Outage = 'unavailable' | 'behind' | 'unconfirmed' | 'changeTooLarge';

function whenCaughtUp({
  isCaughtUp,
  isCatchingUp,
  untilShown,
}: Omit<ApiLimits, 'clock' | 'rateLimitStore'>): RequestHandler {
  return (request, response, next) => {
    if (!isCaughtUp()) return sendProblem(response, isCatchingUp?.() === true ? CATCHING_UP : NOT_READABLE);
    const shown = READS.has(request.method) ? untilShown() : undefined;
    return shown === undefined ? next() : readOnceShown(shown, response, next);
  };
}

async function readOnceShown(shown: Promise<boolean>, response: Response, next: () => void): Promise<void> {
  if (await shown) next();
  else sendProblem(response, NOT_SHOWN);
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const NOT_SHOWN: Problem = {
  ...problems.unavailable,
  because: 'the views do not show in time what this server has answered before',
};

const CATCHING_UP: Problem = {
  ...problems.unavailable,
  because: VIEWS_CATCH_UP,
};

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

/** The template of the endpoint that a request came to, without what all of customers' begin with; a request that came to none is `unmatched`. */
function routeOf(request: Request): string {
  const route: unknown = request.route;
  if (typeof route !== 'object' || route === null || !('path' in route)) return 'unmatched';
  const template = String(route.path).replaceAll(/:(\w+)/g, '{$1}');
  return `${request.baseUrl === CUSTOMER_API ? '' : request.baseUrl}${template}`;
}

/** What every request gets, whatever becomes of it. */
function openExchange(log: Log, instruments: HttpDependencies['instruments']): RequestHandler {
  return (request, response, next) => {
    const context = openContext(request, response);
    showDefaultLimit(response);
    const { method } = request;
    const path = pathOf(request.originalUrl);
    response.once('close', () => {
      const { requestId, traceId, caller, principal, startedMilliseconds } = context;
      const milliseconds = performance.now() - startedMilliseconds;
      const { statusCode: status } = response;
      instruments.requestEnded({ method, route: routeOf(request), status }, milliseconds / 1000);
      if (status === 429)
        instruments.rateLimited(
          countedCaller(context) === undefined && principal === undefined ? 'stranger' : 'customer',
        );
      if (status >= 500) logFailure(log, response, causeOf(response) ?? 'its cause was not said');
      log[wasRefused(response) ? 'debug' : 'info'](
        {
          requestId,
          traceId,
          method,
          path,
          status,
          customer: caller?.customer.name,
          account: principal?.account,
          milliseconds: Math.round(milliseconds * 10) / 10,
        },
        'request',
      );
    });
    if (lacksHost(request)) sendProblem(response, problems.badRequest);
    else next();
  };
}

function answerError({ outageOf, log }: Pick<ServerDependencies, 'outageOf' | 'log'>): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const outage = outageOf(error);
    const problem = outage === undefined ? problemOf(error) : problems[outage === 'behind' ? 'unavailable' : outage];
    if (problem.status >= 500) logFailure(log, response, outage === 'behind' ? VIEWS_CATCH_UP : error);
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
  const { requestId, traceId } = contextOf(response);
  // Views that catch up are no fault.
  log[error === VIEWS_CATCH_UP ? 'info' : 'error']({ requestId, traceId, error }, 'request failed');
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
