import type { Event } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';

/** The first event of a day (UTC), as the log holds it: where a reader who looks for a day begins. Key: the day, `2026-11-28`. */
export type EventDayView = Readonly<{ position: string }>;

const DAY_CHARACTERS = '2026-11-28'.length;

/** `types`: of all events of the log. */
export function eventDayProjection(types: readonly string[]): Projection<Event, EventDayView> {
  return {
    name: 'event-days',
    version: 1,
    handles: types,
    keysOf: ({ metadata }) => [metadata.at.slice(0, DAY_CHARACTERS)],
    evolve: (view, { position }) => view ?? { position: String(position) },
  };
}
