import { z } from 'zod';
import {
  chooseDeployPolicy,
  createRegion,
  DEPLOY_POLICIES,
  ensureRegion,
  listRegions,
  namedRegionRevision,
  regionRevision,
  removeRegion,
} from '../../../application/ip-control/regions.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import type { DeployPolicy } from '../../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { PRECONDITION_FAILED } from './refusals.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  changeQuery,
  deletionQuery,
  numberedPageFields,
  pageAnswer,
  pageOf,
  showing,
} from './shapes.ts';

export const regionParams = z.strictObject({ region: z.string() });

const policyText = z
  .custom<DeployPolicy>((value) => DEPLOY_POLICIES.some((policy) => policy === value), {
    error: `must be one of ${DEPLOY_POLICIES.join(', ')}.`,
  })
  .meta({ type: 'string', enum: [...DEPLOY_POLICIES] });

const region = z.strictObject({
  id: z.int().positive(),
  name: z.string(),
  deploy_policy: z.string(),
  routers: z.int().nonnegative(),
});

const list = {
  method: 'GET',
  path: '/regions',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject(numberedPageFields) },
  answers: { 200: pageOf(region), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/regions/{region}', regionParams, region);

const put = {
  method: 'PUT',
  path: '/regions/{region}',
  scope: 'admin',
  needs: 'regions:write',
  request: {
    params: regionParams,
    query: changeQuery,
    body: jsonOf(z.strictObject({ deploy_policy: policyText.default('each'), ...groundsFields })),
  },
  answers: { 200: changed(region), 201: changed(region), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const patch = {
  method: 'PATCH',
  path: '/regions/{region}',
  scope: 'admin',
  needs: 'regions:write',
  request: {
    params: regionParams,
    query: changeQuery,
    body: jsonOf(z.strictObject({ deploy_policy: policyText.optional(), ...groundsFields })),
  },
  answers: { 200: changed(region), ...BODY_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/regions/{region}',
  scope: 'admin',
  needs: 'regions:write',
  request: { params: regionParams, query: deletionQuery },
  answers: { 200: changed(region), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

/** Regions and how commits treat their routers. @public what describes the API is made from it */
export const REGION_OPERATIONS: readonly AdminOperation[] = [list, show, put, patch, remove];

/** Regions and how commits treat their routers, carried out. */
export function regionRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query: { after, limit } }) => {
      const behind = Number(after ?? 0);
      const found = (await listRegions(application)).filter(({ regionId }) => regionId > behind);
      return pageAnswer(found, limit, rowOf, ({ regionId }) => String(regionId));
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await regionRevision(params.region, application);
      return isRefusal(found) ? found : { data: rowOf(found.region), etag: found.revision };
    }),
    adminRoute(put, api, async ({ application, params, body, context, heldTo, onlyNew, isRehearsal }) => {
      const before = await namedRegionRevision(params.region, application);
      const there = isRefusal(before)
        ? undefined
        : ({ of: 'regions', id: before.region.regionId, revision: before.revision } as const);
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const wanted = { name: params.region, deployPolicy: body.deploy_policy };
      const made = onlyNew
        ? await createRegion(wanted, context, application)
        : await ensureRegion(wanted, context, held);
      if (isRefusal(made)) return onlyNew && made.refused === 'region-name-taken' ? PRECONDITION_FAILED : made;
      const after = await namedRegionRevision(params.region, application);
      if (isRefusal(after)) return after;
      return {
        status: (onlyNew || ('isNew' in made && made.isNew)) && !isRehearsal ? 201 : 200,
        data: rowOf(after.region),
        etag: after.revision,
      };
    }),
    adminRoute(patch, api, async ({ application, params, body, context, heldTo }) => {
      const before = await regionRevision(params.region, application);
      if (isRefusal(before)) return before;
      const there = { of: 'regions', id: before.region.regionId, revision: before.revision } as const;
      const held = heldTo(there);
      if (isRefusal(held)) return held;
      const deployPolicy = body.deploy_policy ?? before.region.deployPolicy;
      const chosen = await chooseDeployPolicy({ region: params.region, deployPolicy }, context, held);
      if (isRefusal(chosen)) return chosen;
      const after = await regionRevision(params.region, application);
      return isRefusal(after) ? after : { data: rowOf(after.region), etag: after.revision };
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const before = await regionRevision(params.region, application);
      if (isRefusal(before)) return before;
      const held = heldTo({ of: 'regions', id: before.region.regionId, revision: before.revision });
      if (isRefusal(held)) return held;
      const removed = await removeRegion(params.region, context, held);
      return isRefusal(removed) ? removed : { data: rowOf(removed) };
    }),
  ];
}

function rowOf({
  regionId,
  name,
  deployPolicy,
  routers,
}: Readonly<{ regionId: number; name: string; deployPolicy: string; routers: number }>) {
  return { id: regionId, name, deploy_policy: deployPolicy, routers };
}
