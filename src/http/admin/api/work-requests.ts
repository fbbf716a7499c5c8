import { z } from 'zod';
import {
  cancelWork,
  describeWork,
  describeWorkWithPayload,
  listWork,
  type ShownWork,
  showWork,
  submitWork,
} from '../../../application/worker-pools/work-requests.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { checkWork, documentErrors } from '../../../domain/worker-pools/documents.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { invalid } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  deletionQuery,
  pageAnswer,
  pageFields,
  pageOf,
  showing,
} from './shapes.ts';

/** A payload of 64 KiB, which may be written with escapes, and the fields beside it. */
const WORK_BYTES_MAX = 512 * 1024;

const states = z.enum(['waiting', 'running', 'succeeded', 'failed', 'cancelled'], {
  error: 'must be waiting, running, succeeded, failed or cancelled.',
});
const row = z.strictObject({
  id: z.string(),
  scope: z.string(),
  architecture: z.string(),
  pool: z.string().nullable(),
  expected_seconds: z.int().nullable(),
  state: states,
  worker: z.string().nullable(),
  attempts: z.int(),
  submitted_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  because: z.string().nullable(),
});
const workRequest = row.extend({
  payload: z.unknown().meta({ description: 'Free JSON; null once the request is over.' }),
});
const workParams = z.strictObject({ id: z.string() });

/** Each field is checked by the rules of documents, which name what is wrong with it. */
const document = z
  .looseObject({ ...groundsFields })
  .meta({ description: '`scope`, `architecture`; `pool`, `payload` and `expected_seconds` may be left out.' });

const list = {
  method: 'GET',
  path: '/work-requests',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject({ scope: z.string().optional(), state: states.optional(), ...pageFields }) },
  answers: { 200: pageOf(row), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const submit = {
  method: 'POST',
  path: '/work-requests',
  scope: 'admin',
  needs: 'work:write',
  request: { body: jsonOf(document) },
  answers: { 201: changed(workRequest), ...BODY_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/work-requests/{id}', workParams, workRequest);

const cancel = {
  method: 'DELETE',
  path: '/work-requests/{id}',
  scope: 'admin',
  needs: 'work:write',
  request: { params: workParams, query: deletionQuery },
  answers: { 200: changed(workRequest), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

/** What waits for workers. @public what describes the API is made from it */
export const WORK_REQUEST_OPERATIONS: readonly AdminOperation[] = [list, submit, show, cancel];

/** What waits for workers, carried out. */
export function workRequestRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query: { scope, state, after, limit } }) => {
      const found = await listWork({ scope, state, after, limit: limit + 1 }, application);
      return isRefusal(found) ? found : pageAnswer(found, limit, describeWork, ({ id }) => id);
    }),
    adminRoute(
      submit,
      api,
      async ({ application, body: { reason: _reason, ticket: _ticket, ...given }, context }) => {
        const work = checkWork({ pool: null, payload: null, expected_seconds: null, ...given });
        if (!work.ok) return invalid(documentErrors(work.problems));
        const shown = await submitWork(work.value, context, application);
        return isRefusal(shown) ? shown : { status: 201, data: describeWorkWithPayload(shown) };
      },
      { bodyBytesMax: WORK_BYTES_MAX },
    ),
    adminRoute(show, api, async ({ application, params }) => {
      const shown = await showWork(params.id, application);
      if (isRefusal(shown)) return shown;
      return { data: describeWorkWithPayload(shown), etag: (await thereOf(shown, application)).revision };
    }),
    adminRoute(cancel, api, async ({ application, params, context, heldTo, isRehearsal }) => {
      const shown = await showWork(params.id, application);
      if (isRefusal(shown)) return shown;
      const there = await thereOf(shown, application);
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const cancelled = await cancelWork(there.id, context, held);
      if (isRefusal(cancelled)) return cancelled;
      const data = describeWorkWithPayload(cancelled.shown);
      if (!isRehearsal || !cancelled.changed) return { data };
      // The views know nothing of a rehearsal.
      return { data: { ...data, state: 'cancelled', payload: null, finished_at: application.clock.nowText() } };
    }),
  ];
}

/** The stream that says how a work request is. */
async function thereOf({ view: { id } }: ShownWork, { workRequests }: AdminApi['application']) {
  const { revision } = await workRequests.state(id);
  return { of: 'workRequests', id, revision } as const;
}
