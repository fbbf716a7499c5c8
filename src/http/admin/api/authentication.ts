import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Views } from '../../../projections/engine/keyed-views.ts';
import type { AdministratorView } from '../../../projections/ip-control/administrator-view.ts';
import type { AdminTokenView } from '../../../projections/ip-control/admin-token-view.ts';
import type { Clock } from '../../../ports/clock.ts';
import { epochMilliseconds } from '../../../domain/instants.ts';
import { bearerToken, contextOf } from '../../middleware/request-context.ts';
import { problems, sendProblem } from '../../problems.ts';
import { principalOfToken } from '../access.ts';

export type AdminTokenViews = Readonly<{
  adminTokens: Pick<Views<AdminTokenView>, 'get'>;
  administrators: Pick<Views<AdministratorView>, 'get'>;
}>;

/**
 * Finds out who is calling, by a token alone: a cookie says nothing here. It lets strangers pass, so that they can be counted: `requirePrincipal` stops
 * them. Tokens have 256 random bits and are looked up by their SHA-256, so how long a look-up takes says nothing about a token.
 */
export function identifyPrincipal(views: AdminTokenViews, clock: Pick<Clock, 'now'>): RequestHandler {
  return async (request, response, next) => {
    const token = bearerToken(request);
    const known = token === undefined ? undefined : await views.adminTokens.get(hash('sha256', token));
    if (known !== undefined && clock.now().epochMilliseconds < epochMilliseconds(known.until)) {
      const account = await views.administrators.get(known.account);
      if (account?.isEnabled === true) contextOf(response).principal = principalOfToken(account, known);
    }
    next();
  };
}

/** 401 for each request without a valid token. */
export const requirePrincipal: RequestHandler = (_request, response, next) => {
  if (contextOf(response).principal === undefined) sendProblem(response, problems.authenticationRequired);
  else next();
};
