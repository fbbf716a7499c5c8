import { z } from 'zod';
import { poolUsage } from '../../../application/worker-pools/pool-usage.ts';
import {
  deletePool,
  editPool,
  ensurePool,
  listPools,
  poolRevision,
  showPool,
} from '../../../application/worker-pools/pools.ts';
import { launchWorkers } from '../../../application/worker-pools/workers.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { checkPoolName, documentErrors, givenPool } from '../../../domain/worker-pools/documents.ts';
import { isMonth, monthOf } from '../../../domain/worker-pools/months.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import type { WorkerPoolView } from '../../../projections/worker-pools/worker-pool-view.ts';
import { invalid } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  changeQuery,
  deletionQuery,
  forceField,
  listing,
  one,
  pageOfAll,
  showing,
  wholeNumber,
} from './shapes.ts';

export const poolParams = z.strictObject({ pool: z.string() });

/** Specifications and metadata are documents: the command line takes them up to 1 MiB, and so does this. */
const DOCUMENT_BYTES_MAX = 1024 * 1024;

/** The fields of a pool as the command line takes them; each is checked by the rules of documents, which name what is wrong with it. */
const document = z.looseObject({ ...groundsFields }).meta({ description: 'The fields of a worker pool.' });

const record = z.looseObject({
  name: z.string(),
  provider_account: z.string(),
  enabled: z.boolean(),
  architectures: z.array(z.string()),
  specifications: z.looseObject({ provider_type: z.string() }),
});
const pool = record.extend({
  dynamic_metadata: z.record(z.string(), z.unknown()),
  scopes: z.array(z.string()),
  active_workers: z.array(z.string()),
  created_at: z.string(),
});
const notes = { notes: z.array(z.string()).optional() } as const;

const list = listing('/worker-pools', pool);

const show = showing('/worker-pools/{pool}', poolParams, pool);

const put = {
  method: 'PUT',
  path: '/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: poolParams, query: changeQuery, body: jsonOf(document) },
  answers: { 200: changed(record, notes), 201: changed(record, notes), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const patch = {
  method: 'PATCH',
  path: '/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: poolParams, query: changeQuery, body: jsonOf(document) },
  answers: { 200: changed(record, notes), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/worker-pools/{pool}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: poolParams, query: deletionQuery.extend(forceField) },
  answers: {
    200: changed(z.strictObject({ name: z.string(), scopes: z.array(z.string()), ending: z.array(z.string()) })),
    ...ADMIN_PROBLEMS,
    ...problemAnswers(409, 412),
  },
} as const satisfies AdminOperation;

const launch = {
  method: 'POST',
  path: '/worker-pools/{pool}/launch',
  scope: 'admin',
  needs: 'pools:operate',
  request: {
    params: poolParams,
    body: jsonOf(
      z.strictObject({
        count: wholeNumber(1, 1_000),
        ...groundsFields,
      }),
    ),
  },
  answers: {
    202: changed(z.strictObject({ pool: z.string(), workers: z.array(z.string()), notes: z.array(z.string()) })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

const account = {
  used_seconds: z.number(),
  target_max_seconds_per_month: z.number().nullable(),
  projected_seconds: z.number().nullable(),
} as const;

const usage = {
  method: 'GET',
  path: '/worker-pools/{pool}/usage',
  scope: 'admin',
  needs: 'read',
  request: {
    params: poolParams,
    query: z.strictObject({
      month: z
        .string()
        .meta({ pattern: String.raw`^\d{4}-(?:0[1-9]|1[0-2])$` })
        .optional(),
    }),
  },
  answers: {
    200: one(
      z.strictObject({
        worker_pool: z.string(),
        month: z.string(),
        running_instances: z.int(),
        ...account,
        scopes: z.array(z.strictObject({ scope: z.string(), ...account })),
      }),
    ),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

/** Pools of workers. @public what describes the API is made from it */
export const POOL_OPERATIONS: readonly AdminOperation[] = [list, show, put, patch, remove, launch, usage];

/** Pools of workers, carried out. */
export function poolRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query }) => {
      return pageOfAll(await listPools(application), query, rowOf, ({ record: { name } }) => name);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const view = await showPool(params.pool, application);
      if (isRefusal(view)) return view;
      return { data: rowOf(view), etag: (await poolRevision(params.pool, application)).revision };
    }),
    ...changeRoutes(api),
    adminRoute(remove, api, async ({ application, params, query, context, heldTo }) => {
      const { record: before, revision } = await poolRevision(params.pool, application);
      const held = heldTo({ of: 'workerPools', id: params.pool, revision }, before !== undefined);
      if (isRefusal(held)) return held;
      const deleted = await deletePool(params.pool, { force: query.force }, context, held);
      return isRefusal(deleted) ? deleted : { data: { name: params.pool, ...deleted } };
    }),
    adminRoute(launch, api, async ({ application, params, body, context }) => {
      const launched = await launchWorkers(params.pool, body.count, context, application);
      return isRefusal(launched) ? launched : { status: 202, data: { pool: params.pool, ...launched } };
    }),
    adminRoute(usage, api, async ({ application, params, query }) => {
      const month = query.month ?? monthOf(application.clock.now().epochMilliseconds);
      if (!isMonth(month)) return invalid({ month: ['must be a year and a month, such as 2026-11.'] });
      const used = await poolUsage(params.pool, month, application);
      return isRefusal(used) ? used : { data: used };
    }),
  ];
}

function changeRoutes(api: AdminApi): readonly Route[] {
  const large = { bodyBytesMax: DOCUMENT_BYTES_MAX };
  const how = { dryRun: false };
  return [
    adminRoute(
      put,
      api,
      async ({ application, params, body, context, heldTo, isRehearsal }) => {
        const name = checkPoolName(params.pool, 'name');
        if (!name.ok) return invalid(documentErrors(name.problems));
        const given = givenPool(body, 'whole', application.cloudDrivers);
        if (!given.ok) return invalid(documentErrors(given.problems));
        const { record: before, revision } = await poolRevision(params.pool, application);
        const held = heldTo({ of: 'workerPools', id: params.pool, revision }, before !== undefined);
        if (isRefusal(held)) return held;
        const made = await ensurePool(params.pool, given.value, how, context, held);
        if (isRefusal(made)) return made;
        const after = await poolRevision(params.pool, application);
        const status = made.created && !isRehearsal ? 201 : 200;
        return { status, data: after.record, meta: { notes: made.notes }, etag: after.revision };
      },
      large,
    ),
    adminRoute(
      patch,
      api,
      async ({ application, params, body, context, heldTo }) => {
        const given = givenPool(body, 'changes', application.cloudDrivers);
        if (!given.ok) return invalid(documentErrors(given.problems));
        const { record: before, revision } = await poolRevision(params.pool, application);
        const held = heldTo({ of: 'workerPools', id: params.pool, revision }, before !== undefined);
        if (isRefusal(held)) return held;
        const made = await editPool(params.pool, given.value, how, context, held);
        if (isRefusal(made)) return made;
        const after = await poolRevision(params.pool, application);
        return { data: after.record, meta: { notes: made.notes }, etag: after.revision };
      },
      large,
    ),
  ];
}

function rowOf({ record: fields, dynamicMetadata, scopes, active, createdAt }: WorkerPoolView) {
  const active_workers = active.map(({ worker }) => worker);
  return { ...fields, dynamic_metadata: dynamicMetadata, scopes, active_workers, created_at: createdAt };
}
