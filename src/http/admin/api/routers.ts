import { z } from 'zod';
import { findRouter } from '../../../application/ip-control/lookups.ts';
import { regionRevision } from '../../../application/ip-control/regions.ts';
import { chooseRouterRepair, disableRouter } from '../../../application/ip-control/router-maintenance.ts';
import { reconfigureRouter } from '../../../application/ip-control/router-changes.ts';
import {
  ensureRouter,
  listRouters,
  removeRouter,
  type RouterSummary,
  summaryOf,
} from '../../../application/ip-control/routers.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { PRECONDITION_FAILED } from './refusals.ts';
import { regionParams } from './regions.ts';
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
  showing,
  text,
} from './shapes.ts';

export const routerParams = regionParams.extend({ router: z.string() });

export const routerRow = z.strictObject({
  name: z.string(),
  region: z.string(),
  driver: z.string(),
  options: z.record(z.string(), z.string()),
  state: z.enum(['enabled', 'catching-up', 'disabled']),
  repair: z.boolean(),
  drifted: z.array(z.string()),
  unowned: z.array(z.string()),
});

const list = {
  method: 'GET',
  path: '/regions/{region}/routers',
  scope: 'admin',
  needs: 'read',
  request: { params: regionParams },
  answers: { 200: all(routerRow), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/regions/{region}/routers/{router}', routerParams, routerRow);

const put = {
  method: 'PUT',
  path: '/regions/{region}/routers/{router}',
  scope: 'admin',
  needs: 'regions:write',
  request: {
    params: routerParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({
        driver: text(64, 1),
        /** Those of `--option`, as far as they may reach over HTTP (`router-reach.ts`). */
        options: z.record(z.string().max(100), text(4_096)).default({}),
        repair: bool.default(true),
        ...groundsFields,
      }),
    ),
  },
  answers: { 200: changed(routerRow), 201: changed(routerRow), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const patch = {
  method: 'PATCH',
  path: '/regions/{region}/routers/{router}',
  scope: 'admin',
  needs: 'regions:write',
  request: {
    params: routerParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({
        repair: bool.optional(),
        /** Only those that are to be otherwise; null: the default again. */
        options: z.record(z.string().max(100), text(4_096).nullable()).optional(),
        /** Also where the router can't be reached with them. */
        force: bool.optional(),
        ...groundsFields,
      }),
    ),
  },
  answers: { 200: changed(routerRow), ...BODY_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/regions/{region}/routers/{router}',
  scope: 'admin',
  needs: 'regions:write',
  request: { params: routerParams, query: deletionQuery },
  answers: { 200: changed(routerRow), ...ADMIN_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

const disable = {
  method: 'POST',
  path: '/regions/{region}/routers/{router}/disable',
  scope: 'admin',
  needs: 'routers:operate',
  request: { params: routerParams, body: jsonOf(groundsBody) },
  answers: { 200: changed(routerRow), ...BODY_PROBLEMS },
} as const satisfies AdminOperation;

/** Routers of regions. @public what describes the API is made from it */
export const ROUTER_OPERATIONS: readonly AdminOperation[] = [list, show, put, patch, remove, disable];

/** Routers of regions, carried out. */
export function routerRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, params }) => {
      const found = await listRouters(params.region, application);
      return isRefusal(found) ? found : allOf(found, rowOf);
    }),
    adminRoute(show, api, ({ application, params }) => shown(params, application)),
    adminRoute(put, api, async ({ application, params, body, context, heldTo, onlyNew, isRehearsal }) => {
      const { driver, options, repair } = body;
      const there = await thereOf(params.region, application);
      if (isRefusal(there)) return there;
      const known = await findRouter(params, application);
      const held = heldTo(there, !isRefusal(known));
      if (isRefusal(held)) return held;
      const wanted = { ...params, driver, options, repair };
      const made = await ensureRouter(wanted, context, { ...held, isRehearsal });
      if (isRefusal(made)) return onlyNew && made.refused === 'router-name-taken' ? PRECONDITION_FAILED : made;
      return { status: isRefusal(known) && !isRehearsal ? 201 : 200, ...(await shown(params, application)) };
    }),
    adminRoute(patch, api, async ({ application, params, body, context, heldTo }) => {
      const known = await findRouter(params, application);
      if (isRefusal(known)) return known;
      const there = await thereOf(params.region, application);
      if (isRefusal(there)) return there;
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const { options = {}, force = false } = body;
      const reconfigured = await reconfigureRouter({ ...params, options, force }, context, held);
      if (isRefusal(reconfigured)) return reconfigured;
      if (body.repair === undefined) return shown(params, application);
      const { repair } = body;
      const chosen = await chooseRouterRepair({ ...params, repair }, context, held);
      return isRefusal(chosen) ? chosen : shown(params, application);
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const known = await findRouter(params, application);
      if (isRefusal(known)) return known;
      const there = await thereOf(params.region, application);
      if (isRefusal(there)) return there;
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const removed = await removeRouter(params, context, held);
      return isRefusal(removed) ? removed : { data: rowOf(summaryOf(known.region.name, known.router)) };
    }),
    adminRoute(disable, api, async ({ application, params, context }) => {
      const disabled = await disableRouter(params, context, application);
      return isRefusal(disabled) ? disabled : shown(params, application);
    }),
  ];
}

/** The stream that says how the routers of a region are. */
async function thereOf(region: string, application: AdminApi['application']) {
  const found = await regionRevision(region, application);
  return isRefusal(found) ? found : ({ of: 'regions', id: found.region.regionId, revision: found.revision } as const);
}

async function shown(name: Readonly<{ region: string; router: string }>, application: AdminApi['application']) {
  const found = await findRouter(name, application);
  if (isRefusal(found)) return found;
  const there = await thereOf(name.region, application);
  if (isRefusal(there)) return there;
  return { data: rowOf(summaryOf(found.region.name, found.router)), etag: there.revision };
}

function rowOf({ router, region, phase, driver, options, repair, drifted, unowned }: RouterSummary) {
  return { name: router, region, driver, options, state: phase, repair, drifted, unowned };
}
