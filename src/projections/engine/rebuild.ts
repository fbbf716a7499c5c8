import { findAheadOfLog } from './ahead-of-log.ts';
import { type ProjectionTarget, openProjector, type ProjectorDependencies } from './projector.ts';

/** Reading the log takes a while, in which it grows: it is read again as often as this, ever less of it. */
const ROUNDS_MAX = 10;
/** A rebuild that is cut off begins anew: saving views that will change again saves nothing. */
const NEVER_BEFORE_THE_END = Number.POSITIVE_INFINITY;

/**
 * Builds a new generation of each projection beside the one in use, from the first event on, then swaps. Readers notice
 * nothing before. @throws CollectionGone when somebody else rebuilt one of them meanwhile.
 */
export async function rebuildProjections(
  viewCaches: readonly ProjectionTarget[],
  dependencies: Omit<ProjectorDependencies, 'writes' | 'catchUpFlushMilliseconds'>,
  progress: (done: bigint, end: bigint) => void,
): Promise<void> {
  const { readModels, store, whenAhead } = dependencies;
  const names = viewCaches.map(({ name }) => name);
  const ahead = await findAheadOfLog(names, dependencies);
  if (ahead !== undefined) await whenAhead?.(ahead);
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
}
