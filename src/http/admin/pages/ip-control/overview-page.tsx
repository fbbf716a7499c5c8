import type { Temporal } from '@js-temporal/polyfill';
import type { ComponentChildren, JSX } from 'preact';
import type { Overview, RouterOutOfStep } from '../../../../application/ip-control/overview.ts';
import type { RecordedEvent } from '../../../../kernel/event.ts';
import type { Page } from '../page.ts';
import { Badge, type State } from '../parts/badge.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { count, Short, When } from '../parts/text.tsx';
import { OnItsWayTable } from './on-its-way.tsx';
import { routerAt } from './region-pages.tsx';

export type OverviewView = Readonly<{
  overview: Overview;
  events: readonly RecordedEvent[];
  now: Temporal.Instant;
  mayRun: boolean;
}>;

/** How everything stands, on one screen. */
export function overviewPage(view: OverviewView): Page {
  const parts = {
    tiles: <Tiles {...view} />,
    work: <OnItsWayTable rows={view.overview.onItsWay} now={view.now} mayRun={view.mayRun} />,
    routers: <Routers {...view} />,
    events: <Events {...view} />,
  };
  return {
    title: 'Overview',
    parts,
    body: (
      <>
        <Live id="tiles" topic={['work', 'routers', 'review']} at="/admin/">
          {parts.tiles}
        </Live>
        <h2>On its way to routers</h2>
        <Live id="work" topic="work" at="/admin/">
          {parts.work}
        </Live>
        <h2>Routers out of step</h2>
        <Live id="routers" topic="routers" at="/admin/">
          {parts.routers}
        </Live>
        <h2>Latest events</h2>
        <Live id="events" topic="events" at="/admin/">
          {parts.events}
        </Live>
      </>
    ),
  };
}

function Tiles({ overview, now }: OverviewView): JSX.Element {
  const { failing, waiting, drifted, toReview, webhooks, onItsWay, outOfStep } = overview;
  const worst = onItsWay.find(({ change }) => change.failingOn !== undefined);
  const drifting = outOfStep.find(({ router }) => router.drifted.length > 0);
  const [oldest] = toReview;
  return (
    <div class="tiles">
      <Tile
        name="Commits failing"
        figure={failing}
        state={failing > 0 ? 'bad' : 'ok'}
        word={failing > 0 ? 'failing' : 'none'}
      >
        {worst === undefined ? (
          `${count(waiting)} on the way`
        ) : (
          <>
            <a href={`/admin/customers/${worst.change.customerId}`}>{worst.customer}</a> in {worst.region}
          </>
        )}
      </Tile>
      <Tile
        name="Lists drifting"
        figure={drifted}
        state={drifted > 0 ? 'warn' : 'ok'}
        word={drifted > 0 ? 'drifting' : 'none'}
      >
        {drifting === undefined ? (
          'routers hold what they should'
        ) : (
          <>
            <a href={routerAt(drifting.regionId, drifting.router.name)}>{drifting.router.name}</a> in {drifting.region}
          </>
        )}
      </Tile>
      <Tile
        name="Requests to review"
        figure={toReview.length}
        state={toReview.length > 0 ? 'warn' : 'ok'}
        word={toReview.length > 0 ? 'waiting' : 'none'}
      >
        {oldest === undefined ? (
          'nobody waits'
        ) : (
          <>
            <a href={`/admin/whitelist/${oldest.request.requestId}`}>{oldest.customer}</a>,{' '}
            <When at={oldest.request.submitted.at} now={now} />
          </>
        )}
      </Tile>
      <Tile
        name="Webhooks failing"
        figure={webhooks.failing}
        state={webhooks.failing > 0 ? 'bad' : 'ok'}
        word={webhooks.failing > 0 ? 'failing' : 'none'}
      >
        {webhooks.worst === undefined ? (
          `${count(webhooks.owed)} to be told`
        ) : (
          <>
            <a href={`/admin/customers/${webhooks.worst.customerId}/webhook`}>{webhooks.worst.customer}</a>,{' '}
            <When at={webhooks.worst.since} now={now} />
          </>
        )}
      </Tile>
    </div>
  );
}

function Tile({
  name,
  figure,
  state,
  word,
  children,
}: Readonly<{ name: string; figure: number; state: State; word: string; children: ComponentChildren }>): JSX.Element {
  return (
    <section class="tile">
      <h2>{name}</h2>
      <p class="figure">
        {count(figure)}
        <Badge state={state}>{word}</Badge>
      </p>
      <p class="dim">{children}</p>
    </section>
  );
}

function Routers({ overview: { outOfStep }, now }: OverviewView): JSX.Element {
  const columns: readonly Column<RouterOutOfStep>[] = [
    {
      key: 'router',
      name: 'Router',
      cell: ({ router, regionId }) => <a href={routerAt(regionId, router.name)}>{router.name}</a>,
    },
    { key: 'region', name: 'Region', cell: ({ region }) => region },
    { key: 'state', name: 'State', cell: ({ router }) => <RouterState router={router} /> },
    { key: 'drifted', name: 'Drifted lists', isNumber: true, cell: ({ router }) => router.drifted.length },
    { key: 'unowned', name: 'Lists of no customer', isNumber: true, cell: ({ router }) => router.unowned },
    {
      key: 'since',
      name: 'Last difference',
      cell: ({ router }) => (router.driftedAt === null ? null : <When at={router.driftedAt} now={now} />),
    },
  ];
  return (
    <Table
      caption="Routers out of step"
      columns={columns}
      rows={outOfStep}
      keyOf={({ router, regionId }) => `${regionId}/${router.name}`}
      empty="Every router is enabled and holds what it should."
    />
  );
}

function RouterState({ router: { phase, drifted, unsavedSince } }: Pick<RouterOutOfStep, 'router'>): JSX.Element {
  if (phase === 'disabled') return <Badge state="off">disabled</Badge>;
  if (phase === 'catching-up') return <Badge state="busy">catching up</Badge>;
  if (drifted.length > 0) return <Badge state="warn">drifted</Badge>;
  return unsavedSince === null ? <Badge state="ok">enabled</Badge> : <Badge state="warn">not saved</Badge>;
}

function Events({ events, now }: OverviewView): JSX.Element {
  const columns: readonly Column<RecordedEvent>[] = [
    { key: 'at', name: 'When', cell: ({ metadata }) => <When at={metadata.at} now={now} /> },
    { key: 'type', name: 'Event', cell: ({ type }) => type },
    { key: 'stream', name: 'Of', cell: ({ stream }) => <Short>{stream}</Short> },
    { key: 'actor', name: 'By', cell: ({ metadata }) => <Short>{metadata.actor}</Short> },
  ];
  return (
    <Table
      caption="Latest events"
      columns={columns}
      rows={events}
      keyOf={({ id }) => id}
      empty="Nothing has happened yet."
    />
  );
}
