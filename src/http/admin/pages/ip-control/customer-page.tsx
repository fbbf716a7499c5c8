import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { CustomerActivity } from '../../../../application/ip-control/customer-activity.ts';
import type { SubnetRow } from '../../../../application/ip-control/customer-lists.ts';
import type { ListPage } from '../../../../application/ip-control/list-standing.ts';
import { prefixListNamesOf } from '../../../../domain/ip-control/prefix-list-names.ts';
import { PREFIX_LIMIT } from '../../../../domain/ip-control/region-limits.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import { Activity, activityParts } from './customer-activity.tsx';
import { ListTable } from './list-table.tsx';
import { StandingActions, StandingBadge } from './customer-standing-page.tsx';
import { Tabs } from '../layout.tsx';
import type { Crumb, Page } from '../page.ts';
import { askingPage, nothingToAskPage } from '../parts/asking.tsx';
import { Badge } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { Choice, Field, Form, type FormErrors } from '../parts/form.tsx';
import { Filter, List, listAddress, type ListQuery, Pager } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, When } from '../parts/text.tsx';

const LIST: Crumb = { name: 'Customers', href: '/admin/customers' };

/** The pages of one customer. */
export function CustomerTabs({ customerId, path }: Readonly<{ customerId: number; path: string }>): JSX.Element {
  const base = `/admin/customers/${customerId}`;
  const tabs = [
    { href: base, name: 'Customer' },
    { href: `${base}/tokens`, name: 'Tokens' },
    { href: `${base}/subnets`, name: 'Subnets' },
    { href: `${base}/webhook`, name: 'Webhook' },
  ];
  return <Tabs label="Of this customer" tabs={tabs} path={path} />;
}

/** What of one customer is in one region: its subnets together. */
export type RegionPart = Readonly<{
  region: string;
  regionId: number;
  subnets: number;
  disabled: bigint;
  pending: bigint;
}>;

const REGION_COLUMNS: readonly Column<RegionPart>[] = [
  {
    key: 'region',
    name: 'Region',
    cell: ({ regionId, region }) => <a href={`/admin/regions/${regionId}`}>{region}</a>,
  },
  { key: 'subnets', name: 'Subnets', isNumber: true, cell: ({ subnets }) => subnets },
  { key: 'disabled', name: 'Disabled', isNumber: true, cell: ({ disabled }) => disabled },
  { key: 'pending', name: 'Pending', cell: ({ pending }) => <Pending pending={pending} /> },
];

function Pending({ pending }: Readonly<{ pending: bigint }>): JSX.Element {
  return pending === 0n ? (
    <Badge state="ok">on the routers</Badge>
  ) : (
    <Badge state="busy">{`${count(pending)} pending`}</Badge>
  );
}

export type CustomerPageView = Readonly<{
  customer: CustomerView;
  regions: readonly RegionPart[];
  lists: ListPage;
  /** Of its lists, which come in pages. */
  query: ListQuery;
  activity: CustomerActivity;
  mayEdit: boolean;
  mayRotate: boolean;
  now: Temporal.Instant;
  /** A webhook secret that was made just now, and is shown this once. */
  webhookSecret?: string;
}>;

/** One customer: what it may do, and how its lists stand. */
export function customerPage(view: CustomerPageView): Page {
  const { customer, regions, lists, query, activity, mayEdit, now } = view;
  const { customerId, name } = customer;
  const base = `/admin/customers/${customerId}`;
  const standing = (
    <Table
      caption="Regions"
      columns={REGION_COLUMNS}
      rows={regions}
      keyOf={({ regionId }) => String(regionId)}
      empty="No subnets yet: assign one on the tab Subnets."
    />
  );
  const listed = (
    <>
      <ListTable
        of="customer"
        lists={lists.lists}
        empty="No lists yet: one comes with the first address that is disabled, or the first block of the whitelist."
        now={now}
      />
      <Pager path={base} query={query} next={lists.nextAfter} noun="list" />
    </>
  );
  const more = activityParts(activity, now);
  return {
    title: name,
    crumbs: [LIST],
    parts: { regions: standing, lists: listed, ...more },
    body: (
      <>
        <CustomerTabs customerId={customerId} path={base} />
        {view.webhookSecret === undefined ? null : <Once label="Webhook secret" secret={view.webhookSecret} />}
        <div class="columns">
          <section>
            <h2>Settings</h2>
            <Settings customer={customer} now={now} />
            <div class="inline wrap">
              {mayEdit ? (
                <a class="button" href={`${base}/edit`}>
                  Change settings
                </a>
              ) : null}
              {view.mayRotate && customer.settings.webhookUrl !== null ? (
                <a class="button" href={`${base}/webhook-secret`}>
                  New webhook secret
                </a>
              ) : null}
              {mayEdit ? <StandingActions customer={customer} /> : null}
            </div>
          </section>
          <section>
            <h2>By region</h2>
            <Live id="regions" topic={`customer:${customerId}`} at={base}>
              {standing}
            </Live>
          </section>
        </div>
        <h2>Lists</h2>
        <Live id="lists" topic={`customer:${customerId}`} at={listAddress(base, query.fields, {})}>
          {listed}
        </Live>
        <Activity customerId={customerId} parts={more} />
      </>
    ),
  };
}

function Settings({ customer, now }: Readonly<{ customer: CustomerView; now: Temporal.Instant }>): JSX.Element {
  const { settings } = customer;
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['State', <StandingBadge standing={customer.standing} />],
    ['Number', String(customer.customerId)],
    ['Prefix-lists', <Code>{prefixListNamesOf(customer.name).join(', ')}</Code>],
    ['Requests per minute', count(settings.rateLimitPerMinute)],
    ['Prefixes per list', count(settings.prefixLimit ?? PREFIX_LIMIT)],
    ['Synchronous requests', yesOrNo(settings.allowSynchronous)],
    ['Source whitelist', settings.allowSourceWhitelist ? `yes, at most ${count(settings.whitelistLimit)}` : 'no'],
    ['Trusted', settings.trusted ? 'yes: no review' : 'no'],
    ['Evidence', `at most ${count(settings.evidenceMaxBytes)} bytes`],
    // Text and never a link: the address is the customer's.
    ['Webhook', settings.webhookUrl === null ? 'none' : <Code>{settings.webhookUrl}</Code>],
    ['Registered', <When at={customer.registeredAt} now={now} />],
  ];
  return <Facts facts={facts} />;
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** A secret that is shown this once. */
export function Once({
  label,
  secret,
  children,
}: Readonly<{ label: string; secret: string; children?: JSX.Element }>): JSX.Element {
  return (
    <section class="once" aria-label={label}>
      <p>
        <strong>{label}</strong>, shown this once:
      </p>
      <p>
        <code data-copy>{secret}</code>
      </p>
      {children}
    </section>
  );
}

export type CustomerSubnetsView = Readonly<{
  customer: CustomerView;
  rows: readonly SubnetRow[];
  query: ListQuery;
  regions: readonly string[];
  mayAssign: boolean;
  values: Readonly<Record<'cidr' | 'region' | 'asn' | 'metro', string>>;
  errors: FormErrors;
}>;

const SUBNET_COLUMNS: readonly Column<SubnetRow>[] = [
  {
    key: 'cidr',
    name: 'Subnet',
    sortBy: ({ cidr }) => cidr,
    cell: ({ subnetId, cidr }) => (
      <a href={`/admin/subnets/${subnetId}`}>
        <Code>{cidr}</Code>
      </a>
    ),
  },
  { key: 'region', name: 'Region', sortBy: ({ region }) => region, cell: ({ region }) => region },
  { key: 'asn', name: 'AS', isNumber: true, sortBy: ({ asn }) => asn, cell: ({ asn }) => String(asn) },
  { key: 'metro', name: 'Metro', sortBy: ({ metro }) => metro, cell: ({ metro }) => metro },
  counted('total', 'Addresses', ({ total }) => total),
  counted('enabled', 'Enabled', ({ total, disabled }) => total - disabled),
  counted('disabled', 'Disabled', ({ disabled }) => disabled),
  {
    key: 'pending',
    name: 'Pending',
    sortBy: ({ counts }) => counts.pending,
    cell: ({ counts }) => <Pending pending={counts.pending} />,
  },
];

function counted(key: string, name: string, of: (counts: SubnetRow['counts']) => bigint): Column<SubnetRow> {
  return { key, name, isNumber: true, sortBy: ({ counts }) => of(counts), cell: ({ counts }) => of(counts) };
}

/** The subnets of one customer. */
export function customerSubnetsPage(view: CustomerSubnetsView): Page {
  const { customer, rows, query, mayAssign, errors } = view;
  const { customerId, name } = customer;
  const base = `/admin/customers/${customerId}`;
  const path = `${base}/subnets`;
  const columns: readonly Column<SubnetRow>[] = [
    ...SUBNET_COLUMNS,
    ...(mayAssign
      ? [
          {
            key: 'actions',
            name: 'Actions',
            isHeadingHidden: true,
            cell: ({ subnetId, cidr }: SubnetRow) => (
              <a id={`release-${subnetId}`} href={`${base}/subnets/${subnetId}/release`} aria-label={`Release ${cidr}`}>
                Release
              </a>
            ),
          } as const,
        ]
      : []),
  ];
  const table = (
    <List
      path={path}
      query={query}
      caption={`Subnets of ${name}`}
      columns={columns}
      rows={rows}
      holds={({ cidr, region, metro }) => [cidr, region, metro]}
      noun="subnet"
      keyOf={({ subnetId }) => String(subnetId)}
      empty="No subnets: assign one below, and the customer can disable its addresses."
    />
  );
  return {
    title: 'Subnets',
    crumbs: [LIST, { name, href: base }],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    parts: { 'subnet-list': table },
    body: (
      <>
        <CustomerTabs customerId={customerId} path={path} />
        <div class="bar">
          <Filter path={path} query={query} label="CIDR, region or metro" />
        </div>
        <Live id="subnet-list" topic={`customer:${customerId}`} at={listAddress(path, query.fields, {})}>
          {table}
        </Live>
        {mayAssign ? <AssignForm base={base} view={view} /> : null}
      </>
    ),
  };
}

function AssignForm({
  base,
  view: { values, errors, regions },
}: Readonly<{ base: string; view: CustomerSubnetsView }>) {
  if (regions.length === 0) return <p class="dim">A subnet needs a region: create one first.</p>;
  const options = regions.map((region) => ({ value: region, text: region }));
  return (
    <>
      <h2>Assign a subnet</h2>
      <Form action={`${base}/subnets`} errors={errors} submit="Assign subnet">
        <Field
          name="cidr"
          label="CIDR"
          value={values.cidr}
          errors={errors}
          hint="203.0.113.0/24 or 2001:db8::/48"
          isRequired
        />
        <Choice name="region" label="Region" value={values.region} options={options} errors={errors} />
        <Field
          name="asn"
          label="AS number"
          type="number"
          value={values.asn}
          errors={errors}
          isRequired
          more={{ min: 1 }}
        />
        <Field name="metro" label="Metro" value={values.metro} errors={errors} isRequired />
      </Form>
    </>
  );
}

/** Asks once more before a customer's receiver needs another secret. */
export function rotateSecretPage({ customerId, name, settings }: CustomerView): Page {
  const base = `/admin/customers/${customerId}`;
  const [title, crumbs] = ['New webhook secret', [LIST, { name, href: base }]];
  if (settings.webhookUrl === null)
    return nothingToAskPage({ title, crumbs, says: `${name} has no webhook.`, back: base });
  return askingPage({
    title,
    crumbs,
    says: [
      'The new secret is shown once. Notifications are signed with it at once, and with the one of now for 24 hours more.',
      `Once these are over, ${name} can verify none of them with the one of now.`,
    ],
    action: `${base}/webhook-secret`,
    submit: 'Make a new secret',
    cancel: base,
  });
}

/** Asks once more before a subnet is taken back, with what comes of it. */
export function releasePage({ customer, row }: Readonly<{ customer: CustomerView; row: SubnetRow }>): Page {
  const base = `/admin/customers/${customer.customerId}`;
  const { disabled } = row.counts;
  return {
    title: `Release ${row.cidr}`,
    crumbs: [LIST, { name: customer.name, href: base }, { name: 'Subnets', href: `${base}/subnets` }],
    body: (
      <>
        <p>
          {disabled === 0n
            ? 'Nothing in it is disabled: no list on a router changes.'
            : `${disabled === 1n ? '1 disabled address' : `${count(disabled)} disabled addresses`} in it leave the routers of ${row.region} with the next commit.`}
        </p>
        <p>The customer can't use {row.cidr} any more, and another customer may get it.</p>
        <Form
          action={`${base}/subnets/${row.subnetId}/release`}
          errors={{}}
          submit={`Release ${row.cidr}`}
          cancel={`${base}/subnets`}
          isDangerous
        />
      </>
    ),
  };
}
