import type { RequestHandler } from 'express';

const METHODS = 'GET, HEAD, POST, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, Accept, X-Request-Id';
const ANSWER_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Retry-After, Deprecation, Sunset';
const REMEMBERED_SECONDS = '600';

/** Lets pages of these origins call what follows from a browser. No cookie is involved: a token goes with every request. */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins);
  return (request, response, next) => {
    response.appendHeader('Vary', 'Origin');
    const { origin, 'access-control-request-method': preflight } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return next();
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
    if (request.method !== 'OPTIONS' || preflight === undefined) return next();
    // A browser asks without a token whether it may send one.
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', REMEMBERED_SECONDS);
    response.statusCode = 204;
    response.end();
  };
}
