import { type EventStore, ViewsBehind } from '../ports/event-store.ts';
import type { Reached } from './process-wiring.ts';

const REACH_MILLISECONDS = 10_000;

/** Resolves when the views that `reached` goes by show all that the log holds by now. @throws ViewsBehind, StoreUnavailable */
export async function viewsShow(
  { store }: Readonly<{ store: Pick<EventStore, 'end'> }>,
  reached: Reached,
): Promise<void> {
  if (!(await reached(await store.end(), REACH_MILLISECONDS))) throw new ViewsBehind('the views are behind the log');
}
