import type { Request, RequestHandler } from 'express';
import type { PageProblem } from './pages/page.ts';

/** Where the pages are, as browsers know it (`https://edgeward.example`); undefined: what the request's `Host` says. */
export type OwnOrigin = string | undefined;

/**
 * Whether a request that changes something comes from our own pages. Browsers say so (Fetch Metadata); those that don't send the origin. What
 * says neither is refused: `SameSite=Lax` lets a form on another port of the same host through.
 */
export function isFromOwnPages(request: Request, ownOrigin: OwnOrigin): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return true;
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.get('origin');
  if (origin === undefined) return false;
  return origin === (ownOrigin ?? `${request.protocol}://${request.get('host') ?? ''}`);
}

/** Passes what comes from our own pages; hands everything else to `refuse`. */
export function requireOwnPages(
  ownOrigin: OwnOrigin,
  refuse: (problem: PageProblem, ...exchange: Parameters<RequestHandler>) => void,
): RequestHandler {
  return (request, response, next) => {
    if (isFromOwnPages(request, ownOrigin)) next();
    else refuse(FOREIGN, request, response, next);
  };
}

const FOREIGN: PageProblem = {
  status: 403,
  title: 'Not from these pages',
  because: 'This was sent by another site, or by a browser that does not say where from. Nothing was changed.',
};
