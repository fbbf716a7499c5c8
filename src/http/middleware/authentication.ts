import { hash } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CustomerView } from '../../projections/ip-control/customer-view.ts';
import type { TokenView } from '../../projections/ip-control/token-view.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import { type Problem, problems, sendProblem } from '../problems.ts';
import { clientAddress } from './client-address.ts';
import { bearerToken, callerOf, contextOf } from './request-context.ts';

export type AuthenticationDependencies = Readonly<{
  views: Readonly<{ tokens: Views<TokenView>; customers: Views<CustomerView> }>;
  clock: Clock;
  /** Notes that a token was used; to be called as often as it is; no request waits for it. */
  noteUse: (sha256: string, token: TokenView) => void;
}>;

const READ_ONLY: Problem = { status: 403, message: 'this token may only read.' };
const DISABLED: Problem = { status: 403, message: 'this account is disabled.' };
const ELSEWHERE: Problem = { status: 403, message: 'this token may not be used from this address.' };

/**
 * Finds out who is calling. It lets strangers pass, so that they can be counted: `requireCaller` stops them.
 * Tokens have 256 random bits and are looked up by their SHA-256, so how long a look-up takes says nothing about a token. One that is
 * disabled or has expired is a stranger's.
 */
export function identifyCaller({ views, clock, noteUse }: AuthenticationDependencies): RequestHandler {
  return async (request, response, next) => {
    const token = bearerToken(request);
    if (token !== undefined) {
      const sha256 = hash('sha256', token);
      const known = await views.tokens.get(sha256);
      const tokenEnd = known === undefined ? undefined : endOf(known, clock);
      contextOf(response).tokenEnd = tokenEnd;
      const isWorth = known !== undefined && tokenEnd === undefined;
      const customer = isWorth ? await views.customers.get(String(known.customerId)) : undefined;
      if (isWorth && customer !== undefined) {
        const isElsewhere = !isAllowedFrom(request, known);
        contextOf(response).caller = { customer, tokenId: known.tokenId, token: known, isElsewhere };
        noteUse(sha256, known);
      }
    }
    next();
  };
}

function endOf({ isDisabled, expiresAt }: TokenView, clock: Clock): 'is disabled' | 'has expired' | undefined {
  if (isDisabled) return 'is disabled';
  const hasExpired = expiresAt !== null && clock.now().epochMilliseconds >= epochMilliseconds(expiresAt);
  return hasExpired ? 'has expired' : undefined;
}

/** 401: of a token that was of use before, `WWW-Authenticate` says why it is not any more (RFC 6750). */
function withoutToken(tokenEnd: string | undefined): Problem {
  if (tokenEnd === undefined) return problems.authenticationRequired;
  const why = `Bearer error="invalid_token", error_description="this token ${tokenEnd}."`;
  return { ...problems.authenticationRequired, headers: { 'WWW-Authenticate': why } };
}

/** RFC 9110, 9.2.1. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** 401 without a valid token, 403 for what a token may not, and for a customer that is disabled. */
export const requireCaller: RequestHandler = (request, response, next) => {
  const { caller, tokenEnd } = contextOf(response);
  if (caller === undefined) return sendProblem(response, withoutToken(tokenEnd));
  const { customer, token, isElsewhere } = callerOf(response);
  if (customer.standing !== 'enabled') return sendProblem(response, DISABLED);
  if (isElsewhere) return sendProblem(response, ELSEWHERE);
  if (token.readOnly && !SAFE_METHODS.has(request.method)) return sendProblem(response, READ_ONLY);
  next();
};

function isAllowedFrom(request: Request, token: TokenView): boolean {
  if (token.allowedAddresses === null) return true;
  const address = clientAddress(request.ip);
  return address !== undefined && allowedSet(token.allowedAddresses).contains(address);
}

const allowedSets = new WeakMap<readonly string[], RangeSet>();

function allowedSet(cidrs: readonly string[]): RangeSet {
  const known = allowedSets.get(cidrs);
  if (known !== undefined) return known;
  const set = RangeSet.from(
    cidrs.flatMap((text) => {
      const cidr = parseCidr(text);
      return isAddressProblem(cidr) ? [] : [rangeOfCidr(cidr)];
    }),
  );
  allowedSets.set(cidrs, set);
  return set;
}
