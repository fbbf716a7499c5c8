import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type Collection, CollectionGone, type ReadModels } from '../../ports/read-models.ts';

/** How a router answered the server that leads. */
export type RouterSighting = Readonly<{
  /** When it last did what it was asked; null where it has not yet. */
  seenAt: string | null;
  /** Whether it could be reached and logged in to the last time. */
  isReachable: boolean;
}>;

/** Sightings by the region's number and the router's name, see `sightingKey`. */
export type RouterSightings = ReadonlyMap<string, RouterSighting>;

/** Beside the views, and no view: it follows from no event, and is worth nothing once the router is asked again. */
const NAME = 'router-sightings';
const VERSION = 1;
const SAVE_MILLISECONDS = 2_000;
const ROUTERS_MAX = 100_000;

export function sightingKey(regionId: number, router: string): string {
  return `${regionId}/${router}`;
}

/** What the server that leads has last seen of each router, also when it runs no more. */
export async function readRouterSightings(readModels: ReadModels): Promise<RouterSightings> {
  const collection = await readModels.active(NAME);
  if (collection === undefined) return new Map();
  try {
    const rows = await readModels.list(collection, { prefix: '', limit: ROUTERS_MAX });
    return new Map(rows.map(({ key, json }) => [key, sightingOf(json)]));
  } catch (error) {
    if (error instanceof CollectionGone) return new Map();
    throw error;
  }
}

/** What was seen of a router just now; `seenAt` in milliseconds since 1970. */
type Noted = Readonly<{ seenAt: number | undefined; isReachable: boolean }>;

/** Keeps what is noted of routers where commands can read it, some seconds later. */
export type SightingsKeeper = Readonly<{
  note: (key: string, seen: Noted) => void;
  /** Saves the last of them. */
  stop: () => Promise<void>;
}>;

export function keepRouterSightings(
  readModels: ReadModels,
  { clock, log }: Readonly<{ clock: Pick<Clock, 'wait'>; log: Log }>,
): SightingsKeeper {
  const unsaved = new Map<string, Noted>();
  const stopped = new AbortController();
  let collection: Collection | undefined;

  const saveAll = async (): Promise<void> => {
    if (unsaved.size === 0) return;
    const taken = new Map(unsaved);
    collection ??= (await readModels.active(NAME)) ?? (await begun(readModels));
    const changes = [...taken].map(([key, seen]) => ({ key, json: JSON.stringify(sighted(seen)) }));
    await readModels.save([{ collection, position: 0n, changes }]);
    for (const [key, seen] of taken) if (unsaved.get(key) === seen) unsaved.delete(key);
  };
  /** What could not be saved stays, and is saved with the next. */
  const trySaving = async (): Promise<void> => {
    try {
      await saveAll();
    } catch (error) {
      collection = undefined;
      if (!(error instanceof CollectionGone)) log.warn({ error }, 'what was seen of routers could not be saved');
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await clock.wait(SAVE_MILLISECONDS, stopped.signal).catch(() => undefined);
      await trySaving();
    }
  };
  const running = run();
  return {
    note: (key, noted) => {
      unsaved.set(key, noted);
    },
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

function sightingOf(json: string): RouterSighting {
  const { seenAt, isReachable } = Object(JSON.parse(json)) as Readonly<Record<string, unknown>>;
  return { seenAt: typeof seenAt === 'string' ? seenAt : null, isReachable: isReachable === true };
}

async function begun(readModels: ReadModels): Promise<Collection> {
  const collection = await readModels.begin(NAME, VERSION);
  await readModels.activate(collection);
  return collection;
}

/** Instants take long to render: once for each save is enough. */
function sighted({ seenAt, isReachable }: Noted): RouterSighting {
  return { seenAt: seenAt === undefined ? null : instantText(seenAt), isReachable };
}

function instantText(milliseconds: number): string {
  return Temporal.Instant.fromEpochMilliseconds(milliseconds)
    .toString({ smallestUnit: 'millisecond' })
    .replace('Z', '+00:00');
}
