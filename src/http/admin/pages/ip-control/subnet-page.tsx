import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import { cidrAround, formatCidr, networkAddress } from '../../../../addresses/cidr.ts';
import type { BlockThen, MapLook, MapRange } from '../../../../application/ip-control/subnet-maps.ts';
import type { SubnetChange, SubnetStep } from '../../../../domain/ip-control/subnet-history.ts';
import { Tabs } from '../layout.tsx';
import type { Crumb, Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, exact, When } from '../parts/text.tsx';
import { addressesOf, MapDrawing } from './subnet-map.tsx';

/** What of a subnet's page is asked for in its address. */
export type SubnetPageAsk = Readonly<{ look: MapLook; block?: string; at?: string; from?: string }>;

export type SubnetPageView = Readonly<{
  drawn: BlockThen;
  ask: SubnetPageAsk;
  customer: string;
  region: string;
  now: Temporal.Instant;
}>;

/** Levels of blocks that the way back names, beside the subnet itself. */
const CRUMBS_MAX = 4;
const CRUMB_BITS = 4;

/** A subnet, or a block of it, as a map with its history. */
export function subnetPage(view: SubnetPageView): Page {
  const { drawn, ask } = view;
  const { subnet, map } = drawn;
  const shown = <BlockShown view={view} />;
  const base = `/admin/subnets/${subnet.subnetId}`;
  const looks = [
    { look: 'wanted', name: 'Wanted' },
    { look: 'deployed', name: 'On the routers' },
    { look: 'difference', name: 'Difference' },
  ] as const;
  return {
    title: formatCidr(map.block),
    crumbs: crumbsOf(view),
    parts: { 'subnet-map': shown },
    body: (
      <>
        <Tabs
          label="What is shown"
          tabs={looks.map(({ look, name }) => ({ href: addressOf(base, { ...ask, look }), name }))}
          path={addressOf(base, ask)}
        />
        <History view={view} base={base} />
        <Live id="subnet-map" topic={`customer:${subnet.customerId}`} at={addressOf(base, ask)}>
          {shown}
        </Live>
      </>
    ),
  };
}

/** The same page, asked for otherwise. */
function addressOf(base: string, { look, block, at, from }: SubnetPageAsk): string {
  const query = new URLSearchParams({
    ...(block === undefined ? {} : { block }),
    ...(look === 'wanted' ? {} : { look }),
    ...(at === undefined ? {} : { at }),
    ...(from === undefined ? {} : { from }),
  }).toString();
  return query === '' ? base : `${base}?${query}`;
}

/** The page at the step with this number, from 1; of the newest one, and of those that are none, as it is now. */
export function addressOfStep(
  { subnet, steps }: Pick<BlockThen, 'subnet' | 'steps'>,
  { look, block }: SubnetPageAsk,
  step: number,
): string {
  const at = step === steps.length ? undefined : steps[step - 1]?.at;
  return addressOf(`/admin/subnets/${subnet.subnetId}`, {
    look,
    ...(block === undefined ? {} : { block }),
    ...(at === undefined ? {} : { at }),
  });
}

/** From all subnets to the block around the one that is shown. */
function crumbsOf({ drawn: { subnet, map }, ask, customer }: SubnetPageView): readonly Crumb[] {
  const base = `/admin/subnets/${subnet.subnetId}`;
  const { block } = map;
  const around: string[] = [];
  const length = Number(subnet.cidr.split('/').at(-1));
  for (let shorter = block.length - CRUMB_BITS; shorter > length && around.length < CRUMBS_MAX; shorter -= CRUMB_BITS)
    around.unshift(formatCidr(cidrAround(networkAddress(block), shorter)));
  const blocks = formatCidr(block) === subnet.cidr ? [] : [subnet.cidr, ...around];
  const { from: _, ...rest } = ask;
  return [
    { name: 'Subnets', href: '/admin/subnets' },
    { name: customer, href: `/admin/customers/${subnet.customerId}/subnets` },
    ...blocks.map((name) => ({ name, href: addressOf(base, { ...rest, block: name }) })),
  ];
}

function BlockShown({ view }: Readonly<{ view: SubnetPageView }>): JSX.Element {
  const { drawn, ask, region } = view;
  const { subnet, map, counts } = drawn;
  const base = `/admin/subnets/${subnet.subnetId}`;
  const { from: _, ...rest } = ask;
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['Subnet', <Code>{subnet.cidr}</Code>],
    ['Region', region],
    ['AS, metro', `${subnet.asn}, ${subnet.metro}`],
    ['Addresses', count(counts.total)],
    ['Enabled', count(counts.total - counts.disabled)],
    ['Disabled', count(counts.disabled)],
    ['On all routers', count(counts.deployed)],
    ['Pending', count(counts.pending)],
  ];
  // Addresses of IPv6 are long: their table has the whole width.
  const isBeside = map.block.version === 4;
  return (
    <div class="beside">
      <MapDrawing
        map={map}
        hrefOf={(block) => addressOf(base, { ...rest, block })}
        isDifference={ask.look === 'difference'}
      />
      <section>
        <Facts facts={facts} />
        {isBeside ? <Ranges view={view} base={base} /> : null}
      </section>
      {isBeside ? null : (
        <section class="below">
          <Ranges view={view} base={base} />
        </section>
      )}
    </div>
  );
}

function Ranges({ view, base }: Readonly<{ view: SubnetPageView; base: string }>): JSX.Element {
  const { drawn, ask, now } = view;
  const { from, ...rest } = ask;
  const columns: readonly Column<MapRange>[] = [
    { key: 'first', name: 'From', cell: ({ first }) => <Code>{first}</Code> },
    { key: 'last', name: 'To', cell: ({ first, last }) => (first === last ? null : <Code>{last}</Code>) },
    { key: 'addresses', name: 'Addresses', isNumber: true, cell: ({ addresses }) => addresses },
    { key: 'state', name: 'State', cell: (range) => <RangeState range={range} now={now} /> },
    {
      key: 'since',
      name: 'Since',
      cell: ({ since }) => (since === undefined ? null : <When at={since} now={now} />),
    },
  ];
  return (
    <>
      <h2>Ranges as wanted</h2>
      <Table
        caption="Ranges of addresses that stand alike"
        columns={columns}
        rows={drawn.ranges}
        keyOf={({ first }) => first}
        empty="No address."
      />
      <p class="pager">
        {from === undefined ? null : <a href={addressOf(base, rest)}>First ranges</a>}
        {drawn.nextFrom === undefined ? null : (
          <a rel="next" href={addressOf(base, { ...rest, from: drawn.nextFrom })}>
            Next ranges
          </a>
        )}
      </p>
    </>
  );
}

function RangeState({
  range: { isDisabled, isPending, until },
  now,
}: Readonly<{ range: MapRange; now: Temporal.Instant }>): JSX.Element {
  return (
    <>
      {isDisabled ? <Badge state="off">disabled</Badge> : <Badge state="ok">enabled</Badge>}{' '}
      {isPending ? <Badge state="busy">pending</Badge> : null}
      {until === undefined ? null : (
        <>
          {' '}
          ends <When at={until} now={now} />
        </>
      )}
    </>
  );
}

/** The way through what has happened to the subnet, and to a block by its text. */
function History({ view, base }: Readonly<{ view: SubnetPageView; base: string }>): JSX.Element {
  const { drawn, ask } = view;
  const { steps, step } = drawn;
  const current = steps[step];
  return (
    <div class="history">
      <Slider view={view} base={base} />
      <form method="get" action={base}>
        <label for="block">Block</label>
        <input
          id="block"
          name="block"
          size={20}
          value={ask.block ?? ''}
          placeholder={drawn.subnet.cidr}
          autocomplete="off"
        />
        {ask.look === 'wanted' ? null : <input type="hidden" name="look" value={ask.look} />}
        {ask.at === undefined ? null : <input type="hidden" name="at" value={ask.at} />}
        <button>Go there</button>
      </form>
      {current === undefined ? null : (
        <p>
          {`${count(step + 1)} of ${count(steps.length)}${drawn.isCutOff ? ' newest' : ''}: `}
          <time datetime={current.at}>{exact(current.at)}</time>
          {`, ${textOf(current)}`}
        </p>
      )}
      {ask.at === undefined ? null : <Note state="busy">This is how it was then.</Note>}
    </div>
  );
}

/** Fetches the page that it stands for; without a script the button beside it does. */
const QUICK = {
  'hx-include': 'closest form',
  'hx-trigger': 'change',
  'hx-target': '#main',
  'hx-select': '#main',
  'hx-swap': 'outerHTML',
  'hx-push-url': 'true',
};

function Slider({ view, base }: Readonly<{ view: SubnetPageView; base: string }>): JSX.Element {
  const { drawn, ask } = view;
  const { steps, step } = drawn;
  const { from: _, at: __, ...rest } = ask;
  const current = steps[step];
  const quick = { ...QUICK, 'hx-get': base };
  return (
    <form method="get" action={base}>
      <label for="step">History</label>
      {ask.block === undefined ? null : <input type="hidden" name="block" value={ask.block} />}
      {ask.look === 'wanted' ? null : <input type="hidden" name="look" value={ask.look} />}
      <StepLink id="before" rel="prev" name="Before" href={step > 0 ? addressOfStep(drawn, ask, step) : undefined} />
      <input
        id="step"
        name="step"
        type="range"
        min="1"
        max={steps.length}
        value={step + 1}
        aria-valuetext={current === undefined ? undefined : textOf(current)}
        {...quick}
      />
      <StepLink
        id="after"
        rel="next"
        name="After"
        href={step < steps.length - 1 ? addressOfStep(drawn, ask, step + 2) : undefined}
      />
      <button>Show</button>
      {ask.at === undefined ? null : <a href={addressOf(base, rest)}>Now</a>}
    </form>
  );
}

function StepLink({
  id,
  rel,
  name,
  href,
}: Readonly<{ id: string; rel: string; name: string; href: string | undefined }>): JSX.Element {
  if (href === undefined) return <span class="dim">{name}</span>;
  return (
    <a id={id} rel={rel} href={href}>
      {name}
    </a>
  );
}

const CHANGES: Readonly<Record<SubnetChange['type'], string>> = {
  SubnetAssigned: 'assigned',
  AddressesDisabled: 'disabled',
  DisabledTermChanged: 'given another end',
  AddressesEnabled: 'enabled',
  CommitRequested: 'on their way to routers',
  CommitCompleted: 'confirmed by all routers',
  CommitFailed: 'not on all routers: the commit failed',
};

function textOf({ changes }: SubnetStep): string {
  return changes
    .map(({ type, addresses, actor }) => `${addressesOf(addresses)} ${CHANGES[type]} (${actor})`)
    .join('; ');
}
