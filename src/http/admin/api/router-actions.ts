import { z } from 'zod';
import { drainRouter } from '../../../application/ip-control/router-changes.ts';
import { checkRouters, enableRouter, pruneRouter } from '../../../application/ip-control/router-maintenance.ts';
import { type NamedRouter, testRouter } from '../../../application/ip-control/routers.ts';
import type { RouterCheckResult } from '../../../events/ip-control/router-upkeep.ts';
import { showOperation } from '../../../application/ip-control/operations.ts';
import { isRefusal, type Refusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { within } from '../within.ts';
import { type AdminAnswer, type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { routerParams } from './routers.ts';
import { ADMIN_PROBLEMS, BODY_PROBLEMS, changed, changeQuery, groundsBody, one } from './shapes.ts';

/** How long an answer waits for something to be done before it says where to look for the end of it. */
const DONE_MILLISECONDS = 20_000;

/** 202: it goes on, and `/operations/{operation}` says how far it is. */
export const goingOn = changed(z.strictObject({ operation: z.string() }));

const names = z.array(z.string());
const checkResult = z.strictObject({
  region: z.string(),
  router: z.string(),
  lists: z.int().optional(),
  under_way: z.int().optional(),
  drifted: names.optional(),
  repaired: names.optional(),
  unowned: names.optional(),
  removed: names.optional(),
  problems: names.optional(),
});

function action<const Name extends string, D extends z.ZodType>(name: Name, data: D) {
  return {
    method: 'POST',
    path: `/regions/{region}/routers/{router}/${name}`,
    scope: 'admin',
    needs: 'routers:operate',
    request: { params: routerParams, body: jsonOf(groundsBody) },
    answers: { 200: changed(data), 202: goingOn, ...BODY_PROBLEMS, ...problemAnswers(409) },
  } as const satisfies AdminOperation;
}

const test = action(
  'test',
  z.strictObject({
    router: z.string(),
    region: z.string(),
    reachable: z.boolean(),
    code: z.string().nullable(),
    because: z.string().nullable(),
  }),
);
const check = action('check', checkResult);
const prune = action('prune', checkResult);
const enable = action(
  'enable',
  z.strictObject({
    router: z.string(),
    region: z.string(),
    state: z.literal('enabled'),
    lists: z.int().nullable(),
    changed: z.int().nullable(),
  }),
);

/** `enable` puts everything back. */
const drain = {
  ...action(
    'drain',
    z.strictObject({
      router: z.string(),
      region: z.string(),
      state: z.literal('disabled'),
      removed: names,
      problems: names,
    }),
  ),
  request: {
    params: routerParams,
    query: changeQuery,
    body: jsonOf(groundsBody),
  },
} as const satisfies AdminOperation;

const show = {
  method: 'GET',
  path: '/operations/{operation}',
  scope: 'admin',
  needs: 'read',
  request: { params: z.strictObject({ operation: z.string() }) },
  answers: {
    200: one(
      z.strictObject({
        id: z.string(),
        kind: z.enum(['check', 'prune', 'enable', 'drain', 'commit']),
        state: z.enum(['running', 'succeeded', 'failed']),
        region: z.union([z.string(), z.int()]),
        router: z.string().nullable(),
        commit_set_id: z.string().nullable(),
        requested_at: z.string(),
        by: z.string(),
        result: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

/** What is done with routers, and how far it is. @public what describes the API is made from it */
export const ROUTER_ACTION_OPERATIONS: readonly AdminOperation[] = [test, check, prune, enable, drain, show];

/** What is done with routers, carried out. */
export function routerActionRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(test, api, async ({ application, params }) => {
      const tested = await testRouter(params, application);
      if (isRefusal(tested)) return tested;
      const { router, region, problem } = tested;
      const { code = null, because = null } = problem ?? {};
      return { data: { router, region, reachable: problem === undefined, code, because } };
    }),
    adminRoute(check, api, ({ application, params, context }) =>
      inTime(api, context.requestId, async () => {
        const checked = await checkRouters(params, context, application);
        if (isRefusal(checked)) return checked;
        return { data: resultOf(checked[0] ?? params), meta: DONE };
      }),
    ),
    adminRoute(prune, api, ({ application, params, context }) =>
      inTime(api, context.requestId, async () => {
        const pruned = await pruneRouter(params, context, application);
        if (isRefusal(pruned)) return pruned;
        return { data: resultOf(pruned), meta: DONE };
      }),
    ),
    adminRoute(enable, api, ({ application, params, context }) =>
      inTime(api, context.requestId, async () => {
        const enabled = await enableRouter(params, context, application);
        if (isRefusal(enabled)) return enabled;
        const { router, region, phase } = enabled;
        if (phase === 'catching-up') return goesOn(context.requestId);
        const { lists = null, changed: count = null } = enabled.caughtUp ?? {};
        const meta = { changed: enabled.caughtUp !== undefined };
        return { data: { router, region, state: phase, lists, changed: count }, meta };
      }),
    ),
    adminRoute(drain, api, ({ application, params, context, isRehearsal }) =>
      inTime(api, context.requestId, async () => {
        const drained = await drainRouter(params, context, { ...application, isRehearsal });
        return isRefusal(drained) ? drained : { data: { ...drained, state: 'disabled' } };
      }),
    ),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await showOperation(params.operation, application);
      if (isRefusal(found)) return found;
      const { commitSetId: commit_set_id, requestedAt: requested_at, ...operation } = found;
      return { data: { ...operation, commit_set_id, requested_at } };
    }),
  ];
}

function resultOf(checked: NamedRouter & Partial<RouterCheckResult>) {
  const { region, router, lists, underWay, drifted, repaired, unowned, removed, problems } = checked;
  return { region, router, lists, under_way: underWay, drifted, repaired, unowned, removed, problems };
}

/** What was asked for was recorded by other rules than the call's own. */
const DONE = { changed: true };

/** What is not done in time goes on without the one who asked. */
export async function inTime(
  { application: { clock }, log }: AdminApi,
  operation: string,
  perform: () => Promise<AdminAnswer | Refusal>,
): Promise<AdminAnswer | Refusal> {
  return (await within(DONE_MILLISECONDS, perform, { clock, log, operation })) ?? goesOn(operation);
}

/** 202, and where to look. */
export function goesOn(operation: string): AdminAnswer {
  const headers = { Location: `/api/admin/v1/operations/${encodeURIComponent(operation)}` };
  return { status: 202, data: { operation }, meta: DONE, headers };
}
