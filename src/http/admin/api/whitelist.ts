import { whitelistRecord } from '../../../application/ip-control/records.ts';
import { z } from 'zod';
import {
  approveRequest,
  type DecidedRequest,
  listRequests,
  placeOfRequest,
  rejectRequest,
  requestEvidence,
  showRequest,
} from '../../../application/ip-control/whitelist-review.ts';
import { reasonText, ticketText } from '../../../domain/grounds.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { invalid } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { evidenceHeaders, sendEvidence } from '../evidence.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  groundsBody,
  pageAnswer,
  pageFields,
  pageOf,
  showing,
} from './shapes.ts';

const STATUSES = ['pending_review', 'pending_deploy', 'active', 'rejected', 'failed'] as const;
const customerName = z.union([z.string(), z.int()]);

const listed = z.strictObject({
  id: z.string(),
  customer: customerName,
  input: z.string(),
  regions: z.array(z.string()),
  status: z.enum(STATUSES),
  auto_approved: z.boolean(),
  created_at: z.string(),
});

const shown = z.strictObject({
  id: z.string(),
  customer: customerName,
  input: z.string(),
  prefixes: z.array(z.string()),
  status: z.enum([...STATUSES, 'removed']),
  regions: z.array(z.strictObject({ name: z.string(), deployment: z.string().nullable() })),
  auto_approved: z.boolean(),
  created_at: z.string(),
  created_by: z.string(),
  decided_at: z.string().nullable(),
  decided_by: z.string().nullable(),
  reason: z.string().nullable(),
  removed_at: z.string().nullable(),
  removed_by: z.string().nullable(),
  evidence: z.strictObject({
    file_name: z.string(),
    media_type: z.string(),
    bytes: z.int().nonnegative(),
    sha256: z.string(),
  }),
});

const requestParams = z.strictObject({ request: z.string() });
const decided = changed(z.strictObject({ id: z.string(), status: z.enum([...STATUSES, 'removed']) }));

const list = {
  method: 'GET',
  path: '/whitelist-requests',
  scope: 'admin',
  needs: 'read',
  request: {
    query: z.strictObject({
      customer: z.string().optional(),
      status: z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}.` }).optional(),
      ...pageFields,
    }),
  },
  answers: { 200: pageOf(listed), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/whitelist-requests/{request}', requestParams, shown);

const approve = {
  method: 'POST',
  path: '/whitelist-requests/{request}/approve',
  scope: 'admin',
  needs: 'whitelist:review',
  request: { params: requestParams, body: jsonOf(groundsBody) },
  answers: { 200: decided, ...BODY_PROBLEMS, ...problemAnswers(409) },
} as const satisfies AdminOperation;

const reject = {
  method: 'POST',
  path: '/whitelist-requests/{request}/reject',
  scope: 'admin',
  needs: 'whitelist:review',
  request: {
    params: requestParams,
    body: jsonOf(z.strictObject({ reason: reasonText, ticket: ticketText.optional() })),
  },
  answers: { 200: decided, ...BODY_PROBLEMS, ...problemAnswers(409) },
} as const satisfies AdminOperation;

const evidence = {
  method: 'GET',
  path: '/whitelist-requests/{request}/evidence',
  scope: 'admin',
  needs: 'evidence:read',
  request: { params: requestParams },
  /** The file, as an attachment. */
  answers: { 200: z.unknown(), ...ADMIN_PROBLEMS },
  otherTypes: ['image/jpeg', 'image/png', 'application/pdf'],
} as const satisfies AdminOperation;

/** Whitelist requests and their review. @public what describes the API is made from it */
export const WHITELIST_OPERATIONS: readonly AdminOperation[] = [list, show, approve, reject, evidence];

/** Whitelist requests and their review, carried out. */
export function whitelistRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query: { customer, status, after, limit } }) => {
      // It may have been decided since, and have left the list.
      const behind = after === undefined ? undefined : await placeOfRequest(after, application);
      if (after !== undefined && behind === undefined) return invalid({ after: ['must be the id of a request.'] });
      const requests = await listRequests({ customer, status, behind }, application);
      if (isRefusal(requests)) return requests;
      return pageAnswer(requests, limit, listedOf, ({ requestId }) => requestId);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await showRequest(params.request, application);
      return isRefusal(found) ? found : { data: whitelistRecord(found) };
    }),
    adminRoute(approve, api, async ({ application, params, context }) => {
      const approved = await approveRequest(params.request, context, application);
      return isRefusal(approved) ? approved : { data: decidedOf(approved) };
    }),
    adminRoute(reject, api, async ({ application, params, body: { reason }, context }) => {
      const rejected = await rejectRequest({ id: params.request, reason }, context, application);
      return isRefusal(rejected) ? rejected : { data: decidedOf(rejected) };
    }),
    adminRoute(evidence, api, async ({ application, params, principal: { account }, context: { requestId } }) => {
      const found = await requestEvidence(params.request, application);
      if (isRefusal(found)) return found;
      api.log.info({ requestId, account, request: found.requestId, sha256: found.evidence.sha256 }, 'evidence is read');
      return { headers: evidenceHeaders(found), send: (response) => sendEvidence(found, response) };
    }),
  ];
}

function listedOf(request: Readonly<{ requestId: string; autoApproved: boolean; submittedAt: string }>) {
  const { requestId: id, autoApproved: auto_approved, submittedAt: created_at, ...rest } = request;
  return { id, ...rest, auto_approved, created_at };
}

function decidedOf({ requestId, status }: DecidedRequest) {
  return { id: requestId, status: status ?? 'removed' };
}
