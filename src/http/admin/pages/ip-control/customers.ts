import { createCustomer, DEFAULT_SETTINGS, updateCustomer } from '../../../../application/ip-control/customers.ts';
import {
  customerById,
  type CustomerName,
  customerNames,
  customerRows,
  regionNames,
  type SubnetRow,
  subnetById,
  subnetRows,
} from '../../../../application/ip-control/customer-lists.ts';
import { listsOfCustomer, type ListStandingDependencies } from '../../../../application/ip-control/list-standing.ts';
import {
  customerActivity,
  type CustomerActivityDependencies,
} from '../../../../application/ip-control/customer-activity.ts';
import { webhookStandings } from '../../../../application/ip-control/webhook-deliveries.ts';
import { addSubnet, removeSubnet } from '../../../../application/ip-control/subnets.ts';
import type { Application } from '../../../../application/application.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import { mayDo } from '../../access.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { inOrder, listQueryOf, pageOfRows, ROWS_MAX } from '../parts/list.tsx';
import { changedSince } from '../parts/seen-fields.ts';
import {
  customerFormPage,
  NameCheck,
  settingsOfValues,
  settingsSeen,
  valuesOfForm,
  valuesOfSettings,
} from './customer-form.tsx';
import { customerListPage } from './customer-list.tsx';
import { customerPage, customerSubnetsPage, type RegionPart, releasePage, rotateSecretPage } from './customer-page.tsx';

export type CustomerPagesDependencies = CustomerActivityDependencies &
  ListStandingDependencies &
  Pick<Application, 'secrets' | 'ids' | 'clock'> &
  Readonly<{
    views: Pick<Application['views'], 'webhookDeliveries' | 'webhookDeliveryLog'>;
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

/** The pages of customers and their subnets. */
export function customerPages(application: CustomerPagesDependencies): readonly PageRoute[] {
  return [...accountPages(application), ...subnetPages(application)];
}

function accountPages(application: CustomerPagesDependencies): readonly PageRoute[] {
  return [
    { method: 'GET', path: '/customers', scope: 'read', handle: (ask) => list(ask, application) },
    {
      method: 'GET',
      path: '/customers/name-check',
      scope: 'read',
      handle: async ({ query }) => {
        const check = NameCheck({ name: fieldOf(query, 'name') });
        return { page: { title: 'Names of lists', body: check, parts: { 'name-check': check } } };
      },
    },
    {
      method: 'GET',
      path: '/customers/new',
      scope: 'customers:write',
      handle: async () => {
        const values = valuesOfSettings('', DEFAULT_SETTINGS);
        return { page: customerFormPage({ customer: undefined, values, errors: {} }) };
      },
    },
    {
      method: 'POST',
      path: '/customers/new',
      scope: 'customers:write',
      needsFreshPassword: hasWebhook,
      handle: (ask) => create(ask, application),
    },
    {
      method: 'GET',
      path: '/customers/{id}',
      scope: 'read',
      handle: (ask) => withCustomer(ask, application, (customer) => show(customer, ask, application)),
    },
    {
      method: 'GET',
      path: '/customers/{id}/edit',
      scope: 'customers:write',
      handle: (ask) =>
        withCustomer(ask, application, async (customer) => {
          const values = valuesOfSettings(customer.name, customer.settings);
          return { page: customerFormPage({ customer, values, seen: settingsSeen(values), errors: {} }) };
        }),
    },
    {
      method: 'POST',
      path: '/customers/{id}/edit',
      scope: 'customers:write',
      needsFreshPassword: hasWebhook,
      handle: (ask) => withCustomer(ask, application, (customer) => save(customer, ask, application)),
    },
    {
      method: 'GET',
      path: '/customers/{id}/webhook-secret',
      scope: 'webhooks:write',
      handle: (ask) => withCustomer(ask, application, async (customer) => ({ page: rotateSecretPage(customer) })),
    },
    {
      method: 'POST',
      path: '/customers/{id}/webhook-secret',
      scope: 'webhooks:write',
      needsFreshPassword: true,
      handle: (ask) => withCustomer(ask, application, (customer) => rotateSecret(customer, ask, application)),
    },
  ];
}

async function rotateSecret(
  customer: CustomerView,
  ask: PageAsk,
  application: CustomerPagesDependencies,
): Promise<PageAnswer> {
  const wanted = { customer: customer.customerId, changes: {}, rotateWebhookSecret: true, immediately: false };
  const updated = await updateCustomer(wanted, ask.context, application);
  if (isRefusal(updated)) return refusedPage(updated);
  await application.shown();
  return show(customer, ask, application, updated.webhookSecrets.secret);
}

/** A customer's first webhook makes its secret, which the page shows. */
function hasWebhook(form: PageAsk['form']): boolean {
  return fieldOf(form, 'webhook_url').trim() !== '';
}

function subnetPages(application: CustomerPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/customers/{id}/subnets',
      scope: 'read',
      handle: (ask) =>
        withCustomer(ask, application, (customer) =>
          subnets(customer, ask, application, { cidr: '', region: '', asn: '', metro: '' }, {}),
        ),
    },
    {
      method: 'POST',
      path: '/customers/{id}/subnets',
      scope: 'subnets:write',
      handle: (ask) => withCustomer(ask, application, (customer) => assign(customer, ask, application)),
    },
    {
      method: 'GET',
      path: '/customers/{id}/subnets/{subnet}/release',
      scope: 'subnets:write',
      handle: (ask) =>
        withSubnet(ask, application, async (customer, row) => ({ page: releasePage({ customer, row }) })),
    },
    {
      method: 'POST',
      path: '/customers/{id}/subnets/{subnet}/release',
      scope: 'subnets:write',
      handle: (ask) =>
        withSubnet(ask, application, async ({ customerId }, { subnetId }) => {
          const removed = await removeSubnet(String(subnetId), ask.context, application);
          if (isRefusal(removed)) return refusedPage(removed);
          await application.shown();
          const message = { kind: 'ok', text: `${removed.cidr} is released.` } as const;
          return { goTo: `/admin/customers/${customerId}/subnets`, message };
        }),
    },
  ];
}

/** Does something with the customer that an address names. */
export async function withCustomer(
  { params }: PageAsk,
  application: Parameters<typeof customerById>[1],
  work: (customer: CustomerView) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const customer = await customerById(params['id'] ?? '', application);
  return isRefusal(customer) ? notFoundPage(customer.because) : work(customer);
}

async function withSubnet(
  ask: PageAsk,
  application: CustomerPagesDependencies,
  work: (customer: CustomerView, row: SubnetRow) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  return withCustomer(ask, application, async (customer) => {
    const row = await subnetById(customer.customerId, ask.params['subnet'] ?? '', application);
    return isRefusal(row) ? notFoundPage(row.because) : work(customer, row);
  });
}

async function list(
  { query: fields, principal, request }: PageAsk,
  application: CustomerPagesDependencies,
): Promise<PageAnswer> {
  const query = listQueryOf(fields, 'name');
  const found = await customerNames(query.q, application);
  const sorted = inOrder(found, NAME_COLUMNS, query);
  const { shown, next, total } = pageOfRows(sorted, query, ({ customerId }) => String(customerId));
  const rows = await customerRows(shown, application);
  const mayCreate = mayDo(principal, 'customers:write');
  const told = rows.filter(({ customer }) => customer.settings.webhookUrl !== null);
  const webhooks = await webhookStandings(
    told.map(({ customer }) => customer.customerId),
    application,
  );
  return { page: customerListPage({ query, rows, webhooks, total, next, mayCreate, address: request.originalUrl }) };
}

/** What all customers can be sorted by: the directory has it in memory. */
const NAME_COLUMNS: Parameters<typeof inOrder<CustomerName>>[1] = [
  { key: 'name', sortBy: ({ name }) => name },
  { key: 'list', sortBy: ({ listName }) => listName },
];

async function create(ask: PageAsk, application: CustomerPagesDependencies): Promise<PageAnswer> {
  const { form, context } = ask;
  const values = valuesOfForm(form);
  const again = (errors: FormErrors): PageAnswer => ({
    page: customerFormPage({ customer: undefined, values, errors }),
  });
  const parsed = settingsOfValues(values);
  if ('errors' in parsed) return again(parsed.errors);
  const created = await createCustomer({ name: values.name, settings: parsed.settings }, context, application);
  if (isRefusal(created)) return again(formErrors(created));
  await application.shown();
  const { customerId, name } = created.customer;
  const message = { kind: 'ok', text: `${name} is registered. Next: a subnet and a token.` } as const;
  const { secret } = created.webhookSecrets;
  if (secret === undefined) return { goTo: `/admin/customers/${customerId}`, message };
  const customer = await customerById(String(customerId), application);
  if (isRefusal(customer)) return refusedPage(customer);
  return { page: await shownPage(customer, ask, application, secret), message };
}

async function show(
  customer: CustomerView,
  ask: PageAsk,
  application: CustomerPagesDependencies,
  webhookSecret?: string,
): Promise<PageAnswer> {
  return { page: await shownPage(customer, ask, application, webhookSecret) };
}

async function shownPage(
  customer: CustomerView,
  { principal, query: fields }: PageAsk,
  application: CustomerPagesDependencies,
  webhookSecret?: string,
) {
  const { customerId } = customer;
  const query = listQueryOf(fields, '');
  const after = query.after === '' ? undefined : query.after;
  const [rows, lists, activity] = await Promise.all([
    subnetRows(customerId, application),
    listsOfCustomer({ customerId, after, limit: ROWS_MAX }, application),
    customerActivity(customer, application),
  ]);
  return customerPage({
    customer,
    regions: regionParts(rows),
    lists,
    query,
    activity,
    mayEdit: mayDo(principal, 'customers:write'),
    mayRotate: mayDo(principal, 'webhooks:write'),
    now: application.clock.now(),
    ...(webhookSecret === undefined ? {} : { webhookSecret }),
  });
}

/** Subnets together, by region. */
function regionParts(rows: readonly SubnetRow[]): readonly RegionPart[] {
  const parts = new Map<number, RegionPart>();
  for (const { regionId, region, counts } of rows) {
    const before = parts.get(regionId) ?? { region, regionId, subnets: 0, disabled: 0n, pending: 0n };
    parts.set(regionId, {
      ...before,
      subnets: before.subnets + 1,
      disabled: before.disabled + counts.disabled,
      pending: before.pending + counts.pending,
    });
  }
  return [...parts.values()];
}

async function save(customer: CustomerView, ask: PageAsk, application: CustomerPagesDependencies): Promise<PageAnswer> {
  const { form, context } = ask;
  const [values, seen] = [{ ...valuesOfForm(form), name: customer.name }, fieldOf(form, 'seen')];
  const again = (errors: FormErrors): PageAnswer => ({ page: customerFormPage({ customer, values, seen, errors }) });
  const parsed = settingsOfValues(values);
  if ('errors' in parsed) return again(parsed.errors);
  const { customerId } = customer;
  const wanted = {
    customer: customerId,
    changes: Object.fromEntries(Object.entries(parsed.settings).filter(changedSince(seen))),
    rotateWebhookSecret: false,
    immediately: false,
  };
  const updated = await updateCustomer(wanted, context, application);
  if (isRefusal(updated)) return again(formErrors(updated));
  await application.shown();
  const text = updated.isChanged ? 'The settings are saved.' : 'Nothing was changed.';
  const message = { kind: 'ok', text } as const;
  const { secret } = updated.webhookSecrets;
  if (secret === undefined) return { goTo: `/admin/customers/${customerId}`, message };
  const after = await customerById(String(customerId), application);
  return isRefusal(after) ? refusedPage(after) : { page: await shownPage(after, ask, application, secret), message };
}

async function subnets(
  customer: CustomerView,
  { principal, query: fields }: PageAsk,
  application: CustomerPagesDependencies,
  values: Readonly<Record<'cidr' | 'region' | 'asn' | 'metro', string>>,
  errors: FormErrors,
): Promise<PageAnswer> {
  const [rows, regions] = await Promise.all([subnetRows(customer.customerId, application), regionNames(application)]);
  const mayAssign = mayDo(principal, 'subnets:write');
  const query = listQueryOf(fields, '');
  return {
    page: customerSubnetsPage({ customer, rows, query, regions: [...regions.values()], mayAssign, values, errors }),
  };
}

async function assign(
  customer: CustomerView,
  ask: PageAsk,
  application: CustomerPagesDependencies,
): Promise<PageAnswer> {
  const text = (name: string): string => fieldOf(ask.form, name).trim();
  const values = { cidr: text('cidr'), region: text('region'), asn: text('asn'), metro: text('metro') };
  const wanted = {
    ...values,
    customer: customer.customerId,
    asn: Number(values.asn === '' ? Number.NaN : values.asn),
  };
  const added = await addSubnet(wanted, ask.context, application);
  if (isRefusal(added)) return subnets(customer, ask, application, values, formErrors(added));
  await application.shown();
  const message = { kind: 'ok', text: `${added.cidr} is assigned in ${added.region ?? 'its region'}.` } as const;
  return { goTo: `/admin/customers/${customer.customerId}/subnets`, message };
}

/** A refusal beside the field that it is about. */
export function formErrors({ field, because }: Refusal): FormErrors {
  return { [FIELD_NAMES[field ?? ''] ?? field ?? '']: because };
}

const FIELD_NAMES: Readonly<Record<string, string>> = { webhookUrl: 'webhook_url', customer: '' };

export function refusedPage({ because }: Refusal): PageAnswer {
  return { problem: { status: 409, title: 'Not done', because } };
}
