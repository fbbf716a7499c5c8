import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { CustomerView } from '../../projections/ip-control/customer-view.ts';
import type { TokenView } from '../../projections/ip-control/token-view.ts';
import type { Views } from '../../projections/engine/view-cache.ts';
import { problems, sendProblem } from '../problems.ts';
import { bearerToken, contextOf } from './request-context.ts';

/**
 * Finds out who is calling. It lets strangers pass, so that they can be counted: `requireCaller` stops them.
 * Tokens have 256 random bits and are looked up by their SHA-256, so how long a look-up takes says nothing about a token.
 */
export function identifyCaller(
  views: Readonly<{ tokens: Views<TokenView>; customers: Views<CustomerView> }>,
): RequestHandler {
  return async (request, response, next) => {
    const token = bearerToken(request);
    if (token !== undefined) {
      const sha256 = hash('sha256', token);
      const known = await views.tokens.get(sha256);
      const customer = known === undefined ? undefined : await views.customers.get(String(known.customerId));
      if (known !== undefined && customer !== undefined)
        contextOf(response).caller = { customer, tokenId: known.tokenId };
    }
    next();
  };
}

/** 401 for everybody without a valid token. */
export const requireCaller: RequestHandler = (_request, response, next) => {
  if (contextOf(response).caller === undefined) sendProblem(response, problems.authenticationRequired);
  else next();
};
