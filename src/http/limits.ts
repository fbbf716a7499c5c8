import type { RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import { sendProblem, tooManyRequests } from './problems.ts';
import { contextOf } from './request-context.ts';

/** Requests per minute for customers without a limit of their own, and for each address that shows no valid token. */
export const RATE_LIMIT_DEFAULT = 60;
export const RATE_LIMIT_DEFAULT_TEXT = String(RATE_LIMIT_DEFAULT);
const WINDOW_MILLISECONDS = 60_000;
const IPV6_SUBNET_BITS = 64;

/** For answers that come before anybody is counted. */
export const showDefaultLimit: RequestHandler = (_request, response, next) => {
  response.setHeader('X-RateLimit-Limit', RATE_LIMIT_DEFAULT_TEXT);
  response.setHeader('X-RateLimit-Remaining', RATE_LIMIT_DEFAULT_TEXT);
  next();
};

/**
 * Counts requests in windows of 60 s: per customer, all tokens together; strangers per client address (IPv6: per /64).
 * Sends `X-RateLimit-Limit` and `X-RateLimit-Remaining`; 429 when there is none left. `store` is shared between servers when given.
 */
export function limitRate(store?: Store): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MILLISECONDS,
    limit: (_request, response) =>
      contextOf(response).caller?.customer.settings.rateLimitPerMinute ?? RATE_LIMIT_DEFAULT,
    keyGenerator: (request, response) => {
      const { caller } = contextOf(response);
      if (caller !== undefined) return `customer:${caller.customer.customerId}`;
      return `address:${ipKeyGenerator(request.ip ?? '', IPV6_SUBNET_BITS)}`;
    },
    legacyHeaders: true,
    standardHeaders: false,
    validate: false,
    handler: (request, response) => {
      // The library keeps what it counted on the request, under the default name of its own option.
      const resetTime = rateLimitReset(request);
      const milliseconds = resetTime === undefined ? WINDOW_MILLISECONDS : resetTime.getTime() - Date.now();
      sendProblem(response, tooManyRequests(Math.max(1, Math.ceil(milliseconds / 1000))));
    },
    ...(store === undefined ? {} : { store }),
  });
}

function rateLimitReset(request: object): Date | undefined {
  if (!('rateLimit' in request)) return undefined;
  const info = request.rateLimit;
  if (typeof info !== 'object' || info === null || !('resetTime' in info)) return undefined;
  return info.resetTime instanceof Date ? info.resetTime : undefined;
}
