import { customerRecord } from '../../../application/ip-control/records.ts';
import { z } from 'zod';
import {
  createCustomer,
  type CustomerAccount,
  customerRevision,
  chooseCustomerStanding,
  ensureCustomer,
  namedCustomerRevision,
  pageCustomers,
  removeCustomer,
  updateCustomer,
} from '../../../application/ip-control/customers.ts';
import type { Expected } from '../../../application/operations/recording.ts';
import { customerStateAt } from '../../../application/ip-control/customer-state-at.ts';
import { instantNamed } from '../../../application/ip-control/history.ts';
import type { WebhookSecretChange } from '../../../application/ip-control/webhook-secrets.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import type { CustomerSettings } from '../../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { invalid } from '../../problems.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { PRECONDITION_FAILED } from './refusals.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  bool,
  changed,
  changeQuery,
  deletionQuery,
  flagText,
  groundsBody,
  numberedPageFields,
  one,
  pageAnswer,
  pageOf,
  showing,
  wholeNumber,
} from './shapes.ts';

export const customerParams = z.strictObject({ customer: z.string() });

const settingsFields = {
  rate_limit: wholeNumber(1).optional(),
  allow_synchronous: bool.optional(),
  allow_source_whitelist: bool.optional(),
  trusted: bool.optional(),
  whitelist_limit: wholeNumber(0).optional(),
  prefix_limit: wholeNumber(1).optional(),
  evidence_max_bytes: wholeNumber(1).optional(),
  webhook_url: z
    .string({ error: 'must be a URL, or null.' })
    .max(2_000, { error: 'must have at most 2000 characters.' })
    .nullable()
    .optional(),
} as const;

const settingsBody = z.strictObject({ ...settingsFields, ...groundsFields });
type SettingsBody = z.output<typeof settingsBody>;

const customer = z.strictObject({
  id: z.int().positive(),
  name: z.string(),
  list_name: z.string(),
  state: z.enum(['enabled', 'disabled', 'removed']),
  rate_limit: z.int().positive(),
  allow_synchronous: z.boolean(),
  allow_source_whitelist: z.boolean(),
  trusted: z.boolean(),
  whitelist_limit: z.int().nonnegative(),
  prefix_limit: z.int().positive(),
  evidence_max_bytes: z.int().positive(),
  webhook_url: z.string().nullable(),
});

/** Shown once, where a customer gets its first webhook, or another secret. */
const secretFields = {
  webhook_secret: z.string().optional(),
  previous_webhook_secret_until: z.string().optional(),
} as const;

const listCustomers = {
  method: 'GET',
  path: '/customers',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject(numberedPageFields) },
  answers: { 200: pageOf(customer), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const showCustomer = showing('/customers/{customer}', customerParams, customer);

const putCustomer = {
  method: 'PUT',
  path: '/customers/{customer}',
  scope: 'admin',
  needs: 'customers:write',
  request: {
    params: customerParams,
    query: changeQuery,
    body: jsonOf(settingsBody),
  },
  answers: {
    200: changed(customer, secretFields),
    201: changed(customer, secretFields),
    ...BODY_PROBLEMS,
    ...problemAnswers(409, 412),
  },
} as const satisfies AdminOperation;

const patchCustomer = {
  method: 'PATCH',
  path: '/customers/{customer}',
  scope: 'admin',
  needs: 'customers:write',
  request: {
    params: customerParams,
    query: changeQuery,
    body: jsonOf(settingsBody),
  },
  answers: { 200: changed(customer, secretFields), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const deleteCustomer = {
  method: 'DELETE',
  path: '/customers/{customer}',
  scope: 'admin',
  needs: 'customers:write',
  request: { params: customerParams, query: deletionQuery.extend({ force: flagText.default(false) }) },
  answers: { 200: changed(customer), ...ADMIN_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const standingOperation = {
  method: 'POST',
  scope: 'admin',
  needs: 'customers:write',
  request: { params: customerParams, body: jsonOf(groundsBody) },
  answers: { 200: changed(customer), ...BODY_PROBLEMS },
} as const;
const disableCustomer = {
  ...standingOperation,
  path: '/customers/{customer}/disable',
} as const satisfies AdminOperation;
const enableCustomer = { ...standingOperation, path: '/customers/{customer}/enable' } as const satisfies AdminOperation;

const rotateSecret = {
  method: 'POST',
  path: '/customers/{customer}/webhook-secret',
  scope: 'admin',
  needs: 'webhooks:write',
  request: {
    params: customerParams,
    body: jsonOf(z.strictObject({ immediately: bool.optional(), ...groundsFields })),
  },
  answers: {
    200: changed(z.strictObject({ webhook_secret: z.string(), previous_webhook_secret_until: z.string().nullable() })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

const prefixes = z.array(z.string());
const showState = {
  method: 'GET',
  path: '/customers/{customer}/state',
  scope: 'admin',
  needs: 'read',
  request: {
    params: customerParams,
    query: z.strictObject({ at: z.string().max(64).meta({ format: 'date-time' }).optional() }),
  },
  answers: {
    200: one(
      z.strictObject({
        customer: z.string(),
        at: z.string(),
        regions: z.array(
          z.strictObject({
            region: z.string(),
            disabled: prefixes,
            pending: prefixes,
            deployed: prefixes,
            disabled_until: z.array(z.strictObject({ until: z.string(), prefixes })),
            because: z.array(
              z.strictObject({
                reason: z.string().optional(),
                ticket: z.string().optional(),
                by: z.string(),
                at: z.string(),
                prefixes,
              }),
            ),
            source_whitelist: z.strictObject({ live: prefixes, pending: prefixes, deployed: prefixes }),
          }),
        ),
        source_whitelist_requests: z.array(
          z.strictObject({ id: z.string(), input: z.string(), regions: z.array(z.string()), status: z.string() }),
        ),
      }),
    ),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

/** Customers and what they may do. @public what describes the API is made from it */
export const CUSTOMER_OPERATIONS: readonly AdminOperation[] = [
  listCustomers,
  showCustomer,
  putCustomer,
  patchCustomer,
  deleteCustomer,
  disableCustomer,
  enableCustomer,
  rotateSecret,
  showState,
];

/** Customers and what they may do, carried out. */
export function customerRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(listCustomers, api, async ({ application, query: { after, limit } }) => {
      const found = await pageCustomers({ after, limit: limit + 1 }, application);
      return pageAnswer(found, limit, customerRecord, ({ customerId }) => String(customerId));
    }),
    adminRoute(showCustomer, api, async ({ application, params }) => {
      const found = await customerRevision(params.customer, application);
      if (isRefusal(found)) return found;
      return { data: customerRecord(found.account), etag: found.revision };
    }),
    ...changeRoutes(api),
    ...standingRoutes(api),
    adminRoute(showState, api, async ({ application, params, query }) => {
      const at = query.at === undefined ? undefined : instantNamed(query.at);
      if (query.at !== undefined && at === undefined)
        return invalid({ at: ['must be an instant with an offset, such as 2026-11-27T20:50:00Z.'] });
      const state = await customerStateAt({ customer: params.customer, at }, application);
      if (isRefusal(state)) return state;
      return {
        data: {
          customer: state.customer,
          at: state.at,
          regions: state.regions.map(({ sourceWhitelist, disabledUntil, ...region }) => ({
            ...region,
            disabled_until: disabledUntil,
            source_whitelist: sourceWhitelist,
          })),
          source_whitelist_requests: state.requests.map(({ requestId, ...request }) => ({ id: requestId, ...request })),
        },
      };
    }),
  ];
}

function changeRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(putCustomer, api, async ({ application, params, body, context, heldTo, onlyNew, isRehearsal }) => {
      const before = await namedCustomerRevision(params.customer, application);
      const held = heldTo(isRefusal(before) ? undefined : streamOfCustomer(before));
      if (isRefusal(held)) return held;
      const wanted = { name: params.customer, settings: settingsOf(body) };
      const made = onlyNew
        ? await createCustomer(wanted, context, application)
        : await ensureCustomer(wanted, context, held);
      if (isRefusal(made)) return onlyNew && made.refused === 'customer-name-taken' ? PRECONDITION_FAILED : made;
      const after = await namedCustomerRevision(made.customer.name, application);
      if (isRefusal(after)) return after;
      const { account, revision } = after;
      return {
        status: (onlyNew || ('isNew' in made && made.isNew)) && !isRehearsal ? 201 : 200,
        data: customerRecord(account),
        meta: isRehearsal ? {} : secretMeta(made.webhookSecrets),
        etag: revision,
      };
    }),
    adminRoute(patchCustomer, api, async ({ application, params, body, context, heldTo, isRehearsal }) => {
      const before = await customerRevision(params.customer, application);
      if (isRefusal(before)) return before;
      const held = heldTo(streamOfCustomer(before));
      if (isRefusal(held)) return held;
      const update = { changes: settingsOf(body), rotateWebhookSecret: false, immediately: false };
      const updated = await updateCustomer({ customer: params.customer, ...update }, context, held);
      if (isRefusal(updated)) return updated;
      const after = await customerRevision(params.customer, application);
      if (isRefusal(after)) return after;
      const meta = isRehearsal ? {} : secretMeta(updated.webhookSecrets);
      return { data: customerRecord(updated.customer), meta, etag: after.revision };
    }),
    adminRoute(rotateSecret, api, async ({ application, params, body, context }) => {
      const immediately = body.immediately === true;
      const update = { customer: params.customer, changes: {}, rotateWebhookSecret: true, immediately };
      const updated = await updateCustomer(update, context, application);
      if (isRefusal(updated)) return updated;
      const { secret, previousUntil } = updated.webhookSecrets;
      return { data: { webhook_secret: secret, previous_webhook_secret_until: previousUntil ?? null } };
    }),
  ];
}

function standingRoutes(api: AdminApi): readonly Route[] {
  const choices = [
    [disableCustomer, 'disabled'],
    [enableCustomer, 'enabled'],
  ] as const;
  return [
    adminRoute(deleteCustomer, api, async ({ application, params, query, context, heldTo }) => {
      const before = await customerRevision(params.customer, application);
      if (isRefusal(before)) return before;
      const held = heldTo(streamOfCustomer(before));
      if (isRefusal(held)) return held;
      const wanted = { customer: before.account.customerId, force: query.force };
      const removed = await removeCustomer(wanted, context, held);
      return isRefusal(removed) ? removed : { data: customerRecord(removed.customer) };
    }),
    ...choices.map(([operation, standing]) =>
      adminRoute(operation, api, async ({ application, params, context }) => {
        const chosen = await chooseCustomerStanding({ customer: params.customer, standing }, context, application);
        return isRefusal(chosen) ? chosen : { data: customerRecord(chosen.customer) };
      }),
    ),
  ];
}

/** The stream that says how a customer is, and its subnets and tokens with it. */
export function streamOfCustomer({
  account,
  revision,
}: Readonly<{ account: Pick<CustomerAccount, 'customerId'>; revision: bigint }>): Expected {
  return { of: 'customers', id: account.customerId, revision };
}

function settingsOf(body: SettingsBody): Partial<CustomerSettings> {
  const named = {
    rateLimitPerMinute: body.rate_limit,
    allowSynchronous: body.allow_synchronous,
    allowSourceWhitelist: body.allow_source_whitelist,
    trusted: body.trusted,
    whitelistLimit: body.whitelist_limit,
    prefixLimit: body.prefix_limit,
    evidenceMaxBytes: body.evidence_max_bytes,
    webhookUrl: body.webhook_url,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function secretMeta({ secret, previousUntil }: WebhookSecretChange) {
  return {
    ...(secret === undefined ? {} : { webhook_secret: secret }),
    ...(previousUntil === undefined ? {} : { previous_webhook_secret_until: previousUntil }),
  };
}
