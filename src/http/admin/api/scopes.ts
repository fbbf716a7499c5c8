import { z } from 'zod';
import {
  addScopeWorkerPool,
  createScope,
  deleteScope,
  editScopeWorkerPool,
  listScopes,
  type Membership,
  removeScopeWorkerPool,
  scopeRevision,
  showScope,
} from '../../../application/worker-pools/scopes.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { checkScopeName, documentErrors, scopeLimitsBody } from '../../../domain/worker-pools/documents.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/decider.ts';
import type { ScopeView } from '../../../projections/worker-pools/scope-view.ts';
import { invalid } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  changeQuery,
  deletionQuery,
  groundsBody,
  listing,
  pageOfAll,
  showing,
} from './shapes.ts';

const PRIORITY_MAX = 1_000_000;

const priorityNumber = z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX);
const terms = z.strictObject({ priority: z.int(), limits: scopeLimitsBody });
const scope = z.strictObject({
  name: z.string(),
  worker_pools: z.array(terms.extend({ name: z.string() })),
  created_at: z.string(),
});
const scopeParams = z.strictObject({ scope: z.string() });
const memberParams = scopeParams.extend({ pool: z.string() });
const member = terms.extend({ scope: z.string(), worker_pool: z.string() });

const list = listing('/scopes', scope);

const show = showing('/scopes/{scope}', scopeParams, scope);

const put = {
  method: 'PUT',
  path: '/scopes/{scope}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: scopeParams, query: changeQuery, body: jsonOf(groundsBody) },
  answers: {
    200: changed(z.strictObject({ name: z.string() })),
    201: changed(z.strictObject({ name: z.string() })),
    ...BODY_PROBLEMS,
    ...problemAnswers(412),
  },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/scopes/{scope}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: scopeParams, query: deletionQuery },
  answers: { 200: changed(z.strictObject({ name: z.string() })), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const showPool = showing('/scopes/{scope}/worker-pools/{pool}', memberParams, member);

const putPool = {
  method: 'PUT',
  path: '/scopes/{scope}/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: {
    params: memberParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({
        priority: priorityNumber.default(0),
        limits: scopeLimitsBody.prefault({}),
        ...groundsFields,
      }),
    ),
  },
  answers: { 200: changed(member), 201: changed(member), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const patchPool = {
  method: 'PATCH',
  path: '/scopes/{scope}/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: {
    params: memberParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({ priority: priorityNumber.optional(), limits: scopeLimitsBody.optional(), ...groundsFields }),
    ),
  },
  answers: { 200: changed(member), ...BODY_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

const removePool = {
  method: 'DELETE',
  path: '/scopes/{scope}/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: memberParams, query: deletionQuery },
  answers: {
    200: changed(z.strictObject({ scope: z.string(), worker_pool: z.string() })),
    ...ADMIN_PROBLEMS,
    ...problemAnswers(412),
  },
} as const satisfies AdminOperation;

/** Scopes and the pools that they use. @public what describes the API is made from it */
export const SCOPE_OPERATIONS: readonly AdminOperation[] = [
  list,
  show,
  put,
  remove,
  showPool,
  putPool,
  patchPool,
  removePool,
];

/** Scopes and the pools that they use, carried out. */
export function scopeRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query }) => {
      return pageOfAll(await listScopes(application), query, rowOf, (view) => view.scope);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const view = await showScope(params.scope, application);
      if (isRefusal(view)) return view;
      return { data: rowOf(view), etag: (await scopeRevision(params.scope, application)).revision };
    }),
    adminRoute(put, api, async ({ application, params, context, heldTo, isRehearsal }) => {
      const name = checkScopeName(params.scope, 'name');
      if (!name.ok) return invalid(documentErrors(name.problems));
      const { isThere, revision } = await scopeRevision(params.scope, application);
      const held = heldTo({ of: 'scopes', id: params.scope, revision }, isThere);
      if (isRefusal(held)) return held;
      const made = await createScope(params.scope, context, held);
      if (isRefusal(made)) return made;
      const { revision: etag } = await scopeRevision(params.scope, application);
      return { status: made.created && !isRehearsal ? 201 : 200, data: { name: params.scope }, etag };
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const { isThere, revision } = await scopeRevision(params.scope, application);
      const held = heldTo({ of: 'scopes', id: params.scope, revision }, isThere);
      if (isRefusal(held)) return held;
      const deleted = await deleteScope(params.scope, context, held);
      return isRefusal(deleted) ? deleted : { data: deleted };
    }),
    ...memberRoutes(api),
  ];
}

function memberRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(showPool, api, async ({ application, params: { scope: name, pool } }) => {
      const view = await showScope(name, application);
      if (isRefusal(view)) return view;
      const used = view.pools[pool];
      if (used === undefined) return usesNot(name, pool);
      const { revision: etag } = await scopeRevision(name, application);
      return { data: { scope: name, worker_pool: pool, priority: used.priority, limits: used.limits }, etag };
    }),
    adminRoute(putPool, api, async ({ application, params, body, context, heldTo, isRehearsal }) => {
      const { scope: name, pool } = params;
      const { stream, isThere } = await membershipStream(params, application);
      const held = heldTo(stream, isThere);
      if (isRefusal(held)) return held;
      const wanted = { priority: body.priority, limits: body.limits };
      // A pool admits a scope before the scope takes it: a new membership is looked at before both, where the scope has it what is said of it is held.
      const made = await addScopeWorkerPool(params, wanted, context, isThere ? held : application);
      if (isRefusal(made)) return made;
      const { priority, limits: own } = made.terms ?? wanted;
      return {
        status: !isThere && !isRehearsal ? 201 : 200,
        data: { scope: name, worker_pool: pool, priority, limits: own },
        etag: (await scopeRevision(name, application)).revision,
      };
    }),
    adminRoute(patchPool, api, async ({ application, params, body: { priority, limits }, context, heldTo }) => {
      const { scope: name, pool } = params;
      const { stream, isThere } = await membershipStream(params, application);
      const held = heldTo(stream, isThere);
      if (isRefusal(held)) return held;
      const wanted = {
        ...(priority === undefined ? {} : { priority }),
        ...(limits === undefined ? {} : { limits }),
      };
      const edited = await editScopeWorkerPool(params, wanted, context, held);
      if (isRefusal(edited)) return edited;
      if (edited.terms === undefined) return usesNot(name, pool);
      const { revision: etag } = await scopeRevision(name, application);
      return { data: { scope: name, worker_pool: pool, ...edited.terms }, etag };
    }),
    adminRoute(removePool, api, async ({ application, params, context, heldTo }) => {
      const { scope: name, pool } = params;
      const { stream, isThere } = await membershipStream(params, application);
      // Refused in its second step it would be half done: it is looked at before the first.
      const held = heldTo(stream, isThere);
      if (isRefusal(held)) return held;
      const removed = await removeScopeWorkerPool(params, context, application);
      if (isRefusal(removed)) return removed;
      // One that was taken away halfway is not among the scope's any more, and is taken away all the same.
      return removed.changed ? { data: { scope: name, worker_pool: pool } } : usesNot(name, pool);
    }),
  ];
}

/** The stream that says on which terms a scope uses a pool, and whether it does. */
async function membershipStream({ scope: name, pool }: Membership, application: AdminApi['application']) {
  const { revision, pools } = await scopeRevision(name, application);
  return { stream: { of: 'scopes', id: name, revision } as const, isThere: pools[pool] !== undefined };
}

function usesNot(scopeName: string, pool: string): Refusal {
  return refuse('scope-worker-pool-not-found', `scope ${scopeName} has no worker pool ${pool}.`, 'pool');
}

function rowOf({ scope: name, pools, createdAt }: ScopeView) {
  const used = Object.entries(pools).map(([pool, { priority, limits: own }]) => ({
    name: pool,
    priority,
    limits: own,
  }));
  return { name, worker_pools: used.toSorted((a, b) => b.priority - a.priority), created_at: createdAt };
}
