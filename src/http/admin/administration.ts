import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { rateLimit } from 'express-rate-limit';
import { checkPassword, renewSession } from '../../application/ip-control/admin-sessions.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { AdminScope } from '../../events/ip-control/administrator.ts';
import { clientOf } from '../middleware/client-address.ts';
import { contextOf } from '../middleware/request-context.ts';
import { windowCounts } from '../middleware/window-counts.ts';
import type { Outage } from '../app.ts';
import { explain, problems, VIEWS_CATCH_UP } from '../problems.ts';
import { contextOfPrincipal, mayDo, scopeMissing } from './access.ts';
import type { Assets } from './assets.ts';
import { cookieOf, type Signer } from './cookies.ts';
import { type OwnOrigin, requireOwnPages } from './csrf.ts';
import { evidenceViewer } from './evidence-viewer.tsx';
import { secureHeaders } from './headers.ts';
import type { Live } from './live.ts';
import { confirmPage } from './pages/login.tsx';
import { formOf, type LoginDependencies, loginRouter, queryOf } from './pages/login-routes.ts';
import { fieldOf, type PageAnswer, type PageProblem, type PageRoute } from './pages/page.ts';
import { openRenderer, type Renderer } from './pages/render.tsx';
import type { LoggedIn } from './session.ts';

const REQUESTS_PER_MINUTE_MAX = 600;
const FORM_BYTES_MAX = 64 * 1024;
const FORM_FIELDS_MAX = 1_000;
const CONFIRMATION = 'confirm-password';

export type AdministrationDependencies = LoginDependencies &
  Readonly<{
    signer: Signer;
    assets: Assets;
    live: Live;
    pages: readonly PageRoute[];
    ownOrigin: OwnOrigin;
    isSecondFactorRequired: boolean;
    isReadable: () => boolean;
    /** What a failure of the stores means; `undefined` for any other. */
    outageOf: (error: unknown) => Outage | undefined;
  }>;

/** Everything below `/admin`. */
export function administrationRouter(dependencies: AdministrationDependencies): Router {
  const { assets, signer, pages, ownOrigin, live, isReadable } = dependencies;
  const addresses = new Set(pages.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const renderer = openRenderer({ assets: assets.addresses, addresses, signer });
  const router = Router({ caseSensitive: true, strict: false });
  router.use(secureHeaders);
  router.get('/assets/:name', assets.serve);
  router.get('/evidence-viewer', evidenceViewer(assets.addresses, ownOrigin));
  router.use((_request, response, next) => {
    if (isReadable()) next();
    else renderer.problem(NOT_READABLE, _request, response);
  });
  router.use(requireOwnPages(ownOrigin, (problem, request, response) => renderer.problem(problem, request, response)));
  router.use(limitRequests(renderer, dependencies));
  router.use(
    express.urlencoded({ extended: false, limit: FORM_BYTES_MAX, parameterLimit: FORM_FIELDS_MAX, inflate: false }),
  );
  router.use(loginRouter(dependencies, renderer));
  router.get('/live', liveHandler(live, dependencies));
  for (const page of pages) {
    const at = page.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router[page.method === 'GET' ? 'get' : 'post'](at, pageHandler(page, dependencies, renderer));
  }
  router.use((request, response) => renderer.problem(NO_PAGE, request, response));
  router.use(problemHandler(dependencies, renderer));
  return router;
}

const NO_PAGE: PageProblem = { status: 404, title: 'Not found', because: 'There is no such page.' };
const NOT_READABLE: PageProblem = {
  status: 503,
  title: 'Not now',
  because: 'This server does not keep the views at this moment. Try again in a few seconds.',
  retryAfterSeconds: 5,
};

function pageHandler(page: PageRoute, dependencies: AdministrationDependencies, renderer: Renderer): RequestHandler {
  const { sessions, live, isSecondFactorRequired } = dependencies;
  return async (request, response) => {
    const isFragment = request.get('hx-request') !== undefined;
    const loggedIn = await sessions.of(request, response, !isFragment);
    if (loggedIn === undefined) {
      await sendToLogin(renderer, request, response);
      return;
    }
    contextOf(response).principal = loggedIn.principal;
    const { account } = loggedIn;
    // Before anything is read: what happens from now on may be missing in the page.
    const since = isFragment ? undefined : await live.position();
    const first = firstThingToDo(page, account.isTemporary, isSecondFactorRequired && account.secondFactor === null);
    const answer =
      first !== undefined
        ? first
        : page.scope !== 'own' && !mayDo(loggedIn.principal, page.scope)
          ? { problem: notAllowed(page.scope) }
          : await handled(page, loggedIn, dependencies, request, response);
    await renderer.answer(answer, request, response, since);
  };
}

/** A password that another person knows is changed before anything else; then a second factor is set up where one is needed. */
function firstThingToDo(page: PageRoute, isTemporary: boolean, lacksSecondFactor: boolean): PageAnswer | undefined {
  if (isTemporary) {
    if (page.path === '/account/password') return undefined;
    return { goTo: '/admin/account/password', message: { kind: 'warn', text: 'Choose a password of your own first.' } };
  }
  if (!lacksSecondFactor || page.path.startsWith('/account/second-factor')) return undefined;
  const text = 'A second factor is needed here: set one up first.';
  return { goTo: '/admin/account/second-factor', message: { kind: 'warn', text } };
}

function notAllowed(scope: AdminScope): PageProblem {
  return {
    status: 403,
    title: 'Not allowed',
    because: `Your role does not allow this: ${scopeMissing(scope).message}`,
  };
}

async function handled(
  page: PageRoute,
  loggedIn: LoggedIn,
  dependencies: AdministrationDependencies,
  request: Request,
  response: Response,
): Promise<PageAnswer> {
  const { sessions, views } = dependencies;
  const { principal, account } = loggedIn;
  const context = contextOfPrincipal(principal, contextOf(response).requestId);
  const form = formOf(request);
  let current = loggedIn;
  const { needsFreshPassword = false } = page;
  const isNeeded = typeof needsFreshPassword === 'function' ? needsFreshPassword(form) : needsFreshPassword;
  if (isNeeded && !loggedIn.isFresh) {
    const confirmed = await confirm();
    if (!('session' in confirmed)) return confirmed;
    current = confirmed;
  }
  return page.handle({
    request,
    response,
    params: textsOf(request.params),
    query: queryOf(request),
    form,
    principal,
    loggedIn: current,
    context,
    goOnIn: (session) => sessions.keep(request, response, account.name, session),
  });

  /** Asks for the password, or takes the one that came with the form, in a new session. */
  async function confirm(): Promise<LoggedIn | PageAnswer> {
    const fields = Object.entries(form)
      .filter(([name]) => name !== CONFIRMATION)
      .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const));
    const ask = (errors = {}): PageAnswer => ({ page: confirmPage({ action: request.originalUrl, fields, errors }) });
    const password = fieldOf(form, CONFIRMATION);
    if (password === '') return ask();
    const checked = await dependencies.throttle.hear(
      { request, account: account.name, isKnownDevice: true },
      () => checkPassword({ name: account.name, password }, dependencies),
      (found) => found === 'wrong',
    );
    if (checked === 'busy') return ask({ '': 'Too many passwords are being checked: try again.' });
    if (checked === 'wrong') return ask({ [CONFIRMATION]: 'This is not your password.' });
    if ('waitSeconds' in checked)
      return ask({ '': `Too many wrong passwords: wait ${Math.ceil(checked.waitSeconds / 60)} minutes.` });
    const { sessionId, until } = loggedIn.session;
    const renewed = await renewSession({ account: account.name, sessionId, until }, context, dependencies);
    if (isRefusal(renewed)) return ask({ '': renewed.because });
    await dependencies.shown();
    sessions.keep(request, response, account.name, renewed);
    const session = (await views.adminSessions.get(renewed.session.sha256)) ?? loggedIn.session;
    return { ...loggedIn, session, isFresh: true };
  }
}

function textsOf(params: Request['params']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

/**
 * The page that was asked for is shown after the login, or the one with the form that was sent; a fragment makes the whole page go there. Whoever
 * had a session is told that it is over, and that nothing was done.
 */
async function sendToLogin(renderer: Renderer, request: Request, response: Response): Promise<void> {
  if (request.get('hx-request') !== undefined) {
    response.set('HX-Refresh', 'true').status(401).end();
    return;
  }
  const to = request.method === 'GET' ? request.originalUrl : pageOfForm(request);
  const goTo = to === undefined ? '/admin/login' : `/admin/login?${new URLSearchParams({ to }).toString()}`;
  const because = request.method === 'GET' ? SESSION_OVER : `${SESSION_OVER} Nothing of what you sent was done.`;
  const hadSession = (cookieOf(request, 'session') ?? '') !== '';
  await renderer.answer(
    { goTo, ...(hadSession ? { message: { kind: 'warn', text: because } } : {}) },
    request,
    response,
  );
}

const SESSION_OVER = 'Your session is over: log in again.';

/** Where the form stood, as browsers tell our own pages. */
function pageOfForm(request: Request): string | undefined {
  const from = request.get('referer') ?? '';
  if (!URL.canParse(from)) return undefined;
  const { pathname, search } = new URL(from);
  return pathname + search;
}

/** As a page carries it; before the first event of a log it is negative. */
const POSITION = /^(?:-1|\d{1,19})$/;

function liveHandler(live: Live, { sessions }: AdministrationDependencies): RequestHandler {
  return async (request, response) => {
    const loggedIn = await sessions.of(request, response, false);
    if (loggedIn === undefined) {
      response.status(204).end();
      return;
    }
    const query = queryOf(request);
    const topics = [query['topic'] ?? []].flat();
    const since = fieldOf(query, 'since');
    live.open(response, {
      topics,
      session: loggedIn.session,
      since: POSITION.test(since) ? BigInt(since) : undefined,
    });
  };
}

/** Each session has a limit of its own, whoever shares its address; who has none shares that of the address. */
function limitRequests(renderer: Renderer, { clock, sessions }: AdministrationDependencies): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: REQUESTS_PER_MINUTE_MAX,
    legacyHeaders: false,
    standardHeaders: false,
    validate: false,
    keyGenerator: async (request) => (await sessions.idOf(request)) ?? clientOf(request.ip),
    store: windowCounts(clock),
    handler: (request, response) => renderer.problem(TOO_MANY, request, response),
  });
}

const TOO_MANY: PageProblem = {
  status: 429,
  title: 'Too many requests',
  because: 'More was asked for within a minute than these pages answer. Try again in a minute.',
  retryAfterSeconds: 60,
};

function problemHandler({ outageOf }: AdministrationDependencies, renderer: Renderer): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const outage = outageOf(error);
    explain(response, outage === 'behind' ? VIEWS_CATCH_UP : error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    renderer.problem(outage === undefined ? problemOf(error) : outageProblem(outage), request, response);
  };
}

/** Said as the API says it: whether a change was made, was not, or is in doubt. */
function outageProblem(outage: Outage): PageProblem {
  const { status, message } = problems[outage === 'behind' ? 'unavailable' : outage];
  return { status, title: 'Not now', because: message, retryAfterSeconds: 5 };
}

function problemOf(error: unknown): PageProblem {
  if (error instanceof URIError) return NO_PAGE;
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  switch (status) {
    case 400:
      return { status, title: 'Not understood', because: 'The request could not be read.' };
    case 413:
      return { status, title: 'Too large', because: 'A form has at most 64 KiB.' };
    case 415:
      return {
        status,
        title: 'Not understood',
        because: 'Forms are sent as application/x-www-form-urlencoded, in UTF-8.',
      };
    default:
      return {
        status: 500,
        title: 'Something went wrong',
        because: 'This is our fault. The log says more, by the number of the request.',
      };
  }
}
