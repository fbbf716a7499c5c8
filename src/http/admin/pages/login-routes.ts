import { type Request, type RequestHandler, type Response, Router } from 'express';
import { checkCode, checkPassword, endSession, openSession } from '../../../application/ip-control/admin-sessions.ts';
import type { PasswordChecks } from '../../../application/ip-control/admin-passwords.ts';
import type { Application } from '../../../application/application.ts';
import type { SecondFactorShown } from '../../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal } from '../../../kernel/decider.ts';
import type { Log } from '../../../ports/log.ts';
import type { AdministratorView } from '../../../projections/ip-control/administrator-view.ts';
import { bareAddress } from '../../middleware/client-address.ts';
import { contextOf } from '../../middleware/request-context.ts';
import { contextOfPrincipal, principalOfSession } from '../access.ts';
import type { Signer } from '../cookies.ts';
import type { LoginThrottle, LoginTry, LoginWait } from '../login-throttle.ts';
import type { Sessions } from '../session.ts';
import { loginPage, needsTlsPage, secondFactorPage } from './login.tsx';
import { type Fields, fieldOf, type PageAnswer, type PageProblem } from './page.ts';
import type { Renderer } from './render.tsx';

export type LoginDependencies = Pick<Application, 'administrators' | 'views' | 'secrets' | 'ids' | 'clock'> &
  Readonly<{
    passwords: PasswordChecks;
    throttle: LoginThrottle;
    sessions: Sessions;
    signer: Signer;
    log: Log;
    shown: () => Promise<void>;
  }>;

/** What was shown first counts so long, until the second factor is. */
const PASSED_MILLISECONDS = 5 * 60_000;
const WRONG = { '': 'Name or password is not right.' };
const BUSY: PageProblem = {
  status: 503,
  title: 'Too many are logging in',
  because: 'More passwords are waiting to be checked than this server takes at once. Try again in a few seconds.',
  retryAfterSeconds: 5,
};

const AGAIN: PageAnswer = {
  goTo: '/admin/login',
  message: { kind: 'warn', text: 'What was shown first counts no longer: log in again.' },
};

function tooManyFailed({ waitSeconds }: LoginWait): PageProblem {
  const because = `Too many logins have failed. Try again in ${Math.ceil(waitSeconds / 60)} minutes.`;
  return { status: 429, title: 'Wait a while', because, retryAfterSeconds: waitSeconds };
}

/** Logging in and out: the pages that need no session, below `/admin`. */
export function loginRouter(dependencies: LoginDependencies, renderer: Renderer): Router {
  const pages = new LoginPages(dependencies);
  const answered =
    (handle: (exchange: Exchange) => Promise<PageAnswer>): RequestHandler =>
    async (request, response) => {
      const answer = mayLogInOver(request) ? await handle({ request, response }) : { page: needsTlsPage() };
      await renderer.answer(answer, request, response);
    };
  const router = Router({ caseSensitive: true });
  router.get(
    '/login',
    answered(async ({ request }) => {
      return { page: loginPage({ name: '', to: pathAfter(fieldOf(queryOf(request), 'to')) }) };
    }),
  );
  router.post(
    '/login',
    answered((exchange) => pages.logIn(exchange)),
  );
  router.post(
    '/login/second-factor',
    answered((exchange) => pages.confirmCode(exchange)),
  );
  router.post(
    '/logout',
    answered((exchange) => pages.logOut(exchange)),
  );
  return router;
}

type Exchange = Readonly<{ request: Request; response: Response }>;

class LoginPages {
  readonly #dependencies: LoginDependencies;

  constructor(dependencies: LoginDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes name and password. */
  async logIn({ request, response }: Exchange): Promise<PageAnswer> {
    const form = formOf(request);
    const [name, password, to] = [
      fieldOf(form, 'name').trim(),
      fieldOf(form, 'password'),
      pathAfter(fieldOf(form, 'to')),
    ];
    const account = await this.#dependencies.throttle.hear(
      this.#tryOf(request, name),
      () => checkPassword({ name, password }, this.#dependencies),
      (found) => found === 'wrong',
    );
    if (account === 'busy') return { problem: BUSY };
    if (account === 'wrong') {
      this.#noteFailure({ request, response }, name, 'password');
      return { page: loginPage({ name, to, errors: WRONG, status: 401 }) };
    }
    if ('waitSeconds' in account) return { problem: tooManyFailed(account) };
    if (account.secondFactor !== null) return { page: secondFactorPage({ passed: this.#passedBy(account), to }) };
    const refused = await this.#enter({ request, response }, account, undefined);
    // The password was changed or a second factor set up since the check, or the account was disabled.
    return refused === undefined ? { goTo: to } : { page: loginPage({ name, to, errors: WRONG, status: 401 }) };
  }

  /** Takes the code, or a recovery code, of an account whose password was right. */
  async confirmCode({ request, response }: Exchange): Promise<PageAnswer> {
    const form = formOf(request);
    const [passed, to] = [fieldOf(form, 'passed'), pathAfter(fieldOf(form, 'to'))];
    const before = this.#whoPassed(passed);
    const account = before === undefined ? undefined : await this.#dependencies.views.administrators.get(before.name);
    // Another password counts since then, or the account was disabled.
    if (before === undefined || account?.isEnabled !== true || account.secretId !== before.secretId) return AGAIN;
    const refused = await this.#dependencies.throttle.hear(
      this.#tryOf(request, account.name),
      async () => {
        const shown = await checkCode(fieldOf(form, 'code'), account, this.#dependencies);
        return isRefusal(shown) ? shown : this.#enter({ request, response }, account, shown);
      },
      (found) => found !== undefined,
    );
    if (refused === undefined) return { goTo: to };
    if ('waitSeconds' in refused) return { problem: tooManyFailed(refused) };
    this.#noteFailure({ request, response }, account.name, 'code');
    if (refused.refused === 'password-changed') return AGAIN;
    return { page: secondFactorPage({ passed, to, errors: { code: refused.because }, status: 401 }) };
  }

  /** Ends the session, and has the browser forget what it keeps of the pages. */
  async logOut({ request, response }: Exchange): Promise<PageAnswer> {
    const { sessions, shown } = this.#dependencies;
    const loggedIn = await sessions.of(request, response, false);
    sessions.forget(request, response);
    response.set('Clear-Site-Data', '"cache", "storage"');
    if (loggedIn !== undefined) {
      const { principal, session } = loggedIn;
      const over = { account: session.account, sessionId: session.sessionId, because: 'logged-out' } as const;
      await endSession(over, contextOfPrincipal(principal, contextOf(response).requestId), this.#dependencies);
      await shown();
    }
    return { goTo: '/admin/login', message: { kind: 'ok', text: 'You are logged out.' } };
  }

  async #enter(
    { request, response }: Exchange,
    account: AdministratorView,
    secondFactor: SecondFactorShown | undefined,
  ): Promise<Refusal | undefined> {
    const { throttle, sessions, shown } = this.#dependencies;
    const failuresBefore = await throttle.failures(account.name);
    const context = contextOfPrincipal(principalOfSession(account), contextOf(response).requestId);
    const opening = { checkedSecretId: account.secretId, failuresBefore, secondFactor };
    const opened = await openSession(account.name, opening, context, this.#dependencies);
    if (isRefusal(opened)) return opened;
    await throttle.succeeded(account.name);
    await shown();
    sessions.keep(request, response, account.name, opened);
    return undefined;
  }

  #tryOf(request: Request, account: string): LoginTry {
    return { request, account, isKnownDevice: this.#dependencies.sessions.isKnownDevice(request, account) };
  }

  /** Not an event: strangers would fill the log. */
  #noteFailure({ request, response }: Exchange, account: string, what: string): void {
    const { requestId } = contextOf(response);
    this.#dependencies.log.warn(
      { requestId, account: account.slice(0, 64), what, address: request.ip },
      'a login has failed',
    );
  }

  #passedBy({ name, secretId }: AdministratorView): string {
    const { signer, clock } = this.#dependencies;
    return signer.sign(`passed ${name} ${secretId} ${clock.now().epochMilliseconds + PASSED_MILLISECONDS}`);
  }

  #whoPassed(passed: string): Readonly<{ name: string; secretId: string }> | undefined {
    const { signer, clock } = this.#dependencies;
    const [what, name = '', secretId = '', until] = (signer.opened(passed) ?? '').split(' ');
    return what === 'passed' && Number(until) >= clock.now().epochMilliseconds ? { name, secretId } : undefined;
  }
}

/** Over TLS, or without it from this machine to itself. */
function mayLogInOver(request: Request): boolean {
  if (request.secure) return true;
  const host = (request.get('host') ?? '').replace(/:\d+$/, '');
  const isOwnName = host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
  const address = bareAddress(request.ip ?? '');
  return isOwnName && (address === '::1' || /^(::ffff:)?127\./.test(address));
}

/** Where the way leads after the login: a page of ours and nowhere else. */
function pathAfter(to: string): string {
  return /^\/admin\/(?!login|logout)[\w\-./~%?&=+:]*$/.test(to) ? to : '/admin/';
}

/** The query of a page's address. */
export function queryOf(request: Request): Fields {
  return fieldsIn(request.query);
}

/** The fields of a form that was sent. */
export function formOf(request: Request): Fields {
  const body: unknown = request.body;
  return typeof body === 'object' && body !== null ? fieldsIn({ ...body }) : {};
}

function fieldsIn(values: Readonly<Record<string, unknown>>): Fields {
  const fields: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') fields[name] = value;
    else if (Array.isArray(value)) fields[name] = value.filter((one): one is string => typeof one === 'string');
  }
  return fields;
}
