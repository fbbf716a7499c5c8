import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { Operation } from '../../../../application/ip-control/operations.ts';
import type { ListOutcome, RouterHistory } from '../../../../application/ip-control/region-standing.ts';
import type { RegionEvent } from '../../../../events/ip-control/region.ts';
import type { RecordedEvent } from '../../../../kernel/event.ts';
import type { Crumb, Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { ActionButton, Form } from '../parts/form.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, countOf, exact, When } from '../parts/text.tsx';
import { differenceAt } from './commit-list.tsx';
import { routerAt, RouterState } from './region-pages.tsx';
import { REGIONS } from './region-parts.tsx';

/** What was asked for on this page, by its number; `undefined` as long as nothing is known of it. */
export type AskedFor = Readonly<{ id: string; operation: Operation | undefined }>;

export type RouterPageView = Readonly<{
  history: RouterHistory;
  now: Temporal.Instant;
  mayOperate: boolean;
  mayWrite: boolean;
  asked: AskedFor | undefined;
}>;

/** One router: how it stands, what the lists' last commits came to on it, and what has happened with it. */
export function routerPage(view: RouterPageView): Page {
  const { history, asked, now } = view;
  const { regionId, name } = history.region;
  const { router } = history.router;
  const base = routerAt(regionId, router);
  const at = asked === undefined ? base : `${base}?operation=${encodeURIComponent(asked.id)}`;
  const parts = {
    standing: <Standing {...view} />,
    outcomes: (
      <Table
        caption="Lists"
        columns={outcomeColumns(now)}
        rows={history.outcomes}
        keyOf={({ commit }) => commit.view.commitSetId}
        empty="None of the latest commits of this region has come to something on this router."
      />
    ),
    happened: (
      <Table
        caption="What has happened"
        columns={EVENT_COLUMNS}
        rows={history.events}
        keyOf={({ id }) => id}
        empty="Nothing has happened with it lately."
      />
    ),
  };
  return {
    title: router,
    crumbs: [REGIONS, { name, href: `/admin/regions/${regionId}` }],
    parts,
    body: (
      <>
        <Live id="standing" topic={`region:${regionId}`} at={at}>
          {parts.standing}
        </Live>
        <Actions view={view} base={base} />
        <h2>What the lists' last commits came to</h2>
        <Live id="outcomes" topic={`region:${regionId}`} at={at}>
          {parts.outcomes}
        </Live>
        <h2>What has happened with it</h2>
        <Live id="happened" topic={`region:${regionId}`} at={at}>
          {parts.happened}
        </Live>
      </>
    ),
  };
}

function Standing({ history: { router, confirmedAt }, now, asked }: RouterPageView): JSX.Element {
  const { upkeep, unsaved, drifted, unowned } = router;
  const when = (at: string | null | undefined): JSX.Element | string =>
    at === null || at === undefined ? 'never' : <When at={at} now={now} />;
  return (
    <>
      {asked === undefined ? null : <Asked asked={asked} />}
      <Facts
        facts={[
          ['State', <RouterState router={router} />],
          ['Driver', router.driver],
          // Of secrets the options hold the names alone.
          ...Object.entries(router.options).map(([name, value]) => [name, <Code>{value}</Code>] as const),
          ['Repair', router.repair ? 'on: what others change in our lists is put right' : 'off'],
          ['Last confirmed commit', when(confirmedAt)],
          ['Last difference', when(upkeep?.driftedAt)],
          ['Last repair', when(upkeep?.repairedAt)],
          ...(unsaved === undefined ? [] : [['Not saved', unsaved] as const]),
          ...(drifted.length === 0 ? [] : [['Drifted lists', <Code>{drifted.join(', ')}</Code>] as const]),
          ...(unowned.length === 0 ? [] : [['Lists of no customer', <Code>{unowned.join(', ')}</Code>] as const]),
        ]}
      />
    </>
  );
}

const KINDS: Readonly<Record<Operation['kind'], string>> = {
  check: 'Check',
  prune: 'Removal of lists of no customer',
  enable: 'Enabling',
  drain: 'Draining',
  commit: 'Commit',
};

function Asked({ asked: { operation } }: Readonly<{ asked: AskedFor }>): JSX.Element {
  if (operation === undefined) return <Note state="busy">It is asked for, and about to begin.</Note>;
  const { kind, state, result } = operation;
  const name = KINDS[kind];
  if (state === 'running') return <Note state="busy">{`${name}: under way. What comes of it is shown here.`}</Note>;
  return <Note state={state === 'succeeded' ? 'ok' : 'bad'}>{`${name}: ${resultText(result)}`}</Note>;
}

/** What a check has found and done, in a sentence. */
function resultText(result: object | null): string {
  const { lists, underWay, drifted, repaired, unowned, removed, problems, phase } = Object(result) as Readonly<
    Record<string, unknown>
  >;
  const told = [
    typeof phase === 'string' ? `the router is ${phase}` : '',
    typeof lists === 'number' ? `${countOf(lists, 'list')} compared` : '',
    typeof underWay === 'number' && underWay > 0 ? `${count(underWay)} left to commits under way` : '',
    ...(
      [
        [drifted, 'drifted'],
        [repaired, 'put right'],
        [unowned, 'of no customer'],
        [removed, 'removed'],
      ] as const
    ).map(([value, word]) => (names(value).length === 0 ? '' : `${count(names(value).length)} ${word}`)),
    ...names(problems).map(String),
  ];
  return `${told.filter((text) => text !== '').join('; ')}.`;
}

function names(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function Actions({ view, base }: Readonly<{ view: RouterPageView; base: string }>): JSX.Element | null {
  const { mayOperate, mayWrite, history } = view;
  if (!mayOperate && !mayWrite) return null;
  const { phase, unowned, repair } = history.router;
  return (
    <div class="inline wrap">
      {mayOperate ? <ActionButton action={`${base}/test`} id="test" label="Test connection" /> : null}
      {mayOperate && phase !== 'disabled' ? (
        <ActionButton action={`${base}/check`} id="check" label="Check now" />
      ) : null}
      {mayOperate && unowned.length > 0 ? (
        <a class="button" href={`${base}/prune`}>
          Remove lists of no customer
        </a>
      ) : null}
      {!mayOperate ? null : phase === 'disabled' ? (
        <ActionButton action={`${base}/enable`} id="enable" label="Enable" />
      ) : (
        <ActionButton action={`${base}/disable`} id="disable" label="Disable" />
      )}
      {mayOperate ? (
        <a class="button" href={`${base}/drain`}>
          Take all lists off
        </a>
      ) : null}
      {mayWrite ? (
        <ActionButton
          action={`${base}/repair`}
          id="repair"
          label={repair ? 'Turn repair off' : 'Turn repair on'}
          fields={{ repair: String(!repair) }}
        />
      ) : null}
      {mayWrite ? (
        <a class="button" href={`${base}/remove`}>
          Remove router
        </a>
      ) : null}
    </div>
  );
}

const OUTCOMES = {
  confirmed: ['ok', 'confirmed'],
  failed: ['bad', 'failed'],
  unknown: ['bad', 'not known'],
  skipped: ['off', 'passed by'],
} as const;

/** What a commit came to on a router. */
export function OutcomeBadge({ outcome }: Readonly<{ outcome: ListOutcome['outcome'] }>): JSX.Element {
  const [state, word] = OUTCOMES[outcome.result];
  const isAsItWas = outcome.untouched && outcome.result === 'confirmed';
  return <Badge state={state}>{isAsItWas ? `${word}, nothing to change` : word}</Badge>;
}

function outcomeColumns(now: Temporal.Instant): readonly Column<ListOutcome>[] {
  return [
    {
      key: 'customer',
      name: 'Customer',
      cell: ({ commit: { customer, view } }) => <a href={`/admin/customers/${view.customerId}`}>{String(customer)}</a>,
    },
    { key: 'list', name: 'List', cell: ({ commit: { view } }) => <Code>{view.list}</Code> },
    {
      key: 'at',
      name: 'Commit',
      cell: ({ commit: { view } }) => (
        <a href={`/admin/commits/${view.commitSetId}`}>
          <When at={view.completedAt ?? view.requestedAt} now={now} />
        </a>
      ),
    },
    { key: 'outcome', name: 'Outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
    { key: 'prefixes', name: 'Prefixes', isNumber: true, cell: ({ commit }) => commit.view.content?.prefixes ?? null },
    { key: 'milliseconds', name: 'ms', isNumber: true, cell: ({ outcome }) => outcome.milliseconds },
    { key: 'because', name: 'Because', cell: ({ outcome }) => outcome.because ?? null },
    {
      key: 'difference',
      name: 'Difference',
      isHeadingHidden: true,
      cell: ({ commit: { view } }) => <a href={differenceAt(view)}>Difference now</a>,
    },
  ];
}

const EVENT_COLUMNS: readonly Column<RecordedEvent<RegionEvent>>[] = [
  { key: 'at', name: 'When', cell: ({ metadata }) => exact(metadata.at) },
  { key: 'type', name: 'Event', cell: ({ type }) => type },
  { key: 'what', name: 'What', cell: whatOf },
  { key: 'by', name: 'By', cell: ({ metadata }) => <Code>{metadata.actor}</Code> },
];

function whatOf(event: RecordedEvent<RegionEvent>): JSX.Element | string | null {
  switch (event.type) {
    case 'DriftDetected': {
      const { list, missing, extra } = event.data;
      return (
        <>
          <Code>{list}</Code>: {countOf(missing, 'prefix').replace(/xs$/, 'xes')} missing, {count(extra)} too many
        </>
      );
    }
    case 'DriftRepaired':
      return <Code>{event.data.list}</Code>;
    case 'UnownedListsSeen':
      return event.data.lists.length === 0 ? 'none any more' : <Code>{event.data.lists.join(', ')}</Code>;
    case 'RouterNotSaved':
      return event.data.because;
    case 'RouterCaughtUp':
      return `${countOf(event.data.lists, 'list')} compared, ${count(event.data.changed)} changed`;
    case 'RouterChecked':
      return resultText(event.data);
    case 'RouterRepairChosen':
      return event.data.repair ? 'on' : 'off';
    case 'RouterReconfigured':
      return (
        <Code>
          {Object.entries(event.data.options)
            .map(([name, value]) => `${name}=${value}`)
            .join(' ')}
        </Code>
      );
    case 'RouterDrained':
      return `${countOf(event.data.removed.length, 'list')} taken off`;
    case 'DeployPolicyChosen':
    case 'RegionCreated':
    case 'RegionRemovalBegan':
    case 'RegionRemovalCalledOff':
    case 'RouterAdded':
    case 'RouterCheckRequested':
    case 'RouterDisabled':
    case 'RouterDrainRequested':
    case 'RouterEnabled':
    case 'RouterRemoved':
    case 'RouterSaved':
      return null;
  }
}

/** Asks once more before lists of no customer are removed from a router. */
export function prunePage({ region, router }: Pick<RouterHistory, 'region' | 'router'>): Page {
  const base = routerAt(region.regionId, router.router);
  if (router.unowned.length === 0) {
    return {
      title: 'No lists of no customer',
      crumbs: routerCrumbs({ region, router }),
      body: (
        <p class="empty">
          Every list with our prefix on {router.router} belongs to a customer, as it was last seen. Others are found by{' '}
          <a href={base}>a check</a>.
        </p>
      ),
    };
  }
  return {
    title: `Remove ${countOf(router.unowned.length, 'list')} of no customer`,
    crumbs: routerCrumbs({ region, router }),
    body: (
      <>
        <p>These lists have our prefix and belong to no customer. They leave {router.router} for good:</p>
        <ul>
          {router.unowned.map((list) => (
            <li key={list}>
              <Code>{list}</Code>
            </li>
          ))}
        </ul>
        <Form action={`${base}/prune`} errors={{}} submit="Remove them" cancel={base} isDangerous />
      </>
    ),
  };
}

/** Asks once more before every list of ours leaves a router. */
export function drainPage({ region, router, outcomes }: RouterHistory): Page {
  const base = routerAt(region.regionId, router.router);
  const held = outcomes.filter(({ outcome, commit }) => outcome.result === 'confirmed' && hasContent(commit)).length;
  return {
    title: `Take all lists off ${router.router}`,
    crumbs: routerCrumbs({ region, router }),
    body: (
      <>
        <p>
          Commits pass {router.router} by, and once those under way have ended every list of ours leaves it
          {held === 0 ? '' : `, at least ${countOf(held, 'list')} with addresses in force`}. It drops nothing for our
          customers then.
        </p>
        <p>Enabling it puts everything back; removing it afterwards leaves nothing of ours behind.</p>
        <Form action={`${base}/drain`} errors={{}} submit="Take them off" cancel={base} isDangerous />
      </>
    ),
  };
}

/** Asks once more before commits pass a router by for good. */
export function removeRouterPage({ region, router, outcomes }: RouterHistory): Page {
  const base = routerAt(region.regionId, router.router);
  const held = outcomes.filter(({ outcome, commit }) => outcome.result === 'confirmed' && hasContent(commit)).length;
  const left = region.routers.length - 1;
  return {
    title: `Remove ${router.router}`,
    crumbs: routerCrumbs({ region, router }),
    body: (
      <>
        <p>
          {held === 0
            ? 'What it holds stays on it as it is.'
            : `${held === 1 ? 'At least 1 list stays' : `At least ${count(held)} lists stay`} on it as it is.`}{' '}
          Commits pass it by for good, and nothing that others change on it is put right any more.
        </p>
        <p>
          {left === 0
            ? `${region.name} has no router then: what customers change there has nowhere to go.`
            : `${countOf(left, 'router')} of ${region.name} ${left === 1 ? 'goes' : 'go'} on.`}
        </p>
        <Form action={`${base}/remove`} errors={{}} submit={`Remove ${router.router}`} cancel={base} isDangerous />
      </>
    ),
  };
}

function hasContent({ view }: ListOutcome['commit']): boolean {
  return (view.content?.prefixes ?? 0) > 0;
}

function routerCrumbs({ region, router }: Pick<RouterHistory, 'region' | 'router'>): readonly Crumb[] {
  return [
    REGIONS,
    { name: region.name, href: `/admin/regions/${region.regionId}` },
    { name: router.router, href: routerAt(region.regionId, router.router) },
  ];
}
