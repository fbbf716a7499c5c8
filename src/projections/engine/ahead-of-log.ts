import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { Collection, ReadModels, Standing } from '../../ports/read-models.ts';

/**
 * Saved views that have applied events which the log does not hold: it was put back from an older copy, has lost its end,
 * or is another one. `end` is where it ends now.
 */
export type AheadOfLog = Readonly<{ end: bigint; views: readonly Standing[] }>;

export type LogCheck = Readonly<{
  store: Pick<EventStore, 'name' | 'end' | 'eventAt'>;
  readModels: Pick<ReadModels, 'name' | 'standing'>;
  log: Log;
}>;

/** Whether the log holds what a saved view has applied. A view without an anchor is believed as long as the log is that long. */
export async function isHeld(
  { position = BEGINNING, anchor }: Standing,
  store: Pick<EventStore, 'end' | 'eventAt'>,
): Promise<boolean> {
  if (position === BEGINNING) return true;
  if (anchor === undefined) return position <= (await store.end());
  const found = await store.eventAt(anchor.stream, anchor.revision);
  return found?.position === anchor.position && found.hash === anchor.hash;
}

/** Which saved views of these projections, in whatever version, the log does not hold, told in one line of the log; `undefined`: none. */
export async function findAheadOfLog(
  projections: readonly string[],
  { store, readModels, log }: LogCheck,
): Promise<AheadOfLog | undefined> {
  const standings = [...(await readModels.standing(projections)).values()];
  // Those that one projector feeds mostly stand at the same event.
  const known = new Map<string, Promise<boolean>>();
  const views: Standing[] = [];
  for (const standing of standings) {
    const place = `${standing.position} ${standing.anchor?.hash}`;
    const held = known.get(place) ?? isHeld(standing, store);
    known.set(place, held);
    if (!(await held)) views.push(standing);
  }
  if (views.length === 0) return undefined;
  const end = await store.end();
  const newest = views.reduce((most, { position = BEGINNING }) => (position > most ? position : most), BEGINNING);
  log.error(
    { position: String(newest), end: String(end), projections: views.map(({ collection }) => collection.projection) },
    `${store.name}, which ends at ${end}, does not hold the event at ${newest} that the views in ${readModels.name} have applied: ` +
      'it is older than they are, or another log; they are made again from its beginning',
  );
  return { end, views };
}

/** Whether this is the generation of one of them. */
export function isAmong(ahead: AheadOfLog | undefined, { projection, generation }: Collection): boolean {
  return (
    ahead?.views.some(
      ({ collection }) => collection.projection === projection && collection.generation === generation,
    ) ?? false
  );
}
