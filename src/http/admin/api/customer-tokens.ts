import { tokenRecord } from '../../../application/ip-control/records.ts';
import { z } from 'zod';
import { customerRevision } from '../../../application/ip-control/customers.ts';
import { findCustomer } from '../../../application/ip-control/lookups.ts';
import { issueToken, listTokens, revokeToken } from '../../../application/ip-control/tokens.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { problems } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route, textOf } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { customerParams, streamOfCustomer } from './customers.ts';
import { ADMIN_PROBLEMS, all, allOf, BODY_PROBLEMS, bool, changed, deletionQuery, showing, text } from './shapes.ts';

const instant = z.iso.datetime({ offset: true });
const token = z.strictObject({
  id: z.string(),
  customer: z.string(),
  label: z.string(),
  prefix: z.string().nullable(),
  created_at: instant,
  expires_at: instant.nullable(),
  read_only: z.boolean(),
  allowed_addresses: z.array(z.string()),
  last_used: instant.nullable(),
  state: z.enum(['enabled', 'disabled']),
});
const tokenParams = customerParams.extend({ token: z.string() });

const list = {
  method: 'GET',
  path: '/customers/{customer}/tokens',
  scope: 'admin',
  needs: 'read',
  request: { params: customerParams },
  answers: { 200: all(token), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const issue = {
  method: 'POST',
  path: '/customers/{customer}/tokens',
  scope: 'admin',
  needs: 'tokens:write',
  request: {
    params: customerParams,
    body: jsonOf(
      z.strictObject({
        label: text(200).default(''),
        expires: z.string().meta(textOf('date-time', 'duration')).optional(),
        read_only: bool.optional(),
        allowed_addresses: z.array(z.string().meta(textOf('cidr'))).optional(),
        ...groundsFields,
      }),
    ),
  },
  /** The token is shown once. */
  answers: {
    201: changed(token.extend({ token: z.string() })),
    ...BODY_PROBLEMS,
  },
} as const satisfies AdminOperation;

const show = showing('/customers/{customer}/tokens/{token}', tokenParams, token);

const revoke = {
  method: 'DELETE',
  path: '/customers/{customer}/tokens/{token}',
  scope: 'admin',
  needs: 'tokens:write',
  request: { params: tokenParams, query: deletionQuery },
  answers: { 200: changed(token), ...ADMIN_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

/** API tokens of customers. @public what describes the API is made from it */
export const TOKEN_OPERATIONS: readonly AdminOperation[] = [list, issue, show, revoke];

/** API tokens of customers, carried out. */
export function tokenRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, params }) => {
      const tokens = await listTokens(params.customer, application);
      return isRefusal(tokens) ? tokens : allOf(tokens, tokenRecord);
    }),
    adminRoute(issue, api, async ({ application, params, body, context }) => {
      const { label, expires, read_only: readOnly, allowed_addresses: allowedAddresses } = body;
      const customer = await findCustomer(params.customer, application);
      if (isRefusal(customer)) return customer;
      const issued = await issueToken(
        { customer: params.customer, label, expires, readOnly, allowedAddresses },
        context,
        application,
      );
      if (isRefusal(issued)) return issued;
      const tokens = await listTokens(customer.customerId, application);
      if (isRefusal(tokens)) return tokens;
      const known = tokens.find(({ tokenId }) => tokenId === issued.tokenId);
      return known === undefined
        ? problems.notFound
        : { status: 201, data: { ...tokenRecord(known), token: issued.token } };
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const tokens = await listTokens(params.customer, application);
      if (isRefusal(tokens)) return tokens;
      const known = tokens.find(({ tokenId }) => tokenId === params.token);
      if (known === undefined) return problems.notFound;
      const there = await customerRevision(params.customer, application);
      return isRefusal(there) ? there : { data: tokenRecord(known), etag: there.revision };
    }),
    adminRoute(revoke, api, async ({ application, params, context, heldTo }) => {
      const tokens = await listTokens(params.customer, application);
      if (isRefusal(tokens)) return tokens;
      const known = tokens.find(({ tokenId }) => tokenId === params.token);
      if (known === undefined) return problems.notFound;
      const there = await customerRevision(params.customer, application);
      if (isRefusal(there)) return there;
      const held = heldTo(streamOfCustomer(there));
      if (isRefusal(held)) return held;
      const revoked = await revokeToken({ tokenId: known.tokenId, customer: params.customer }, context, held);
      return isRefusal(revoked) ? revoked : { data: tokenRecord(known) };
    }),
  ];
}
