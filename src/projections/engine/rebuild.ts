import { findAheadOfLog } from './ahead-of-log.ts';
import { EventsLeftOut } from './stream-continuity.ts';
import type { ProjectionTarget } from './fed-views.ts';
import { openProjector, type Projector, type ProjectorDependencies } from './projector.ts';

/** Reading the log takes a while, in which it grows: it is read again as often as this, ever less of it. */
const ROUNDS_MAX = 10;
/** A reading of the log that leaves events out is begun again. */
const TRIES_MAX = 4;
/** A rebuild that is cut off begins again: saving views that will change again saves nothing. */
const NEVER_BEFORE_THE_END = Number.POSITIVE_INFINITY;

/**
 * Builds a new generation of each projection beside the one in use, from the first event on, then swaps. Readers notice
 * nothing before. Gives the streams that have at least `longEvents` events. @throws CollectionGone when another process rebuilt one of them meanwhile.
 */
export async function rebuildProjections(
  viewCaches: readonly ProjectionTarget[],
  dependencies: Omit<ProjectorDependencies, 'writes' | 'catchUpFlushMilliseconds'>,
  progress: (done: bigint, end: bigint) => void,
  longEvents = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const { whenAhead } = dependencies;
  const names = viewCaches.map(({ name }) => name);
  const ahead = await findAheadOfLog(names, dependencies);
  if (ahead !== undefined) await whenAhead?.(ahead);
  for (let tries = 1; ; tries += 1) {
    try {
      return (await rebuildOnce(viewCaches, dependencies, progress)).longStreams(longEvents);
    } catch (error) {
      if (!(error instanceof EventsLeftOut) || tries >= TRIES_MAX) throw error;
    }
  }
}

async function rebuildOnce(
  viewCaches: readonly ProjectionTarget[],
  dependencies: Omit<ProjectorDependencies, 'writes' | 'catchUpFlushMilliseconds'>,
  progress: (done: bigint, end: bigint) => void,
): Promise<Projector> {
  const { readModels, store } = dependencies;
  const collections = [];
  for (const viewCache of viewCaches) {
    const collection = await readModels.begin(viewCache.name, viewCache.version);
    await viewCache.open(collection);
    collections.push(collection);
  }
  const projector = openProjector(viewCaches, {
    ...dependencies,
    writes: true,
    catchUpFlushMilliseconds: NEVER_BEFORE_THE_END,
  });
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    await projector.catchUp(progress);
    if ((await store.end()) <= projector.position()) break;
  }
  for (const collection of collections) await readModels.activate(collection);
  return projector;
}
