import { z } from 'zod';
import { listWorkers, showWorker, terminateWorker, type WorkerNow } from '../../../application/worker-pools/workers.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { ADMIN_PROBLEMS, BODY_PROBLEMS, bool, changed, pageFields, pageOf, pageOfAll, showing } from './shapes.ts';

const worker = z.strictObject({
  name: z.string(),
  pool: z.string().nullable(),
  phase: z.enum(['stopped', 'launching', 'booting', 'ready']),
  architectures: z.array(z.string()),
  registered_at: z.string(),
  instance_created_at: z.string().nullable(),
  runtime_seconds: z.number().nullable(),
  worker_pool_data: z.record(z.string(), z.unknown()).nullable(),
  task: z.string().nullable(),
  scope: z.string().nullable(),
  ending: z.string().nullable(),
  failure: z.string().nullable(),
});
const workerParams = z.strictObject({ worker: z.string() });

const list = {
  method: 'GET',
  path: '/workers',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject({ pool: z.string().optional(), ...pageFields }) },
  answers: { 200: pageOf(worker), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/workers/{worker}', workerParams, worker);

const terminate = {
  method: 'POST',
  path: '/workers/{worker}/terminate',
  scope: 'admin',
  needs: 'pools:operate',
  request: {
    params: workerParams,
    body: jsonOf(z.strictObject({ force: bool.default(false), ...groundsFields })),
  },
  answers: {
    202: changed(z.strictObject({ worker: z.string(), waits_for_task: z.string().nullable() })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

/** Workers and their instances. @public what describes the API is made from it */
export const WORKER_OPERATIONS: readonly AdminOperation[] = [list, show, terminate];

/** Workers and their instances, carried out. */
export function workerRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query: { pool, ...page } }) => {
      return pageOfAll(await listWorkers({ pool }, application), page, rowOf, ({ view }) => view.worker);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await showWorker(params.worker, application);
      return isRefusal(found) ? found : { data: rowOf(found) };
    }),
    adminRoute(terminate, api, async ({ application, params, body, context }) => {
      const ended = await terminateWorker(params.worker, { forced: body.force }, context, application);
      if (isRefusal(ended)) return ended;
      return { status: 202, data: { worker: params.worker, waits_for_task: ended.waitsForTask } };
    }),
  ];
}

function rowOf({ view, runtimeSeconds }: WorkerNow) {
  return {
    name: view.worker,
    pool: view.pool,
    phase: view.phase,
    architectures: view.architectures,
    registered_at: view.registeredAt,
    instance_created_at: view.instanceCreatedAt,
    runtime_seconds: runtimeSeconds,
    worker_pool_data: view.workerPoolData,
    task: view.task?.task ?? null,
    scope: view.task?.scope ?? null,
    ending: view.ending?.because ?? null,
    failure: view.failure?.because ?? null,
  };
}
