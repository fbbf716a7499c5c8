import type { Request, Response } from 'express';
import { render } from 'preact-render-to-string';
import { contextOf } from '../../middleware/request-context.ts';
import { openTurns } from '../turns.ts';
import { clearCookie, cookieOf, setCookie, type Signer } from '../cookies.ts';
import { type AssetAddresses, Layout } from './layout.tsx';
import { problemPage } from './login.tsx';
import type { Message, Page, PageAnswer, PageProblem } from './page.ts';

const MESSAGE_SECONDS = 60;
/** Browsers keep no cookie of more than 4,096 bytes; of a character here come up to four of them. */
const MESSAGE_CHARACTERS_MAX = 900;

/** Answers requests with pages. */
export type Renderer = Readonly<{
  /** `since`: the position up to which the page shows the log at least. */
  answer: (answer: PageAnswer, request: Request, response: Response, since?: bigint) => Promise<void>;
  problem: (problem: PageProblem, request: Request, response: Response) => void;
}>;

/** Pages go out whole, or, where htmx asks for a live part, that part. */
export function openRenderer({
  assets,
  addresses,
  signer,
}: Readonly<{ assets: AssetAddresses; addresses: ReadonlySet<string>; signer: Signer }>): Renderer {
  const turn = openTurns();
  const renderer: Renderer = {
    answer: async (answer, request, response, since) => {
      if ('problem' in answer) renderer.problem(answer.problem, request, response);
      else if ('goTo' in answer) {
        if (answer.message !== undefined) leaveMessage(answer.message, request, response);
        response.redirect(303, answer.goTo);
      } else if ('send' in answer) {
        response.set(answer.headers);
        await answer.send(response);
      } else {
        // The parts of open pages are asked for at once: made in one go they would hold up customers' requests.
        if (request.get('hx-request') !== undefined) await turn();
        send(answer.page, answer.message ?? takeMessage(request, response), request, response, since);
      }
    },
    problem: ({ status, title, because, retryAfterSeconds }, request, response) => {
      if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
      const { requestId } = contextOf(response);
      send(problemPage({ status, title, because, requestId }), undefined, request, response);
    },
  };
  return renderer;

  function send(page: Page, message: Message | undefined, request: Request, response: Response, since?: bigint): void {
    response
      .vary('HX-Request')
      .vary('HX-Target')
      .type('html')
      .status(page.status ?? 200);
    const wanted = request.get('hx-request') === undefined ? undefined : page.parts?.[request.get('hx-target') ?? ''];
    if (wanted !== undefined) {
      response.end(render(wanted));
      return;
    }
    const { principal } = contextOf(response);
    const frame = { assets, addresses, principal, path: request.path, message, since };
    response.end(`<!doctype html>${render(<Layout frame={frame} page={page} />)}`);
  }

  function leaveMessage(message: Message, request: Request, response: Response): void {
    const { kind, text } = message;
    const short = text.length > MESSAGE_CHARACTERS_MAX ? `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…` : text;
    const value = signer.sign(`${kind} ${short}`);
    setCookie(request, response, 'message', { value, seconds: MESSAGE_SECONDS });
  }

  /** Fragments leave it for the page that a person looks at. */
  function takeMessage(request: Request, response: Response): Message | undefined {
    if (request.get('hx-request') !== undefined) return undefined;
    const signed = cookieOf(request, 'message');
    if (signed === undefined || signed === '') return undefined;
    clearCookie(request, response, 'message');
    const [, kind, text] = /^(ok|warn|bad) ([\s\S]*)$/.exec(signer.opened(signed) ?? '') ?? [];
    if (text === undefined || (kind !== 'ok' && kind !== 'warn' && kind !== 'bad')) return undefined;
    return { kind, text };
  }
}
