import { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { ListedDelivery } from '../../../../application/ip-control/webhook-deliveries.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import type { Crumb, Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { ActionButton } from '../parts/form.tsx';
import { type ListQuery, Pager } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, exact, Short, When } from '../parts/text.tsx';
import { CustomerTabs } from './customer-page.tsx';

type Attempt = ListedDelivery['attempts'][number];

export type WebhookView = Readonly<{
  customer: CustomerView;
  deliveries: readonly ListedDelivery[];
  regions: ReadonlyMap<number, string>;
  query: ListQuery;
  next: string | undefined;
  maySend: boolean;
  now: Temporal.Instant;
  /** From a try that failed to the next one. */
  retryMilliseconds: number;
  /** Where this very page is. */
  address: string;
}>;

const baseOf = ({ customerId }: Pick<CustomerView, 'customerId'>): string => `/admin/customers/${customerId}`;

function crumbsTo(customer: CustomerView): readonly Crumb[] {
  return [
    { name: 'Customers', href: '/admin/customers' },
    { name: customer.name, href: baseOf(customer) },
  ];
}

/** What a customer was told of its commits, and was not. */
export function webhookPage(view: WebhookView): Page {
  const { customer, query, next, maySend, address } = view;
  const base = baseOf(customer);
  const { webhookUrl } = customer.settings;
  const list = (
    <>
      <Table
        caption={`What ${customer.name} was told`}
        columns={columnsOf(view)}
        rows={view.deliveries}
        keyOf={({ id }) => id}
        empty={
          webhookUrl === null
            ? 'This customer has no webhook: it is told nothing. Its settings name one.'
            : 'Nothing was to be told yet: each commit of this customer will be a row here.'
        }
      />
      <Pager path={`${base}/webhook`} query={query} next={next} noun="notification" />
    </>
  );
  return {
    title: 'Webhook',
    crumbs: crumbsTo(customer),
    parts: { deliveries: list },
    body: (
      <>
        <CustomerTabs customerId={customer.customerId} path={`${base}/webhook`} />
        <div class="bar">
          <span>{webhookUrl === null ? 'No webhook.' : <Code>{webhookUrl}</Code>}</span>
          {maySend && webhookUrl !== null ? (
            <ActionButton action={`${base}/webhook/test`} id="send-test" label="Send test" />
          ) : null}
        </div>
        <Live id="deliveries" topic={`customer:${customer.customerId}`} at={address}>
          {list}
        </Live>
      </>
    ),
  };
}

function columnsOf({
  customer,
  regions,
  maySend,
  now,
  retryMilliseconds,
}: WebhookView): readonly Column<ListedDelivery>[] {
  const base = `${baseOf(customer)}/webhook`;
  const columns: readonly Column<ListedDelivery>[] = [
    {
      key: 'commit',
      name: 'Commit',
      cell: ({ id, commitSetId }) => (
        <a href={`${base}/${id}`}>
          <Short>{commitSetId}</Short>
        </a>
      ),
    },
    { key: 'region', name: 'Region', cell: ({ regionId }) => regions.get(regionId) ?? String(regionId) },
    { key: 'list', name: 'List', cell: ({ list }) => list },
    { key: 'told', name: 'Told', cell: ({ status }) => status },
    { key: 'state', name: 'State', cell: (delivery) => <DeliveryState delivery={delivery} /> },
    { key: 'attempts', name: 'Tries', cell: ({ attempts }) => <Tries attempts={attempts} /> },
    { key: 'answer', name: 'Last answer', cell: ({ attempts }) => answerOf(attempts.at(-1)) },
    { key: 'when', name: 'When', cell: (delivery) => <When at={lastOf(delivery)} now={now} /> },
    {
      key: 'next',
      name: 'Next try',
      cell: (delivery) => <NextTry at={nextOf(delivery, retryMilliseconds)} now={now} />,
    },
  ];
  if (!maySend || customer.settings.webhookUrl === null) return columns;
  const resend: Column<ListedDelivery> = {
    key: 'actions',
    name: 'Actions',
    isHeadingHidden: true,
    cell: ({ id, state }) =>
      state === 'retrying' ? '' : <ActionButton action={`${base}/${id}/resend`} id={`resend-${id}`} label="Resend" />,
  };
  return [...columns, resend];
}

/** When it was last tried, or first owed. */
function lastOf({ attempts, requestedAgainAt, owedAt }: ListedDelivery): string {
  const tried = attempts.at(-1)?.at ?? owedAt;
  return requestedAgainAt !== null && requestedAgainAt > tried ? requestedAgainAt : tried;
}

/** When it will be tried again, or for the first time; `undefined`: never. */
function nextOf(delivery: ListedDelivery, retryMilliseconds: number): string | undefined {
  if (delivery.state !== 'retrying') return undefined;
  const failed = delivery.attempts.at(-1);
  const since = lastOf(delivery);
  if (failed === undefined || failed.because === null || failed.at !== since) return since;
  return Temporal.Instant.from(failed.at).add({ milliseconds: retryMilliseconds }).toString();
}

/** Notifications of a customer and region are sent in their order: one that is due may wait for those before it. */
function NextTry({ at, now }: Readonly<{ at: string | undefined; now: Temporal.Instant }>): JSX.Element {
  if (at === undefined) return <span class="dim">–</span>;
  return Temporal.Instant.compare(now, at) < 0 ? <When at={at} now={now} /> : <>due</>;
}

function DeliveryState({ delivery: { state, attempts } }: Readonly<{ delivery: ListedDelivery }>): JSX.Element {
  switch (state) {
    case 'delivered':
      return <Badge state="ok">delivered</Badge>;
    case 'given_up':
      return <Badge state="bad">given up</Badge>;
    case 'retrying':
      return attempts.at(-1)?.because === undefined || attempts.at(-1)?.because === null ? (
        <Badge state="busy">to be sent</Badge>
      ) : (
        <Badge state="warn">will be tried again</Badge>
      );
  }
}

/** A square for each try. */
function Tries({ attempts }: Readonly<{ attempts: readonly Attempt[] }>): JSX.Element {
  if (attempts.length === 0) return <span class="dim">none yet</span>;
  return (
    <span class="tries">
      {attempts.map((attempt) => (
        <span
          key={attempt.attempt}
          class={`try ${attempt.because === null ? 'ok' : 'bad'}`}
          title={`${exact(attempt.at)}: ${answerOf(attempt)}`}
        >
          {attempt.because === null ? '✓' : '✕'}
        </span>
      ))}
    </span>
  );
}

function answerOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return '–';
  const { httpStatus, because } = attempt;
  return because ?? (httpStatus === null ? 'delivered' : `HTTP ${httpStatus}`);
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { key: 'attempt', name: 'Try', isNumber: true, cell: ({ attempt }) => attempt },
  { key: 'at', name: 'When', cell: ({ at }) => <time datetime={at}>{exact(at)}</time> },
  {
    key: 'outcome',
    name: 'Outcome',
    cell: ({ because }) =>
      because === null ? <Badge state="ok">delivered</Badge> : <Badge state="bad">not delivered</Badge>,
  },
  { key: 'answer', name: 'Answer, or why not', cell: (attempt) => answerOf(attempt) },
  {
    key: 'status',
    name: 'HTTP status',
    isNumber: true,
    cell: ({ httpStatus }) => (httpStatus === null ? null : String(httpStatus)),
  },
  { key: 'milliseconds', name: 'Milliseconds', isNumber: true, cell: ({ milliseconds }) => milliseconds },
];

export type DeliveryView = Readonly<{
  customer: CustomerView;
  delivery: ListedDelivery;
  region: string;
  /** As it was sent, to the letter. */
  body: string;
  maySend: boolean;
  now: Temporal.Instant;
  /** From a try that failed to the next one. */
  retryMilliseconds: number;
}>;

/** One notification: every try, and what was sent. */
export function deliveryPage(view: DeliveryView): Page {
  const { customer, delivery, region, body, maySend, now, retryMilliseconds } = view;
  const base = `${baseOf(customer)}/webhook`;
  const { id, state, commitSetId, list, status, owedAt } = delivery;
  const tries = <AllTries delivery={delivery} now={now} next={nextOf(delivery, retryMilliseconds)} />;
  return {
    title: `Notification of ${commitSetId}`,
    crumbs: [...crumbsTo(customer), { name: 'Webhook', href: base }],
    parts: { tries },
    body: (
      <>
        {state === 'given_up' ? (
          <Note state="warn">
            It is not tried any more. Resend sends the same again, behind what is still to be sent.
          </Note>
        ) : null}
        <Facts
          facts={[
            ['List', list],
            ['Region', region],
            ['Told', status],
            ['To be told since', <time datetime={owedAt}>{exact(owedAt)}</time>],
          ]}
        />
        {maySend && state !== 'retrying' && customer.settings.webhookUrl !== null ? (
          <ActionButton action={`${base}/${id}/resend`} id="resend" label="Resend" />
        ) : null}
        <h2>The last tries</h2>
        <Live id="tries" topic={`customer:${customer.customerId}`} at={`${base}/${id}`}>
          {tries}
        </Live>
        <h2>What is sent</h2>
        <pre class="data">{textSent(id, body)}</pre>
      </>
    ),
  };
}

function AllTries({
  delivery,
  now,
  next,
}: Readonly<{ delivery: ListedDelivery; now: Temporal.Instant; next: string | undefined }>): JSX.Element {
  const { attempts, requestedAgainAt } = delivery;
  return (
    <>
      <p>
        <DeliveryState delivery={delivery} />
        {requestedAgainAt === null ? null : (
          <>
            {' '}
            asked for again <When at={requestedAgainAt} now={now} />
          </>
        )}
        {next === undefined ? null : (
          <>
            {' '}
            next try: <NextTry at={next} now={now} />
          </>
        )}
      </p>
      <Table
        caption="Tries"
        columns={ATTEMPT_COLUMNS}
        rows={attempts}
        keyOf={({ attempt }) => String(attempt)}
        empty="It was not tried yet."
      />
    </>
  );
}

function textSent(id: string, body: string): string {
  return [
    'content-type: application/json',
    `webhook-id: ${id}`,
    'webhook-timestamp: the second in which a try begins',
    'webhook-signature: made with the secret of the customer; not shown',
    '',
    body,
  ].join('\n');
}
