import type { Request, Response } from 'express';
import type { JSX } from 'preact';
import type { CommandContext } from '../../../commands/aggregate.ts';
import type { AdminScope } from '../../../events/ip-control/administrator.ts';
import type { AdminPrincipal } from '../access.ts';
import type { NewSession } from '../../../application/ip-control/admin-sessions.ts';
import type { LoggedIn } from '../session.ts';

/** One step of the way to a page: the last one, the page itself, has no address. */
export type Crumb = Readonly<{ name: string; href?: string }>;

/** What happened, in a sentence, on the page that follows an action. */
export type Message = Readonly<{ kind: 'ok' | 'warn' | 'bad'; text: string }>;

/** A page without its frame. */
export type Page = Readonly<{
  title: string;
  /** Above the title, from the second level on. */
  crumbs?: readonly Crumb[];
  body: JSX.Element;
  /** What a live part shows, by its id: such a part is fetched alone when its topic changes. */
  parts?: Readonly<Record<string, JSX.Element>>;
  /** Left and top are left out before the login. */
  status?: number;
}>;

/** What the page is in place of what was asked for. */
export type PageProblem = Readonly<{ status: number; title: string; because: string; retryAfterSeconds?: number }>;

/** What comes of a request: a page, another address with a message there, a file, or a problem. */
export type PageAnswer =
  | Readonly<{ page: Page; message?: Message }>
  | Readonly<{ goTo: string; message?: Message }>
  | Readonly<{ headers: Readonly<Record<string, string>>; send: (response: Response) => Promise<void> }>
  | Readonly<{ problem: PageProblem }>;

/** The fields of a form or of a query; a field that is sent several times is a list. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request for a page. */
export type PageAsk = Readonly<{
  request: Request;
  response: Response;
  params: Readonly<Record<string, string>>;
  query: Fields;
  form: Fields;
  principal: AdminPrincipal;
  loggedIn: LoggedIn;
  /** In whose name use cases are asked. */
  context: CommandContext;
  /** Gives the browser the session that goes on in place of the one of this request. */
  goOnIn: (session: NewSession) => void;
}>;

/** One address of the pages. */
export type PageRoute = Readonly<{
  method: 'GET' | 'POST';
  /** Below `/admin`; `{name}` is a parameter. */
  path: string;
  /** What the account must be allowed; `own`: every account that is logged in. */
  scope: AdminScope | 'own';
  /** Asks for the password where it was shown longer than a quarter of an hour ago; for some of the forms, where it says for which. */
  needsFreshPassword?: true | ((form: Fields) => boolean);
  /** It answers with a file, and with no page. */
  isFile?: true;
  handle: (ask: PageAsk) => Promise<PageAnswer>;
}>;

/** A field of a form or query as one text; '' where it is missing. */
export function fieldOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

/** In place of what would take long, as long as too many ask for such. */
export const TOO_MANY_READS: PageProblem = {
  status: 503,
  title: 'Not now',
  because: 'Too much of this kind is being read. Try again in a few seconds.',
  retryAfterSeconds: 5,
};

/** 404: there is no such thing. */
export function notFoundPage(because: string): PageAnswer {
  return { problem: { status: 404, title: 'Not found', because } };
}
