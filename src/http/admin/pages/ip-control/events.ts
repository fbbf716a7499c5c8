import type { Response } from 'express';
import {
  type EventBrowserDependencies,
  eventInContext,
  STREAM_KINDS,
  streamMeant,
} from '../../../../application/ip-control/event-browser.ts';
import {
  type EventFilter,
  everyEvent,
  instantNamed,
  pageEvents,
  positionNamed,
} from '../../../../application/ip-control/history.ts';
import { type LongReads, openLongReads } from '../../../../application/operations/long-reads.ts';
import { verifyStream } from '../../../../application/operations/verify.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { Log } from '../../../../ports/log.ts';
import { mayDo } from '../../access.ts';
import { writePiece } from '../../api/call.ts';
import { eventRow } from '../../api/events.ts';
import type { Live } from '../../live.ts';
import { untilClosed } from '../../../until-closed.ts';
import {
  type Fields,
  fieldOf,
  notFoundPage,
  type PageAnswer,
  type PageAsk,
  type PageRoute,
  TOO_MANY_READS,
} from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { ROWS_MAX } from '../parts/list.tsx';
import { eventListPage, eventPage, verifiedPage } from './event-pages.tsx';

export type EventPagesDependencies = EventBrowserDependencies &
  Readonly<{ live: Pick<Live, 'newestEvents'>; log: Log }>;

const NDJSON = 'application/x-ndjson';

/** The log as an auditor reads it. */
export function eventPages(application: EventPagesDependencies): readonly PageRoute[] {
  const longReads = openLongReads();
  return [
    { method: 'GET', path: '/events', scope: 'read', handle: (ask) => list(ask, application, longReads) },
    {
      method: 'GET',
      path: '/events/export',
      scope: 'events:export',
      isFile: true,
      handle: (ask) => exported(ask, application),
    },
    {
      method: 'GET',
      path: '/events/verify',
      scope: 'read',
      handle: async ({ query, response }) => {
        const stream = fieldOf(query, 'stream');
        const [stored, signal] = [await application.storeAsStored(), untilClosed(response)];
        const verified = await longReads(signal, () => verifyStream(stream, stored, signal));
        if (verified === undefined) return { problem: TOO_MANY_READS };
        return isRefusal(verified) ? notFoundPage(verified.because) : { page: verifiedPage(verified) };
      },
    },
    {
      method: 'GET',
      path: '/events/{position}',
      scope: 'read',
      handle: async ({ params }) => {
        const position = positionNamed(params['position'] ?? '');
        const found = position === undefined ? undefined : await eventInContext(position, application);
        return found === undefined ? notFoundPage('There is no such event.') : { page: eventPage(found) };
      },
    },
  ];
}

async function list(
  { query: fields, principal, response }: PageAsk,
  application: EventPagesDependencies,
  longReads: LongReads,
): Promise<PageAnswer> {
  const asked = Object.entries(fields).some(([name, value]) => name !== 'open' && value !== '');
  const { filter, errors } = await filterOf(fields, application);
  const isWrong = Object.keys(errors).length > 0;
  const isRead = asked && !isWrong;
  const signal = untilClosed(response);
  const read = () => pageEvents(filter, ROWS_MAX, application, signal);
  // A stream is read from its beginning; a page of the log looks through a bounded part of it.
  const found = !isRead ? undefined : await (filter.stream === undefined ? read() : longReads(signal, read));
  if (isRead && found === undefined) return { problem: TOO_MANY_READS };
  const newest = asked ? [] : application.live.newestEvents().slice(0, ROWS_MAX);
  return {
    page: eventListPage({
      fields,
      errors,
      types: application.eventTypes.toSorted(),
      events: found?.events ?? newest,
      stream: isWrong ? undefined : filter.stream,
      isNewest: !asked,
      nextAfter: found?.nextAfter,
      mayExport: mayDo(principal, 'events:export'),
    }),
  };
}

async function exported(
  { query, principal: { account }, context: { requestId }, response }: PageAsk,
  application: EventPagesDependencies,
): Promise<PageAnswer> {
  const { filter, errors } = await filterOf(query, application);
  const [wrong] = Object.values(errors);
  if (wrong !== undefined) return { problem: { status: 422, title: 'Not understood', because: wrong } };
  application.log.info({ requestId, account, filter: query }, 'events are exported');
  return {
    headers: { 'Content-Type': NDJSON, 'Content-Disposition': 'attachment; filename="events.ndjson"' },
    send: async (to: Response) => {
      for await (const page of everyEvent(filter, application, untilClosed(response)))
        await writePiece(to, page.map((event) => `${JSON.stringify(eventRow(event))}\n`).join(''));
      to.end();
    },
  };
}

/** What the form asks for, and what is wrong with it, by field. */
async function filterOf(
  fields: Fields,
  application: EventPagesDependencies,
): Promise<Readonly<{ filter: EventFilter; errors: FormErrors }>> {
  const given = (name: string): string | undefined => fieldOf(fields, name).trim() || undefined;
  const [of, type, after] = [given('of'), given('type'), given('after')];
  const [from, to] = [instantOf(given('from'), 'T00:00:00Z'), instantOf(given('to'), 'T23:59:59.999Z')];
  const kind = STREAM_KINDS.find((known) => known === of);
  const stream = kind === undefined ? undefined : await streamMeant(kind, given('name') ?? '', application);
  const isKnown = typeof stream === 'string';
  const behind = after === undefined ? undefined : positionNamed(after);
  const errors = {
    ...(isKnown || stream === undefined ? {} : { name: sentence(stream.because) }),
    ...(kind === undefined && given('name') !== undefined ? { name: 'Say what the name is of.' } : {}),
    ...(type !== undefined && !application.eventTypes.includes(type) ? { type: `${type} is no type of event.` } : {}),
    ...(given('from') !== undefined && from === undefined ? { from: `From: ${NOT_AN_INSTANT}` } : {}),
    ...(given('to') !== undefined && to === undefined ? { to: `To: ${NOT_AN_INSTANT}` } : {}),
    ...(after !== undefined && behind === undefined ? { after: 'After: it must be a position of the log.' } : {}),
  };
  const filter = { stream: isKnown ? stream : undefined, type, actor: given('actor'), from, to };
  return { filter: { ...filter, after: behind }, errors };
}

/** A day is meant from its beginning, or to its end. */
function instantOf(text: string | undefined, restOfDay: string) {
  if (text === undefined) return undefined;
  return instantNamed(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}${restOfDay}` : text);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const NOT_AN_INSTANT = 'a day (2026-11-28) or an instant with an offset (2026-11-28T20:50:00Z) is understood.';
