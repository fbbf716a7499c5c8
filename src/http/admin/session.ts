import type { Request, Response } from 'express';
import { epochMilliseconds } from '../../domain/instants.ts';
import { endSession, type NewSession, sessionKey } from '../../application/ip-control/admin-sessions.ts';
import { SESSION_MILLISECONDS_MAX } from '../../domain/ip-control/admin-roles.ts';
import type { Application } from '../../application/application.ts';
import type { AdministratorView } from '../../projections/ip-control/administrator-view.ts';
import type { AdminSessionView } from '../../projections/ip-control/admin-session-view.ts';
import { contextOf } from '../middleware/request-context.ts';
import { type AdminPrincipal, contextOfPrincipal, principalOfSession } from './access.ts';
import { clearCookie, cookieOf, setCookie, type Signer } from './cookies.ts';

const IDLE_MINUTES_MAX = 60;
/** What is shown or changed of secrets needs a password that is not older than this. */
const FRESH_MILLISECONDS = 15 * 60_000;
const DEVICE_SECONDS = 90 * 86_400;

/** Whose request it is, and in which session. */
export type LoggedIn = Readonly<{
  principal: AdminPrincipal;
  account: AdministratorView;
  session: AdminSessionView;
  /** The password was shown in the last quarter of an hour. */
  isFresh: boolean;
}>;

export type SessionDependencies = Pick<Application, 'administrators' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'administrators' | 'adminSessions'>; signer: Signer }>;

/** Sessions as browsers keep them. */
export type Sessions = Readonly<{
  /** The account that asks; undefined where it is not logged in, or is no longer. `isByPerson`: it counts as being there. */
  of: (request: Request, response: Response, isByPerson: boolean) => Promise<LoggedIn | undefined>;
  /** The session that a request names, for what is counted by session; undefined where there is none. */
  idOf: (request: Request) => Promise<string | undefined>;
  /** Gives the browser a session that was opened. */
  keep: (request: Request, response: Response, account: string, opened: NewSession) => void;
  /** Takes the session out of the browser. */
  forget: (request: Request, response: Response) => void;
  /** Whether this account has been logged in to with this browser before. */
  isKnownDevice: (request: Request, account: string) => boolean;
}>;

/** Reads and writes the cookies, and asks the views, which know sessions on all servers. */
export function openSessions({ views, administrators, clock, signer }: SessionDependencies): Sessions {
  const minuteNow = (): number => Math.floor(epochMilliseconds(clock.nowText()) / 60_000);

  const keepSeen = (request: Request, response: Response, sha256: string): void =>
    setCookie(request, response, 'seen', { value: signer.sign(`${sha256} ${minuteNow()}`) });

  const minutesIdle = (request: Request, sha256: string): number | undefined => {
    const [session, minute] = (signer.opened(cookieOf(request, 'seen')) ?? '').split(' ');
    return session === sha256 ? minuteNow() - Number(minute) : undefined;
  };

  return {
    idOf: async (request) => {
      const secret = cookieOf(request, 'session');
      if (secret === undefined || secret === '') return undefined;
      return (await views.adminSessions.get(sessionKey(secret)))?.sessionId;
    },
    of: async (request, response, isByPerson) => {
      const secret = cookieOf(request, 'session');
      if (secret === undefined || secret === '') return undefined;
      const sha256 = sessionKey(secret);
      const session = await views.adminSessions.get(sha256);
      if (session === undefined) return undefined;
      const now = clock.now().epochMilliseconds;
      if (epochMilliseconds(session.until) <= now) return undefined;
      const account = await views.administrators.get(session.account);
      if (account?.isEnabled !== true) return undefined;
      const principal = principalOfSession(account);
      const idle = minutesIdle(request, sha256);
      if (idle === undefined || idle > IDLE_MINUTES_MAX) {
        const over = { account: account.name, sessionId: session.sessionId, because: 'idle' } as const;
        await endSession(over, contextOfPrincipal(principal, contextOf(response).requestId), { administrators });
        return undefined;
      }
      if (isByPerson && idle > 0) keepSeen(request, response, sha256);
      const isFresh = now - epochMilliseconds(session.openedAt) <= FRESH_MILLISECONDS;
      return { principal, account, session, isFresh };
    },
    keep: (request, response, account, { secret, session }) => {
      setCookie(request, response, 'session', { value: secret, seconds: SESSION_MILLISECONDS_MAX / 1000 });
      keepSeen(request, response, session.sha256);
      setCookie(request, response, 'device', { value: signer.sign(`device ${account}`), seconds: DEVICE_SECONDS });
    },
    forget: (request, response) => {
      clearCookie(request, response, 'session');
      clearCookie(request, response, 'seen');
    },
    isKnownDevice: (request, account) => signer.opened(cookieOf(request, 'device')) === `device ${account}`,
  };
}
