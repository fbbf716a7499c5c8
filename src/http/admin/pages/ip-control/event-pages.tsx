import type { JSX } from 'preact';
import { type EventInContext, NEAR_POSITIONS, STREAM_KINDS } from '../../../../application/ip-control/event-browser.ts';
import type { RecordedEvent } from '../../../../kernel/event.ts';
import { type Fields, fieldOf, type Page } from '../page.ts';
import { Note } from '../parts/badge.tsx';
import type { FormErrors } from '../parts/form.tsx';
import { Facts } from '../parts/facts.tsx';
import { listAddress, ROWS_MAX } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, exact, Short } from '../parts/text.tsx';

const PATH = '/admin/events';

/** What of an event is shown in a list of many; on its own page all of it is, up to a limit that keeps the page light. */
const LISTED_CHARACTERS = 4_000;
const SHOWN_CHARACTERS = 200_000;
const SUMMARY_CHARACTERS = 90;

export type EventListView = Readonly<{
  fields: Fields;
  errors: FormErrors;
  types: readonly string[];
  events: readonly RecordedEvent[];
  /** The stream that was picked, by its name in the log. */
  stream: string | undefined;
  /** The newest ones, live; otherwise those that fit, in the order of the log. */
  isNewest: boolean;
  /** Behind this position there may be more that fit. */
  nextAfter: bigint | undefined;
  mayExport: boolean;
}>;

/** The log: the newest of it, or what fits a filter. */
export function eventListPage(view: EventListView): Page {
  const { fields, isNewest, errors } = view;
  const list = <EventList view={view} />;
  return {
    title: 'Events',
    parts: { 'event-list': list },
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        <EventFilter view={view} />
        <Actions view={view} />
        {isNewest ? (
          <Live id="event-list" topic="events" at={listAddress(PATH, fields, {})}>
            {list}
          </Live>
        ) : (
          list
        )}
      </>
    ),
  };
}

function EventFilter({ view: { fields, types, errors } }: Readonly<{ view: EventListView }>): JSX.Element {
  const value = (name: string): string => fieldOf(fields, name);
  const wrong = Object.values(errors);
  return (
    <form class="filter labelled" method="get" action={PATH} role="search" aria-label="Events">
      <Pick name="of" label="Stream of" value={value('of')} options={STREAM_KINDS} any="everything" />
      <Text name="name" label="Name or number" value={value('name')} />
      <Pick name="type" label="Type" value={value('type')} options={types} any="all types" />
      <Text name="actor" label="Actor" value={value('actor')} hint="admin:ada" />
      <Text name="from" label="From (UTC)" value={value('from')} hint="2026-11-28" />
      <Text name="to" label="To (UTC)" value={value('to')} hint="2026-11-29" />
      <button>Filter</button>
      {wrong.length === 0 ? null : <Note state="bad">{wrong.join(' ')}</Note>}
    </form>
  );
}

function Text({
  name,
  label,
  value,
  hint,
}: Readonly<{ name: string; label: string; value: string; hint?: string }>): JSX.Element {
  return (
    <label>
      {label}
      <input name={name} value={value} placeholder={hint} autocomplete="off" />
    </label>
  );
}

function Pick({
  name,
  label,
  value,
  options,
  any,
}: Readonly<{ name: string; label: string; value: string; options: readonly string[]; any: string }>): JSX.Element {
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">{any}</option>
        {options.map((option) => (
          <option key={option} value={option} selected={option === value}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What is done with the events of a filter. */
function Actions({ view: { fields, isNewest, stream, mayExport } }: Readonly<{ view: EventListView }>): JSX.Element {
  const areOpen = fieldOf(fields, 'open') === 'all';
  return (
    <p class="actions">
      {isNewest ? <a href={`${PATH}?order=log`}>From the first event on</a> : <a href={PATH}>Newest events</a>}
      <a href={listAddress(PATH, fields, { open: areOpen ? '' : 'all' })}>{areOpen ? 'Close all' : 'Open all'}</a>
      {mayExport ? (
        <a href={listAddress(`${PATH}/export`, fields, { open: '', after: '', order: '' })}>Download as NDJSON</a>
      ) : null}
      {stream === undefined ? null : (
        <a href={`${PATH}/verify?${new URLSearchParams({ stream }).toString()}`}>Verify this stream</a>
      )}
    </p>
  );
}

function EventList({ view: { fields, events, isNewest, nextAfter } }: Readonly<{ view: EventListView }>): JSX.Element {
  const areOpen = fieldOf(fields, 'open') === 'all';
  const empty = isNewest
    ? 'Nothing has happened yet: each change, commit and login will be an event here.'
    : nextAfter === undefined
      ? 'No event fits.'
      : 'No event fits so far; there is more to look through.';
  return (
    <>
      <Table
        caption="Events"
        columns={eventColumns(areOpen)}
        rows={events}
        keyOf={({ position }) => String(position)}
        empty={empty}
      />
      <p class="pager">
        {nextAfter === undefined ? null : (
          <a rel="next" href={listAddress(PATH, fields, { after: String(nextAfter), order: 'log' })}>
            Next {ROWS_MAX}
          </a>
        )}
      </p>
    </>
  );
}

function eventColumns(areOpen: boolean): readonly Column<RecordedEvent>[] {
  return [
    {
      key: 'position',
      name: 'Position',
      isNumber: true,
      cell: ({ position }) => <a href={`${PATH}/${position}`}>{count(position)}</a>,
    },
    { key: 'at', name: 'Time', cell: ({ metadata }) => <Exact at={metadata.at} /> },
    { key: 'actor', name: 'Actor', cell: ({ metadata }) => <Short>{metadata.actor}</Short> },
    { key: 'type', name: 'Type', cell: ({ type }) => type },
    { key: 'stream', name: 'Stream', cell: ({ stream }) => <StreamLink stream={stream} isShort /> },
    { key: 'data', name: 'Data', cell: (event) => <Data event={event} isOpen={areOpen} /> },
  ];
}

function Exact({ at }: Readonly<{ at: string }>): JSX.Element {
  return <time datetime={at}>{exact(at)}</time>;
}

function StreamLink({ stream, isShort }: Readonly<{ stream: string; isShort?: true }>): JSX.Element {
  return (
    <a href={`${PATH}?${new URLSearchParams({ of: 'stream', name: stream }).toString()}`}>
      {isShort === true ? <Short>{stream}</Short> : <Code>{stream}</Code>}
    </a>
  );
}

function Data({ event, isOpen }: Readonly<{ event: RecordedEvent; isOpen: boolean }>): JSX.Element {
  const { position, data } = event;
  const text = JSON.stringify(data, undefined, 2);
  return (
    <details open={isOpen}>
      <summary>{summaryOf(data)}</summary>
      <pre>{text.slice(0, LISTED_CHARACTERS)}</pre>
      {text.length > LISTED_CHARACTERS ? <a href={`${PATH}/${position}`}>… all of it</a> : null}
    </details>
  );
}

/** The plain fields of an event's data in a line. */
function summaryOf(data: object): string {
  const said = Object.entries(data).map(([name, value]) => `${name} ${plainly(value)}`);
  const text = said.join(', ');
  if (text === '') return 'nothing more';
  return text.length > SUMMARY_CHARACTERS ? `${text.slice(0, SUMMARY_CHARACTERS)}…` : text;
}

function plainly(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  return value.length === 1 && typeof value[0] === 'string' ? value[0] : `(${value.length})`;
}

/** One event, with all that is known of it. */
export function eventPage({ event, isIntact, cause, caused, sameRequest }: EventInContext): Page {
  const { position, stream, revision, id, type, data, metadata } = event;
  const text = JSON.stringify(data, undefined, 2);
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['Position', count(position)],
    ['Stream', <StreamLink stream={stream} />],
    ['Revision', count(revision)],
    ['Time', <Exact at={metadata.at} />],
    ['Actor', metadata.actor],
    ['Type', `${type}, schema ${metadata.schema}`],
    ['Id', <Code>{id}</Code>],
    ['Request', <Code>{metadata.$correlationId}</Code>],
    ['Caused by', <Code>{metadata.$causationId}</Code>],
    ['Hash', <Code>{metadata.hash}</Code>],
    ['Hash before it', metadata.previousHash === '' ? 'none: it is the first' : <Code>{metadata.previousHash}</Code>],
  ];
  return {
    title: `Event ${position}: ${type}`,
    crumbs: [{ name: 'Events', href: PATH }],
    body: (
      <>
        {isIntact ? (
          <Note state="ok">
            Its hash was computed again from what is stored: it is the same, and follows the event before it.
          </Note>
        ) : (
          <Note state="bad">Its hash is not that of what is stored: it was altered, or the event before it was.</Note>
        )}
        <Facts facts={facts} />
        <h2>Data</h2>
        <pre class="data">{text.slice(0, SHOWN_CHARACTERS)}</pre>
        {text.length > SHOWN_CHARACTERS ? <p>There is more of it: download it, or read it by the API.</p> : null}
        <Related name="What caused it" rows={cause === undefined ? [] : [cause]} />
        <Related name="What it caused" rows={caused} />
        <Related name="Of the same request" rows={sameRequest} />
        <p class="dim">{`Looked for among ${count(NEAR_POSITIONS)} positions before and behind it.`}</p>
      </>
    ),
  };
}

function Related({ name, rows }: Readonly<{ name: string; rows: readonly RecordedEvent[] }>): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <>
      <h2>{name}</h2>
      <Table
        caption={name}
        columns={eventColumns(false)}
        rows={rows}
        keyOf={({ position }) => String(position)}
        empty="None."
      />
    </>
  );
}

/** What came of checking a stream's hash chain. */
export function verifiedPage({
  stream,
  events,
  problems,
}: Readonly<{ stream: string; events: number; problems: readonly string[] }>): Page {
  return {
    title: `Verified: ${stream}`,
    crumbs: [{ name: 'Events', href: PATH }],
    body: (
      <>
        {problems.length === 0 ? (
          <Note state="ok">{`${count(events)} ${events === 1 ? 'event' : 'events'}: each follows the one before it, and none was altered.`}</Note>
        ) : (
          <Note state="bad">{`${count(problems.length)} wrong among ${count(events)} events.`}</Note>
        )}
        {problems.length === 0 ? null : (
          <ul>
            {problems.slice(0, ROWS_MAX).map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
        <p>
          <StreamLink stream={stream} />
        </p>
        <p class="dim">The whole log, its commits and its evidence are verified by “edgeward verify”.</p>
      </>
    ),
  };
}
