import { z } from 'zod';
import { listDifference } from '../../../application/ip-control/commit-difference.ts';
import { type LoggedCommit, pageCommits, runCommit, showCommit } from '../../../application/ip-control/commits.ts';
import { openLongReads } from '../../../application/operations/long-reads.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { LIST_KINDS } from '../../../domain/ip-control/waiting-changes.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { invalid, problems } from '../../problems.ts';
import { jsonOf, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { goesOn, goingOn, inTime } from './router-actions.ts';
import { ADMIN_PROBLEMS, BODY_PROBLEMS, changed, one, pageAnswer, pageFields, pageOf, text } from './shapes.ts';

const listText = z.enum(LIST_KINDS, { error: `must be one of ${LIST_KINDS.join(', ')}.` });

const outcome = z.strictObject({
  router: z.string(),
  result: z.string(),
  untouched: z.boolean(),
  because: z.string().optional(),
  saved: z.literal(false).optional(),
  together: z.string().optional(),
  counts: z.literal(false).optional(),
  kept: z.int().optional(),
  milliseconds: z.int().nonnegative(),
});

const commit = z.strictObject({
  id: z.string(),
  customer: z.union([z.string(), z.int()]),
  region: z.union([z.string(), z.int()]),
  list: z.string(),
  status: z.enum(['deploying', 'success', 'failed']),
  reason: z.string(),
  attempt: z.int().positive(),
  prefixes: z.int().nonnegative().nullable(),
  sha256: z.string().nullable(),
  prefixes_done: z.int().nonnegative().nullable(),
  prefixes_total: z.int().nonnegative().nullable(),
  requested_at: z.string(),
  completed_at: z.string().nullable(),
  waits_for: z.array(z.string()),
  outcomes: z.array(outcome),
});

const list = {
  method: 'GET',
  path: '/commits',
  scope: 'admin',
  needs: 'read',
  request: {
    query: z.strictObject({ customer: z.string().optional(), region: z.string().optional(), ...pageFields }),
  },
  answers: { 200: pageOf(commit), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const diff = {
  method: 'GET',
  path: '/commits/diff',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject({ customer: z.string(), region: z.string(), list: listText.default('BLACKHOLE') }) },
  answers: {
    200: one(
      z.strictObject({
        customer: z.string(),
        region: z.string(),
        list: z.string(),
        prefixes: z.int().nonnegative(),
        routers: z.array(
          z.strictObject({
            router: z.string(),
            added: z.array(z.string()),
            removed: z.array(z.string()),
            kept: z.int().optional(),
            problem: z.string().optional(),
            disabled: z.literal(true).optional(),
          }),
        ),
      }),
    ),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

const run = {
  method: 'POST',
  path: '/commits/run',
  scope: 'admin',
  needs: 'commits:run',
  request: {
    body: jsonOf(
      z.strictObject({
        customer: text(64, 1),
        region: text(64, 1),
        list: listText.default('BLACKHOLE'),
        ...groundsFields,
      }),
    ),
  },
  answers: {
    200: changed(
      z.strictObject({
        customer: z.string(),
        region: z.string(),
        list: z.string(),
        status: z.enum(['success', 'failed']),
        outcomes: z.array(outcome),
      }),
    ),
    202: goingOn,
    ...BODY_PROBLEMS,
  },
} as const satisfies AdminOperation;

const show = {
  method: 'GET',
  path: '/commits/{commit_set}',
  scope: 'admin',
  needs: 'read',
  request: { params: z.strictObject({ commit_set: z.string() }) },
  answers: { 200: one(commit), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

/** Deployments of lists to routers. @public what describes the API is made from it */
export const COMMIT_OPERATIONS: readonly AdminOperation[] = [list, diff, run, show];

/** Deployments of lists to routers, carried out. What has a name of its own comes before what any name may stand for. */
export function commitRoutes(api: AdminApi): readonly Route[] {
  const routerReads = openLongReads();
  return [
    adminRoute(list, api, async ({ application, query: { customer, region, after, limit } }) => {
      if (customer !== undefined && region !== undefined)
        return invalid({ region: ['does not go with customer: a page is of one of them.'] });
      const found = await pageCommits({ customer, region, after, limit: limit + 1 }, application);
      if (isRefusal(found)) return found;
      return pageAnswer(found, limit, rowOf, ({ place }) => place);
    }),
    adminRoute(diff, api, async ({ application, query, signal }) => {
      const difference = await routerReads(signal, () => listDifference(query, application, signal));
      if (difference === undefined) return problems.unavailable;
      return isRefusal(difference) ? difference : { data: difference };
    }),
    adminRoute(run, api, ({ application, body, context }) =>
      inTime(api, context.requestId, async () => {
        const { customer, region, list: kind } = body;
        const ran = await runCommit({ customer, region, list: kind }, context, application);
        if (isRefusal(ran)) return ran;
        const { isRequested, ...data } = ran;
        if (data.status === 'in_progress') return goesOn(context.requestId);
        // The commit is requested by other rules than the call's own.
        return { data, meta: { changed: isRequested } };
      }),
    ),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await showCommit(params.commit_set, application);
      return isRefusal(found) ? found : { data: rowOf(found) };
    }),
  ];
}

function rowOf({ customer, region, view }: Omit<LoggedCommit, 'place'>) {
  return {
    id: view.commitSetId,
    customer,
    region,
    list: view.list,
    status: view.status,
    reason: view.reason,
    attempt: view.attempt,
    prefixes: view.content?.prefixes ?? null,
    sha256: view.content?.sha256 ?? null,
    prefixes_done: view.progress?.done ?? null,
    prefixes_total: view.progress?.total ?? null,
    requested_at: view.requestedAt,
    completed_at: view.completedAt,
    waits_for: view.waitsFor,
    outcomes: view.outcomes,
  };
}
