import type { Request, Response } from 'express';
import { z } from 'zod';
import {
  listOwnCommits,
  type OwnCommit,
  type OwnCommitViews,
  showOwnCommit,
} from '../../application/ip-control/own-commits.ts';
import { LIST_KINDS } from '../../domain/ip-control/waiting-changes.ts';
import { invalid, problems, sendJson, sendProblem } from '../problems.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { callerOf } from '../middleware/request-context.ts';
import { CUSTOMER_PROBLEMS, numbersQuery, type Operation, problemAnswers, type Route } from '../route.ts';
import { pageQuery, readPage } from './page-query.ts';

export type CommitDependencies = Readonly<{ views: OwnCommitViews }>;

const instant = z.iso.datetime({ offset: true });
const commit = z.strictObject({
  commit_set_id: z.uuid(),
  region: z.string(),
  prefix_list_name: z.string(),
  status: z.enum(['deploying', 'success', 'failed']),
  attempt: z.int().positive(),
  prefixes: z.int().nonnegative().nullable(),
  requested_at: instant,
  completed_at: instant.nullable(),
  reason: z.string().nullable(),
});

const listCommits = {
  method: 'GET',
  path: '/commits',
  scope: 'customer',
  request: {
    query: z.strictObject({
      region: z.string().optional(),
      list: z.enum(LIST_KINDS).optional(),
      ...pageQuery,
      ...numbersQuery,
    }),
  },
  answers: {
    200: z.strictObject({ data: z.array(commit), meta: z.strictObject({ next_after: z.string().nullable() }) }),
    ...CUSTOMER_PROBLEMS,
  },
} as const satisfies Operation;

const showCommit = {
  method: 'GET',
  path: '/commits/{commit_set_id}',
  scope: 'customer',
  request: { params: z.strictObject({ commit_set_id: z.uuid() }), query: z.strictObject(numbersQuery) },
  answers: { 200: z.strictObject({ data: commit }), ...CUSTOMER_PROBLEMS, ...problemAnswers(404) },
} as const satisfies Operation;

/** What shows a customer its commits. @public what describes the API is made from it */
export const COMMIT_OPERATIONS: readonly Operation[] = [listCommits, showCommit];

/** What shows a customer its commits, carried out. */
export function commitRoutes({ views }: CommitDependencies): readonly Route[] {
  return [
    { ...listCommits, handle: [(request, response) => sendCommits(request, response, views)] },
    { ...showCommit, handle: [refuseQuery, (request, response) => sendCommit(request, response, views)] },
  ];
}

async function sendCommits(request: Request, response: Response, views: OwnCommitViews): Promise<void> {
  const errors: Record<string, readonly string[]> = { ...queryErrors(request, ['region', 'list', 'after', 'limit']) };
  const page = readPage(request, errors);
  const { region, list: listText } = request.query;
  const list = LIST_KINDS.find((kind) => kind === listText);
  if (listText !== undefined && list === undefined) errors['list'] ??= [`must be ${LIST_KINDS.join(' or ')}.`];
  if (typeof region === 'string' && !(await isRegion(region, views)))
    errors['region'] ??= ['must be the number or the name of a region.'];
  if (Object.keys(errors).length > 0) return sendProblem(response, invalid(errors));
  const query = { region: typeof region === 'string' ? region : undefined, list, ...page };
  const { commits, nextAfter = null } = await listOwnCommits(callerOf(response).customer, query, views);
  sendJson(response, 200, { data: commits.map(shown), meta: { next_after: nextAfter } });
}

/** Whether this may be a region: the number of one that is removed still has its commits. */
async function isRegion(text: string, { regions }: OwnCommitViews): Promise<boolean> {
  return /^\d{1,9}$/.test(text) || (await regions.list()).some(({ view }) => view.name === text);
}

async function sendCommit(request: Request, response: Response, views: OwnCommitViews): Promise<void> {
  const id = String(request.params['commit_set_id']);
  const found = await showOwnCommit(callerOf(response).customer, id, views);
  if (found === undefined) sendProblem(response, problems.notFound);
  else sendJson(response, 200, { data: shown(found) });
}

function shown({ commitSetId, prefixListName, requestedAt, completedAt, because, ...same }: OwnCommit) {
  return {
    ...same,
    commit_set_id: commitSetId,
    prefix_list_name: prefixListName,
    requested_at: requestedAt,
    completed_at: completedAt,
    reason: because,
  };
}
