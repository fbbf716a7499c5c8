import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { PoolDecision } from '../../../../application/worker-pools/pool-overview.ts';
import type { PoolDay, PoolUsage } from '../../../../application/worker-pools/pool-usage.ts';
import type { WorkerNow } from '../../../../application/worker-pools/workers.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import type { Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { ActionButton, Field, Form, type FormErrors } from '../parts/form.tsx';
import { List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, exact, Short, span, When } from '../parts/text.tsx';
import { DayBars } from './day-bars.tsx';
import { addressOf, hours, LIST, MarkedUsed, mostOf, ofMost, PoolState } from './pool-parts.tsx';

export type PoolPageView = Readonly<{
  pool: WorkerPoolView;
  /** Of this month, and of those before it, the newest first. */
  usage: readonly PoolUsage[];
  /** A month of days, the oldest first. */
  days: readonly PoolDay[];
  workers: readonly WorkerNow[];
  /** Of the list of its workers. */
  query: ListQuery;
  decisions: readonly PoolDecision[];
  mayWrite: boolean;
  mayOperate: boolean;
  now: Temporal.Instant;
  errors: FormErrors;
}>;

/** One pool: what it is, what runs in it, and what was decided about it. */
export function poolPage(view: PoolPageView): Page {
  const { pool, mayWrite, mayOperate, errors } = view;
  const { name } = pool.record;
  const base = addressOf(name);
  const standing = <PoolStanding view={view} />;
  return {
    title: name,
    crumbs: [LIST],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    parts: { pool: standing },
    body: (
      <>
        <div class="filter above">
          {mayWrite ? <SwitchPool pool={pool} base={base} /> : null}
          {mayWrite ? (
            <a class="button" href={`${base}/edit`}>
              Edit
            </a>
          ) : null}
          {mayWrite ? (
            <a class="button" href={`${base}/delete`}>
              Delete pool
            </a>
          ) : null}
        </div>
        <Live id="pool" topic={`pool:${name}`} at={listAddress(base, view.query.fields, {})}>
          {standing}
        </Live>
        {mayOperate ? (
          <>
            <h2>Launch workers</h2>
            <Form action={`${base}/launch`} errors={errors} submit="Launch">
              <Field
                name="count"
                label="How many"
                type="number"
                value="1"
                errors={errors}
                isRequired
                more={{ min: 1, max: 1000 }}
              />
            </Form>
          </>
        ) : null}
        <h2>Specifications</h2>
        <pre class="data">{JSON.stringify(pool.record, undefined, 2)}</pre>
      </>
    ),
  };
}

function SwitchPool({ pool: { record }, base }: Readonly<{ pool: WorkerPoolView; base: string }>): JSX.Element {
  return record.enabled ? (
    <ActionButton action={`${base}/disable`} id="disable-pool" label="Disable" isDangerous />
  ) : (
    <ActionButton action={`${base}/enable`} id="enable-pool" label="Enable" />
  );
}

function PoolStanding({ view }: Readonly<{ view: PoolPageView }>): JSX.Element {
  const { pool, now, usage, days } = view;
  const { record, active, scopes, failure, createdAt } = pool;
  return (
    <>
      {failure === null ? null : (
        <Note state="bad">{`The newest launch failed at ${exact(failure.at)}: ${failure.because} (${failure.code}).`}</Note>
      )}
      <div class="columns">
        <Facts
          facts={[
            ['State', <PoolState pool={pool} />],
            ['Active workers', ofMost(count(active.length), mostOf(record.limits.max_active_instances))],
            ['Provider, account', `${record.specifications.provider_type}, ${record.provider_account}`],
            ['Architectures', record.architectures.join(', ')],
            ['Scopes', scopes.length === 0 ? 'none' : <ScopeLinks scopes={scopes} />],
            ['Created', <When at={createdAt} now={now} />],
          ]}
        />
        <Usage usage={usage} />
      </div>
      <h2>Hours a day</h2>
      <DayBars days={days} />
      <h2>Decisions</h2>
      <Table
        caption="Decisions about instances"
        columns={DECISION_COLUMNS}
        rows={view.decisions}
        keyOf={({ position }) => String(position)}
        empty="Nothing was decided yet: a decision comes with the first work that waits for the pool."
      />
      <h2>Workers</h2>
      <Workers view={view} />
    </>
  );
}

function ScopeLinks({ scopes }: Readonly<{ scopes: readonly string[] }>): JSX.Element {
  return (
    <>
      {scopes.map((scope, index) => (
        <>
          {index === 0 ? '' : ', '}
          <a href={`/admin/scopes/${encodeURIComponent(scope)}`}>{scope}</a>
        </>
      ))}
    </>
  );
}

const BAR_PIXELS = 120;

/** The hours of the months, with bars that are as long as they are many. */
function Usage({ usage }: Readonly<{ usage: readonly PoolUsage[] }>): JSX.Element {
  const target = usage[0]?.target_max_seconds_per_month ?? null;
  const most = Math.max(1, ...usage.map(({ used_seconds: used }) => used));
  const columns: readonly Column<PoolUsage>[] = [
    { key: 'month', name: 'Month', cell: ({ month }) => month },
    {
      key: 'used',
      name: 'Hours',
      isNumber: true,
      cell: ({ used_seconds: used }) => <MarkedUsed used={used} target={target} shown={hours(used)} />,
    },
    {
      key: 'projected',
      name: 'Projected',
      isNumber: true,
      cell: ({ projected_seconds: projected }) =>
        projected === null ? null : <MarkedUsed used={projected} target={target} shown={hours(projected)} />,
    },
    {
      key: 'bar',
      name: 'Share',
      cell: ({ used_seconds: used }) => (
        <svg class="bars" width={BAR_PIXELS} height="10" aria-hidden="true">
          <rect width={Math.round((used / most) * BAR_PIXELS)} height="10" />
        </svg>
      ),
    },
  ];
  return (
    <div>
      <Table
        caption="Hours of instances"
        columns={columns}
        rows={usage}
        keyOf={({ month }) => month}
        empty="Nothing."
      />
      <p class="dim">{target === null ? 'No target for a month.' : `Target for a month: ${hours(target)} h.`}</p>
    </div>
  );
}

const DECISION_COLUMNS: readonly Column<PoolDecision>[] = [
  {
    key: 'at',
    name: 'Time',
    cell: ({ data }) => <time datetime={data.decidedAt}>{exact(data.decidedAt)}</time>,
  },
  { key: 'what', name: 'What', cell: (decision) => <Decided decision={decision} /> },
];

function Decided({ decision: { data } }: Readonly<{ decision: PoolDecision }>): JSX.Element {
  const { launches, terminations, refusals, nothing } = data;
  return (
    <ul class="plain">
      {launches.map(({ scope, architecture, count: many, because }) => (
        <li key={`launch ${scope} ${architecture}`}>
          <Badge state="busy">launch</Badge> {`${count(many)} ${architecture} for ${scope}: ${because}`}
        </li>
      ))}
      {terminations.map(({ worker, afterTask, because }) => (
        <li key={`end ${worker}`}>
          <Badge state="off">end</Badge> {`${worker}${afterTask ? ', after its task' : ''}: ${because}`}
        </li>
      ))}
      {refusals.map(({ scope, architecture, unmet, because }) => (
        <li key={`refusal ${scope} ${architecture}`}>
          <Badge state="warn">not launched</Badge> {`${count(unmet)} ${architecture} for ${scope}: ${because}`}
        </li>
      ))}
      {nothing === undefined ? null : (
        <li>
          <Badge state="off">nothing</Badge> {nothing.because}
        </li>
      )}
    </ul>
  );
}

function Workers({ view: { pool, query, workers, mayOperate, now } }: Readonly<{ view: PoolPageView }>): JSX.Element {
  const columns: readonly Column<WorkerNow>[] = [
    {
      key: 'name',
      name: 'Worker',
      sortBy: ({ view: { worker } }) => worker,
      cell: ({ view: { worker } }) => <Code>{worker}</Code>,
    },
    {
      key: 'phase',
      name: 'Phase',
      sortBy: ({ view: { phase } }) => phase,
      cell: ({ view: worker }) => <Phase worker={worker} />,
    },
    { key: 'run', name: 'Run', cell: ({ view: { run } }) => (run === null ? null : <Short>{run}</Short>) },
    {
      key: 'runtime',
      name: 'Runs for',
      sortBy: ({ runtimeSeconds }) => runtimeSeconds,
      cell: ({ runtimeSeconds }) => (runtimeSeconds === null ? null : span(runtimeSeconds * 1000)),
    },
    {
      key: 'task',
      name: 'Task',
      sortBy: ({ view: { task } }) => task?.task ?? null,
      cell: ({ view: { task } }) => (task === null ? null : `${task.task} of ${task.scope}`),
    },
    {
      key: 'since',
      name: 'Since',
      cell: ({ view: { task, idleSince } }) => {
        const since = task?.startedAt ?? idleSince;
        return since === null ? null : <When at={since} now={now} />;
      },
    },
    { key: 'trouble', name: 'Ending, failure', cell: ({ view: worker }) => troubleOf(worker) },
    ...(mayOperate ? [TERMINATE] : []),
  ];
  return (
    <List
      path={addressOf(pool.record.name)}
      query={query}
      noun="worker"
      caption="Workers"
      columns={columns}
      rows={workers}
      keyOf={({ view: { worker } }) => worker}
      empty="No workers: they come with work that waits, or are launched below."
    />
  );
}

const TERMINATE: Column<WorkerNow> = {
  key: 'actions',
  name: 'Actions',
  isHeadingHidden: true,
  cell: ({ view: { worker, pool, run, ending } }) => {
    if (run === null || pool === null || ending?.forced === true) return '';
    const own = `${addressOf(pool)}/workers/${encodeURIComponent(worker)}`;
    return (
      <span class="inline">
        {ending === null ? (
          <a
            id={`terminate-${worker}`}
            class="button"
            href={`${own}/terminate`}
            aria-label={`End after its task: ${worker}`}
          >
            End after its task
          </a>
        ) : null}
        <a id={`end-${worker}`} class="button danger" href={`${own}/end`} aria-label={`End now: ${worker}`}>
          End now
        </a>
      </span>
    );
  },
};

function Phase({ worker: { phase, silentSince, task } }: Readonly<{ worker: WorkerNow['view'] }>): JSX.Element {
  if (silentSince !== null) return <Badge state="bad">silent</Badge>;
  switch (phase) {
    case 'stopped':
      return <Badge state="off">stopped</Badge>;
    case 'launching':
    case 'booting':
      return <Badge state="busy">{phase}</Badge>;
    case 'ready':
      return <Badge state="ok">{task === null ? 'idle' : 'busy'}</Badge>;
  }
}

function troubleOf({ ending, failure, callFailed }: WorkerNow['view']): string | null {
  if (ending !== null) return `ends: ${ending.because}`;
  if (callFailed !== null) return `${callFailed.call} fails: ${callFailed.because}`;
  return failure === null ? null : `${failure.because} (${failure.code})`;
}
