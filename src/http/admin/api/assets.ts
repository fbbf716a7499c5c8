import { z } from 'zod';
import {
  assetDocument,
  assetRevision,
  deleteAsset,
  ensureAsset,
  listAssets,
  showAsset,
  testAsset,
} from '../../../application/worker-pools/assets.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import {
  assetCategories,
  checkAsset,
  credentialsBody,
  documentErrors,
} from '../../../domain/worker-pools/documents.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import type { AssetView } from '../../../projections/worker-pools/asset-view.ts';
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

const assetParams = z.strictObject({ asset: z.string() });
const asset = z.strictObject({
  name: z.string(),
  category: z.string(),
  provider_type: z.string().nullable(),
  configuration: z.record(z.string(), z.unknown()),
  /** The names of the credentials; their values are never shown. */
  credentials: z.array(z.string()),
  created_at: z.string(),
});

const list = listing('/assets', asset);

const show = showing('/assets/{asset}', assetParams, asset);

const put = {
  method: 'PUT',
  path: '/assets/{asset}',
  scope: 'admin',
  needs: 'pools:write',
  request: {
    params: assetParams,
    query: changeQuery,
    body: jsonOf(
      z
        .looseObject({
          category: z.enum(assetCategories(), { error: `must be one of ${assetCategories().join(', ')}.` }),
          ...groundsFields,
        })
        .meta({ description: 'An asset as the command line takes it, with its credentials.' }),
    ),
  },
  answers: {
    200: changed(z.strictObject({ name: z.string() }), { notes: z.array(z.string()).optional() }),
    201: changed(z.strictObject({ name: z.string() }), { notes: z.array(z.string()).optional() }),
    ...BODY_PROBLEMS,
    ...problemAnswers(409, 412),
  },
} as const satisfies AdminOperation;

const patch = {
  method: 'PATCH',
  path: '/assets/{asset}',
  scope: 'admin',
  needs: 'pools:write',
  request: {
    params: assetParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({
        configuration: z.looseObject({}).optional(),
        /** All of them; null: none. */
        credentials: credentialsBody.nullable().optional(),
        ...groundsFields,
      }),
    ),
  },
  answers: {
    200: changed(z.strictObject({ name: z.string() }), { notes: z.array(z.string()).optional() }),
    ...BODY_PROBLEMS,
    ...problemAnswers(409, 412),
  },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/assets/{asset}',
  scope: 'admin',
  needs: 'pools:write',
  request: { params: assetParams, query: deletionQuery },
  answers: { 200: changed(z.strictObject({ name: z.string() })), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const test = {
  method: 'POST',
  path: '/assets/{asset}/test',
  scope: 'admin',
  needs: 'pools:operate',
  request: { params: assetParams, body: jsonOf(groundsBody) },
  answers: {
    200: changed(
      z.strictObject({
        name: z.string(),
        works: z.boolean(),
        code: z.string().nullable(),
        because: z.string().nullable(),
      }),
    ),
    ...BODY_PROBLEMS,
  },
} as const satisfies AdminOperation;

/** Accounts and credentials that worker pools use. @public what describes the API is made from it */
export const ASSET_OPERATIONS: readonly AdminOperation[] = [list, show, put, patch, remove, test];

/** Accounts and credentials that worker pools use, carried out. */
export function assetRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, query }) => {
      return pageOfAll(await listAssets(application), query, rowOf, ({ name }) => name);
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const view = await showAsset(params.asset, application);
      if (isRefusal(view)) return view;
      return { data: rowOf(view), etag: (await assetRevision(params.asset, application)).revision };
    }),
    ...changeRoutes(api),
    adminRoute(test, api, async ({ application, params, signal }) => {
      const tested = await testAsset(params.asset, signal, application);
      if (isRefusal(tested)) return tested;
      const said = tested.works ? { code: null, because: null } : { code: tested.code, because: tested.because };
      return { data: { name: params.asset, works: tested.works, ...said } };
    }),
  ];
}

function changeRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(put, api, async ({ application, params, body, context, heldTo, isRehearsal }) => {
      const { isThere, revision } = await assetRevision(params.asset, application);
      const held = heldTo({ of: 'assets', id: params.asset, revision }, isThere);
      if (isRefusal(held)) return held;
      const { category, reason: _reason, ticket: _ticket, ...document } = body;
      const given = checkAsset(category, { ...document, name: params.asset }, application.cloudDrivers, '');
      if (!given.ok) return invalid(documentErrors(given.problems));
      const made = await ensureAsset(given.value, context, held);
      if (isRefusal(made)) return made;
      const status = made.created && !isRehearsal ? 201 : 200;
      const { revision: etag } = await assetRevision(params.asset, application);
      return { status, data: { name: params.asset }, meta: { notes: made.notes }, etag };
    }),
    adminRoute(patch, api, async ({ application, params, body, context, heldTo }) => {
      const { isThere, revision } = await assetRevision(params.asset, application);
      const held = heldTo({ of: 'assets', id: params.asset, revision }, isThere);
      if (isRefusal(held)) return held;
      const before = await assetDocument(params.asset, application);
      if (isRefusal(before)) return before;
      const { configuration = before.document.configuration, credentials = before.document.credentials } = body;
      const { credentials: _replaced, ...document } = before.document;
      const whole = { ...document, configuration, ...(credentials === null ? {} : { credentials }) };
      const given = checkAsset(before.category, whole, application.cloudDrivers, '');
      if (!given.ok) return invalid(documentErrors(given.problems));
      const made = await ensureAsset(given.value, context, held);
      if (isRefusal(made)) return made;
      const { revision: etag } = await assetRevision(params.asset, application);
      return { data: { name: params.asset }, meta: { notes: made.notes }, etag };
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const { isThere, revision } = await assetRevision(params.asset, application);
      const held = heldTo({ of: 'assets', id: params.asset, revision }, isThere);
      if (isRefusal(held)) return held;
      const deleted = await deleteAsset(params.asset, context, held);
      return isRefusal(deleted) ? deleted : { data: deleted };
    }),
  ];
}

function rowOf(view: AssetView) {
  return {
    name: view.name,
    category: view.category,
    provider_type: view.providerType,
    configuration: view.configuration,
    credentials: view.credentialNames,
    created_at: view.createdAt,
  };
}
