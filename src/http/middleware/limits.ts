import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { Clock } from '../../ports/clock.ts';
import { clientOf } from './client-address.ts';
import { sendProblem, tooManyRequests } from '../problems.ts';
import { contextOf, countedCaller, type RequestContext } from './request-context.ts';
import { windowCounts } from './window-counts.ts';

/** Requests per minute for customers without a limit of their own, and for each address that shows no valid token. */
export const RATE_LIMIT_DEFAULT = 60;
export const RATE_LIMIT_DEFAULT_TEXT = String(RATE_LIMIT_DEFAULT);
const WINDOW_MILLISECONDS = 60_000;

/** Requests per minute for each token of the administration API. */
const ADMIN_RATE_LIMIT = 600;

/** For answers that come before the request is counted. */
export function showDefaultLimit(response: ServerResponse): void {
  showLimit(response, RATE_LIMIT_DEFAULT_TEXT, RATE_LIMIT_DEFAULT_TEXT);
}

function showLimit(response: ServerResponse, limit: string, remaining: string): void {
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', remaining);
}

/**
 * Counts requests in windows of 60 s: per customer, all tokens together; per admin token; strangers, and whoever uses a token from where it may not be used, per client address (IPv6: per /64).
 * Sends `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (seconds since 1970); 429 when there is none left. `store` is shared between servers when given.
 * How long a window lasts has nothing to do with the wall clock.
 */
export function limitRate(clock: Clock, store: Store = windowCounts(clock)): RequestHandler {
  const count = rateLimit({
    windowMs: WINDOW_MILLISECONDS,
    limit: (_request, response) => limitOf(contextOf(response)),
    keyGenerator: (request, response) => {
      const { principal } = contextOf(response);
      const caller = countedCaller(contextOf(response));
      if (caller !== undefined) return `customer:${caller.customer.customerId}`;
      if (principal !== undefined) return principal.actor;
      return `address:${clientOf(request.ip)}`;
    },
    // With its own headers comes a date, made for each answer, though Node sends one.
    legacyHeaders: false,
    standardHeaders: false,
    validate: false,
    handler: (request, response) => {
      const counted = showCounted(request, response);
      const left =
        counted?.resetTime === undefined
          ? WINDOW_MILLISECONDS
          : counted.resetTime.getTime() - clock.now().epochMilliseconds;
      // The wall clock may have been set since the request was counted.
      const seconds = Math.ceil(Math.min(left, WINDOW_MILLISECONDS) / 1000);
      sendProblem(response, tooManyRequests(Math.max(1, seconds)));
    },
    store,
  });
  return (request, response, next) =>
    count(request, response, (error?: unknown) => {
      if (error === undefined) showCounted(request, response);
      next(error);
    });
}

function limitOf(context: RequestContext): number {
  const caller = countedCaller(context);
  if (caller !== undefined) return caller.customer.settings.rateLimitPerMinute;
  return context.principal === undefined ? RATE_LIMIT_DEFAULT : ADMIN_RATE_LIMIT;
}

/** The library keeps what it counted on the request, under the default name of its own option. */
type Counted = Readonly<{ limit: number; remaining: number; resetTime: Date | undefined }>;

function showCounted(request: object & { rateLimit?: Counted }, response: ServerResponse): Counted | undefined {
  const counted = request.rateLimit;
  // The request has been answered already; what its client sent after it can't be read.
  if (counted === undefined || response.headersSent) return counted;
  showLimit(response, String(counted.limit), String(counted.remaining));
  if (counted.resetTime !== undefined) {
    response.setHeader('X-RateLimit-Reset', String(Math.ceil(counted.resetTime.getTime() / 1000)));
  }
  return counted;
}
