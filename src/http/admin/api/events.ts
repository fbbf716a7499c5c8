import { z } from 'zod';
import {
  type EventPage,
  findEvent,
  instantNamed,
  pageEvents,
  positionNamed,
  everyEvent,
  showEvent,
} from '../../../application/ip-control/history.ts';
import { openLongReads } from '../../../application/operations/long-reads.ts';
import { verifyStream } from '../../../application/operations/verify.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import type { RecordedEvent } from '../../../kernel/event.ts';
import { invalid, problems } from '../../problems.ts';
import type { Route } from '../../route.ts';
import { mayDo, scopeMissing } from '../access.ts';
import { type AdminApi, type AdminOperation, adminRoute, writePiece } from './call.ts';
import { ADMIN_PROBLEMS, all, allOf, one, pageFields, pageOf } from './shapes.ts';

const NDJSON = 'application/x-ndjson';
const EVENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const event = z.strictObject({
  position: z.string(),
  stream: z.string(),
  revision: z.string(),
  id: z.string(),
  type: z.string(),
  at: z.string(),
  actor: z.string(),
  schema: z.int().positive(),
  request_id: z.string(),
  causation_id: z.string(),
  hash: z.string(),
  previous_hash: z.string(),
  data: z.record(z.string(), z.unknown()),
});

const list = {
  method: 'GET',
  path: '/events',
  scope: 'admin',
  needs: 'read',
  request: {
    query: z.strictObject({
      stream: z.string().max(200).optional(),
      type: z.string().max(100).optional(),
      actor: z.string().max(300).optional(),
      from: z.string().max(64).meta({ format: 'date-time' }).optional(),
      to: z.string().max(64).meta({ format: 'date-time' }).optional(),
      ...pageFields,
    }),
  },
  /** A page of those that fit may be empty, and others follow all the same: `next_after` says so. */
  answers: { 200: pageOf(event), ...ADMIN_PROBLEMS },
  /** With `Accept: application/x-ndjson`: all of them, one a line; needs `events:export`. */
  otherTypes: [NDJSON],
} as const satisfies AdminOperation;

const show = {
  method: 'GET',
  path: '/events/{position}',
  scope: 'admin',
  needs: 'read',
  request: { params: z.strictObject({ position: z.string() }) },
  answers: { 200: one(event), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const verify = {
  method: 'GET',
  path: '/verify',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject({ stream: z.string({ error: 'must be the name of a stream.' }).min(1).max(200) }) },
  answers: {
    200: one(z.strictObject({ stream: z.string(), events: z.int().positive(), problems: z.array(z.string()) })),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

const projections = {
  method: 'GET',
  path: '/projections',
  scope: 'admin',
  needs: 'read',
  request: {},
  answers: {
    200: all(
      z.strictObject({ name: z.string(), version: z.int().positive(), position: z.string(), behind: z.string() }),
    ),
    ...ADMIN_PROBLEMS,
  },
} as const satisfies AdminOperation;

/** What has happened, whether that is true, and how far the views are. @public what describes the API is made from it */
export const EVENT_OPERATIONS: readonly AdminOperation[] = [list, show, verify, projections];

/** What has happened, whether that is true, and how far the views are, carried out. */
export function eventRoutes(api: AdminApi): readonly Route[] {
  const logReads = openLongReads();
  return [
    adminRoute(list, api, async ({ application, query, accepts, principal, context: { requestId }, signal }) => {
      const { stream, type, actor, limit, after } = query;
      const from = query.from === undefined ? undefined : instantNamed(query.from);
      const to = query.to === undefined ? undefined : instantNamed(query.to);
      const behind = after === undefined ? undefined : positionNamed(after);
      const errors = {
        ...(query.from !== undefined && from === undefined ? { from: [NOT_AN_INSTANT] } : {}),
        ...(query.to !== undefined && to === undefined ? { to: [NOT_AN_INSTANT] } : {}),
        ...(type !== undefined && !application.eventTypes.includes(type) ? { type: ['is no type of event.'] } : {}),
        ...(after !== undefined && behind === undefined ? { after: ['must be a position of the log.'] } : {}),
      };
      if (Object.keys(errors).length > 0) return invalid(errors);
      const filter = { stream, type, actor, from, to, after: behind };
      if (!accepts.includes(NDJSON)) {
        const read = () => pageEvents(filter, limit, application, signal);
        // A stream is read from its beginning; a page of the log looks through a bounded part of it.
        const page = await (stream === undefined ? read() : logReads(signal, read));
        return page === undefined ? problems.unavailable : pageAnswerOf(page);
      }
      if (!mayDo(principal, 'events:export')) return scopeMissing('events:export');
      api.log.info({ requestId, account: principal.account, filter: query }, 'events are exported');
      return {
        headers: { 'Content-Type': NDJSON },
        send: async (response) => {
          for await (const page of everyEvent(filter, application, signal)) {
            const lines = page.map((found) => `${JSON.stringify(eventRow(found))}\n`).join('');
            await writePiece(response, lines);
          }
          response.end();
        },
      };
    }),
    adminRoute(show, api, async ({ application, params, principal, signal }) => {
      const position = positionNamed(params.position);
      if (position !== undefined) return shownEvent(await showEvent(position, application));
      if (!EVENT_ID.test(params.position)) return problems.notFound;
      // It takes as long as taking the whole log along.
      if (!mayDo(principal, 'events:export')) return scopeMissing('events:export');
      const find = () => findEvent(params.position.toLowerCase(), application, signal).then(shownEvent);
      return (await logReads(signal, find)) ?? problems.unavailable;
    }),
    adminRoute(verify, api, async ({ application, query: { stream }, signal }) => {
      const stored = await application.storeAsStored();
      const verified = await logReads(signal, () => verifyStream(stream, stored, signal));
      if (verified === undefined) return problems.unavailable;
      return isRefusal(verified) ? verified : { data: verified };
    }),
    adminRoute(projections, api, async ({ application }) => {
      const status = await application.projections.status();
      return allOf(status, ({ name, version, position, behind }) => ({
        name,
        version,
        position: String(position),
        behind: String(behind),
      }));
    }),
  ];
}

function shownEvent(found: RecordedEvent | undefined) {
  return found === undefined ? problems.notFound : { data: eventRow(found) };
}

const NOT_AN_INSTANT = 'must be an instant with an offset, such as 2026-11-27T20:50:00Z.';

function pageAnswerOf({ events, nextAfter }: EventPage) {
  return { data: events.map(eventRow), meta: { next_after: nextAfter === undefined ? null : String(nextAfter) } };
}

/** An event as the API tells it, and as files of events hold it. */
export function eventRow({ id, stream, revision, position, type, data, metadata }: RecordedEvent) {
  return {
    position: String(position),
    stream,
    revision: String(revision),
    id,
    type,
    at: metadata.at,
    actor: metadata.actor,
    schema: metadata.schema,
    request_id: metadata.$correlationId,
    causation_id: metadata.$causationId,
    hash: metadata.hash,
    previous_hash: metadata.previousHash,
    data,
  };
}
