import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { CustomersToken } from '../../../../application/ip-control/tokens.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import { epochMilliseconds } from '../../../../domain/instants.ts';
import type { CustomersApiAddress } from '../../customers-api.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { ActionButton, Check, Field, Form, type FormErrors } from '../parts/form.tsx';
import { Filter, List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import type { Column } from '../parts/table.tsx';
import { Code, countOf, Short, When } from '../parts/text.tsx';
import { CustomerTabs, Once } from './customer-page.tsx';

/** What a new token is to be, as the form has it. */
export type TokenForm = Readonly<{ label: string; expires: string; allowed_addresses: string; read_only: boolean }>;

export const NO_TOKEN_FORM: TokenForm = { label: '', expires: '', allowed_addresses: '', read_only: false };

export type CustomerTokensView = Readonly<{
  customer: Pick<CustomerView, 'customerId' | 'name'>;
  tokens: readonly CustomersToken[];
  query: ListQuery;
  mayIssue: boolean;
  now: Temporal.Instant;
  values: TokenForm;
  errors: FormErrors;
  /** Issued just now. */
  issued?: Readonly<{ token: string; api: CustomersApiAddress }>;
}>;

/** The tokens of one customer. */
export function customerTokensPage(view: CustomerTokensView): Page {
  const { customer, tokens, query, mayIssue, now, values, errors, issued } = view;
  const { customerId, name } = customer;
  const base = `/admin/customers/${customerId}`;
  const path = `${base}/tokens`;
  const table = (
    <List
      path={path}
      query={query}
      holds={({ label, prefix, tokenId }) => [label, prefix ?? '', tokenId]}
      noun="token"
      caption={`Tokens of ${name}`}
      columns={[...columnsAt(now), ...(mayIssue ? [actionsColumn(base)] : [])]}
      rows={tokens}
      keyOf={({ tokenId }) => tokenId}
      empty="No tokens: the customer can't use the API until one is issued."
    />
  );
  return {
    title: 'Tokens',
    crumbs: [
      { name: 'Customers', href: '/admin/customers' },
      { name, href: base },
    ],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    parts: { 'token-list': table },
    body: (
      <>
        <CustomerTabs customerId={customerId} path={path} />
        {issued === undefined ? null : <IssuedToken {...issued} />}
        <div class="bar">
          <Filter path={path} query={query} label="Label, beginning or id" />
        </div>
        <Live id="token-list" topic={`customer:${customerId}`} at={listAddress(path, query.fields, {})}>
          {table}
        </Live>
        {mayIssue ? (
          <>
            <h2>Issue a token</h2>
            <TokenFields action={path} values={values} errors={errors} />
          </>
        ) : null}
      </>
    ),
  };
}

function columnsAt(now: Temporal.Instant): readonly Column<CustomersToken>[] {
  return [
    {
      key: 'label',
      name: 'Label',
      sortBy: ({ label }) => label || null,
      cell: ({ label }) => (label === '' ? null : label),
    },
    { key: 'prefix', name: 'Begins', cell: ({ prefix }) => (prefix === null ? null : <Code>{prefix}</Code>) },
    { key: 'id', name: 'Id', cell: ({ tokenId }) => <Short>{tokenId}</Short> },
    {
      key: 'issued',
      name: 'Issued',
      sortBy: ({ issuedAt }) => issuedAt,
      cell: ({ issuedAt }) => <When at={issuedAt} now={now} />,
    },
    { key: 'by', name: 'By', sortBy: ({ issuedBy }) => issuedBy, cell: ({ issuedBy }) => issuedBy },
    {
      key: 'used',
      name: 'Last used',
      sortBy: ({ lastUsedHour }) => lastUsedHour,
      cell: ({ lastUsedHour }) => instantOr('never', lastUsedHour, now),
    },
    {
      key: 'expires',
      name: 'Ends',
      sortBy: ({ expiresAt }) => expiresAt,
      cell: ({ expiresAt }) => instantOr('never', expiresAt, now),
    },
    {
      key: 'may',
      name: 'May',
      sortBy: ({ readOnly }) => Number(readOnly),
      cell: ({ readOnly }) => (readOnly ? 'read' : 'read and change'),
    },
    { key: 'from', name: 'From', cell: ({ allowedAddresses }) => allowedAddresses?.join(', ') ?? 'anywhere' },
    { key: 'state', name: 'State', cell: (token) => <TokenState token={token} now={now} /> },
  ];
}

function instantOr(otherwise: string, at: string | null, now: Temporal.Instant): JSX.Element | string {
  return at === null ? otherwise : <When at={at} now={now} />;
}

function TokenState({ token, now }: Readonly<{ token: CustomersToken; now: Temporal.Instant }>): JSX.Element {
  if (token.isDisabled) return <Badge state="off">disabled</Badge>;
  const hasExpired = token.expiresAt !== null && epochMilliseconds(token.expiresAt) <= now.epochMilliseconds;
  return hasExpired ? <Badge state="off">expired</Badge> : <Badge state="ok">enabled</Badge>;
}

function actionsColumn(base: string): Column<CustomersToken> {
  return {
    key: 'actions',
    name: 'Actions',
    isHeadingHidden: true,
    cell: ({ tokenId, isDisabled }) => {
      const verb = isDisabled ? 'enable' : 'disable';
      const path = `${base}/tokens/${tokenId}`;
      return (
        <span class="inline">
          <ActionButton
            action={`${path}/${verb}`}
            id={`${verb}-${tokenId}`}
            label={isDisabled ? 'Enable' : 'Disable'}
          />
          <a class="button danger" id={`revoke-${tokenId}`} href={`${path}/revoke`}>
            Revoke
          </a>
        </span>
      );
    },
  };
}

/** Asks once more before a token is worth nothing for good. */
export function revokePage({
  customer: { customerId, name },
  token,
  left,
  now,
}: Readonly<{
  customer: Pick<CustomerView, 'customerId' | 'name'>;
  token: CustomersToken;
  /** So many others of the customer are enabled. */
  left: number;
  now: Temporal.Instant;
}>): Page {
  const base = `/admin/customers/${customerId}`;
  const path = `${base}/tokens`;
  const called = token.label === '' ? token.tokenId : token.label;
  return {
    title: `Revoke ${called}`,
    crumbs: [
      { name: 'Customers', href: '/admin/customers' },
      { name, href: base },
      { name: 'Tokens', href: path },
    ],
    body: (
      <>
        <p>
          Requests with this token are refused at once, and for good. It was last used:{' '}
          {instantOr('never', token.lastUsedHour, now)}.
        </p>
        <p>
          {left === 0 ? `${name} has no other token that is enabled.` : `${name} has ${countOf(left, 'other token')}.`}{' '}
          A token that is disabled can be enabled again.
        </p>
        <Form
          action={`${path}/${token.tokenId}/revoke`}
          errors={{}}
          submit={`Revoke ${called}`}
          cancel={path}
          isDangerous
        />
      </>
    ),
  };
}

function TokenFields({
  action,
  values,
  errors,
}: Readonly<{ action: string; values: TokenForm; errors: FormErrors }>): JSX.Element {
  return (
    <Form action={action} errors={errors} submit="Issue token">
      <Field
        name="label"
        label="Label"
        value={values.label}
        errors={errors}
        hint="What it is for; it can't be changed."
      />
      <Field
        name="expires"
        label="Ends"
        value={values.expires}
        errors={errors}
        hint="An instant with its offset, or a duration such as P90D. Empty: never."
      />
      <Field
        name="allowed_addresses"
        label="From"
        value={values.allowed_addresses}
        errors={errors}
        hint="CIDRs that requests may come from, with spaces between them. Empty: anywhere."
      />
      <Check name="read_only" label="May only read" isChecked={values.read_only} />
    </Form>
  );
}

function IssuedToken({ token, api }: Readonly<{ token: string; api: CustomersApiAddress }>): JSX.Element {
  const header = `Authorization: Bearer ${token}`;
  return (
    <Once label="Token" secret={token}>
      <>
        <p>
          <code data-copy>{header}</code>
        </p>
        <p>
          <code data-copy>{`curl -H '${header}' ${api.url}/subnets`}</code>
        </p>
        {api.isSure ? null : (
          <p class="hint">Where customers reach the service is not known here: PUBLIC_URL sets it.</p>
        )}
      </>
    </Once>
  );
}
