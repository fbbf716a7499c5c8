import { z } from 'zod';
import { issueAdminToken, listAdminTokens, revokeAdminToken } from '../../../application/ip-control/admin-tokens.ts';
import {
  changeAdministrator,
  ensureAdministrator,
  pageOfAdministrators,
  resetAdministratorPassword,
  showAdministrator,
} from '../../../application/ip-control/administrators.ts';
import { ADMIN_ROLES } from '../../../domain/ip-control/admin-roles.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { ADMIN_SCOPES } from '../../../domain/ip-control/admin-roles.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import type { AdminTokenView } from '../../../projections/ip-control/admin-token-view.ts';
import type { AdministratorView } from '../../../projections/ip-control/administrator-view.ts';
import { problems } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route, textOf } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { PRECONDITION_FAILED } from './refusals.ts';
import {
  ADMIN_PROBLEMS,
  all,
  allOf,
  BODY_PROBLEMS,
  bool,
  changed,
  changeQuery,
  deletionQuery,
  groundsBody,
  listing,
  pageAnswer,
  showing,
  text,
} from './shapes.ts';

const accountParams = z.strictObject({ account: z.string() });
const account = z.strictObject({
  name: z.string(),
  role: z.string(),
  enabled: z.boolean(),
  second_factor: z.boolean(),
  created_at: z.string(),
  last_login: z.string().nullable(),
});
const tokenFields = {
  id: z.string(),
  account: z.string(),
  label: z.string(),
  scopes: z.array(z.string().meta({ enum: [...ADMIN_SCOPES] })),
  expires_at: z.string(),
} as const;
const token = z.strictObject({ ...tokenFields, created_at: z.string(), created_by: z.string() });

const list = listing('/accounts', account);

const show = showing('/accounts/{account}', accountParams, account);

const roleText = z.enum(ADMIN_ROLES, { error: `must be one of ${ADMIN_ROLES.join(', ')}.` });

const put = {
  method: 'PUT',
  path: '/accounts/{account}',
  scope: 'admin',
  needs: 'accounts:write',
  request: {
    params: accountParams,
    query: changeQuery,
    body: jsonOf(z.strictObject({ role: roleText, enabled: bool.default(true), ...groundsFields })),
  },
  /** `password`: of a new account, shown once, and to be changed at its first login. */
  answers: {
    200: changed(account),
    201: changed(account, { password: z.string().optional() }),
    ...BODY_PROBLEMS,
    ...problemAnswers(409, 412),
  },
} as const satisfies AdminOperation;

const patch = {
  method: 'PATCH',
  path: '/accounts/{account}',
  scope: 'admin',
  needs: 'accounts:write',
  request: {
    params: accountParams,
    query: changeQuery,
    body: jsonOf(z.strictObject({ role: roleText.optional(), enabled: bool.optional(), ...groundsFields })),
  },
  answers: { 200: changed(account), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

/** The log names accounts for ever: what is deleted is disabled, and its sessions and tokens are worth nothing. */
const remove = {
  method: 'DELETE',
  path: '/accounts/{account}',
  scope: 'admin',
  needs: 'accounts:write',
  request: { params: accountParams, query: deletionQuery },
  answers: { 200: changed(account), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const resetPassword = {
  method: 'POST',
  path: '/accounts/{account}/reset-password',
  scope: 'admin',
  needs: 'accounts:write',
  request: { params: accountParams, body: jsonOf(groundsBody) },
  /** The password is shown once. */
  answers: {
    200: changed(z.strictObject({ name: z.string(), password: z.string() })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

const listTokens = {
  method: 'GET',
  path: '/accounts/{account}/tokens',
  scope: 'admin',
  needs: 'read',
  request: { params: accountParams },
  answers: { 200: all(token), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const issueToken = {
  method: 'POST',
  path: '/accounts/{account}/tokens',
  scope: 'admin',
  needs: 'accounts:write',
  request: {
    params: accountParams,
    body: jsonOf(
      z.strictObject({
        scopes: z
          .array(z.string().meta({ enum: [...ADMIN_SCOPES] }))
          .min(1, { error: 'must have one scope at least.' }),
        label: text(200).default(''),
        expires: z.string().max(64).meta(textOf('date-time', 'duration')).optional(),
        ...groundsFields,
      }),
    ),
  },
  /** The token is shown once. */
  answers: {
    201: changed(z.strictObject({ ...tokenFields, token: z.string() })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

const revokeToken = {
  method: 'DELETE',
  path: '/accounts/{account}/tokens/{token}',
  scope: 'admin',
  needs: 'accounts:write',
  request: { params: accountParams.extend({ token: z.string() }), query: deletionQuery },
  answers: { 200: changed(token), ...ADMIN_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

/** Accounts of administrators, and their tokens. @public what describes the API is made from it */
export const ACCOUNT_OPERATIONS: readonly AdminOperation[] = [
  list,
  show,
  put,
  patch,
  remove,
  resetPassword,
  listTokens,
  issueToken,
  revokeToken,
];

/** Accounts of administrators, and their tokens, carried out. */
export function accountRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query: { after, limit } }) => {
      const found = await pageOfAdministrators({ after, limit: limit + 1 }, application);
      return pageAnswer(found, limit, rowOf, ({ name }) => name);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await showAdministrator(params.account, application);
      return isRefusal(found) ? found : accountNow(found.name, application);
    }),
    adminRoute(put, api, async ({ application, params, body, context, heldTo, onlyNew, isRehearsal }) => {
      const there = await thereOf(params.account, application);
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const wanted = { name: params.account, role: body.role, isEnabled: body.enabled };
      const made = await ensureAdministrator(wanted, context, held);
      if (isRefusal(made)) return onlyNew && made.refused === 'administrator-exists' ? PRECONDITION_FAILED : made;
      const isNew = made.password !== undefined && !isRehearsal;
      const meta = isNew ? { password: made.password } : {};
      return { status: isNew ? 201 : 200, meta, ...(await accountNow(params.account, application)) };
    }),
    adminRoute(patch, api, async ({ application, params, body, context, heldTo }) => {
      const there = await thereOf(params.account, application);
      if (there === undefined) return problems.notFound;
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const wanted = { name: params.account, role: body.role, isEnabled: body.enabled };
      const refused = await changeAdministrator(wanted, context, held);
      return refused ?? accountNow(params.account, application);
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const there = await thereOf(params.account, application);
      if (there === undefined) return problems.notFound;
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const refused = await changeAdministrator({ name: params.account, isEnabled: false }, context, held);
      return refused ?? accountNow(params.account, application);
    }),
    adminRoute(resetPassword, api, async ({ application, params, context }) => {
      if ((await thereOf(params.account, application)) === undefined) return problems.notFound;
      const reset = await resetAdministratorPassword(params.account, context, application);
      return isRefusal(reset) ? reset : { data: reset };
    }),
    adminRoute(listTokens, api, async ({ application, params }) => {
      const tokens = await listAdminTokens(params.account, application);
      return isRefusal(tokens) ? tokens : allOf(tokens, tokenRow);
    }),
    adminRoute(issueToken, api, async ({ application, params, body, context }) => {
      const { scopes, label, expires } = body;
      const issued = await issueAdminToken({ account: params.account, scopes, label, expires }, context, application);
      if (isRefusal(issued)) return issued;
      const { tokenId: id, token: shown, scopes: given, until: expires_at } = issued;
      return { status: 201, data: { id, account: params.account, label, scopes: given, expires_at, token: shown } };
    }),
    adminRoute(revokeToken, api, async ({ application, params, context, heldTo }) => {
      const tokens = await listAdminTokens(params.account, application);
      if (isRefusal(tokens)) return tokens;
      const known = tokens.find(({ tokenId }) => tokenId === params.token);
      if (known === undefined) return problems.notFound;
      const held = heldTo(await thereOf(known.account, application));
      if (isRefusal(held)) return held;
      const revoked = await revokeAdminToken({ id: known.tokenId, account: known.account }, context, held);
      return isRefusal(revoked) ? revoked : { data: tokenRow(known) };
    }),
  ];
}

/** The stream that says how an account is; undefined where there is none of the name. */
async function thereOf(name: string, application: AdminApi['application']) {
  // Not every text that a path may hold is the name of a stream.
  const known = await application.views.administrators.get(name);
  if (known === undefined) return undefined;
  const { revision } = await application.administrators.state(name);
  return { of: 'administrators', id: name, revision } as const;
}

/** An account as its stream says it is, which a rehearsal has changed, too. */
async function accountNow(name: string, application: AdminApi['application']) {
  await application.catchUp();
  const { state, revision } = await application.administrators.state(name);
  const known = await application.views.administrators.get(name);
  const { role, isEnabled } = state.exists ? state : { role: 'administrator', isEnabled: true };
  const data = {
    name,
    role,
    enabled: isEnabled,
    second_factor: known !== undefined && known.secondFactor !== null,
    created_at: known?.createdAt ?? application.clock.nowText(),
    last_login: known?.lastLogin ?? null,
  };
  return { data, etag: revision };
}

function rowOf({ name, role, isEnabled, secondFactor, createdAt, lastLogin }: AdministratorView) {
  return {
    name,
    role,
    enabled: isEnabled,
    second_factor: secondFactor !== null,
    created_at: createdAt,
    last_login: lastLogin,
  };
}

function tokenRow({ tokenId, account: name, label, scopes, issuedAt, issuedBy, until }: AdminTokenView) {
  return { id: tokenId, account: name, label, scopes, created_at: issuedAt, created_by: issuedBy, expires_at: until };
}
