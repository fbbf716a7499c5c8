import type { Event } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { type StoredViewsDependencies, storedViewsOf } from './stored-views.ts';
import type { ProjectionTarget } from './fed-views.ts';
import type { Views } from './keyed-views.ts';
import { type ViewCache, viewCacheOf } from './view-cache.ts';

/** A view that is read from this process's memory while it folds the log itself, and straight from the read models otherwise. */
export type ViewReader<V extends object> = Views<V> &
  Readonly<{
    name: string;
    version: number;
    /** A new view cache, which a projector keeps up to date. */
    newViewCache: () => ProjectionTarget;
    /** From now on the newest view cache is read, as long as `isCurrent` (default: always). */
    readViewCache: (isCurrent?: () => boolean) => void;
    /** From now on the read models are read, once they have caught up with the log. */
    readStoredViews: () => void;
  }>;

/** Reads the read models until `readViewCache` is called. */
export function viewReaderOf<E extends Event, V extends object>(
  projection: Projection<E, V>,
  reading: StoredViewsDependencies,
): ViewReader<V> {
  const { name, version } = projection;
  const direct = storedViewsOf(projection, reading);
  let viewCache: ViewCache<V> | undefined;
  let read = (): Views<V> => direct;

  return {
    name,
    version,
    get: (key) => read().get(key),
    list: (prefix) => read().list(prefix),
    page: (query) => read().page(query),
    newViewCache: () => (viewCache = viewCacheOf(projection, reading.readModels)),
    readViewCache: (isCurrent = () => true) => {
      const newest = viewCache ?? direct;
      read = () => (isCurrent() ? newest : direct);
    },
    readStoredViews: () => {
      direct.distrust();
      read = () => direct;
      viewCache = undefined;
    },
  };
}
