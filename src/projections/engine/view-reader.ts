import type { Event } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { type DirectReading, directViewsOf } from './stored-views.ts';
import type { ProjectionTarget } from './projector.ts';
import { type ViewCache, viewCacheOf, type Views } from './view-cache.ts';

/** A view that is read from this process's memory while it folds the log itself, and straight from the read models otherwise. */
export type ServedView<V extends object> = Views<V> &
  Readonly<{
    name: string;
    version: number;
    /** A new shelf, for a projector to feed. */
    newViewCache: () => ProjectionTarget;
    /** From now on the newest shelf is read, as long as `isCurrent` (default: always). */
    readViewCache: (isCurrent?: () => boolean) => void;
    /** From now on the read models are read, once they have caught up with the log. */
    readDirectly: () => void;
  }>;

/** Reads the read models until told otherwise. */
export function servedViewOf<E extends Event, V extends object>(
  projection: Projection<E, V>,
  reading: DirectReading,
): ServedView<V> {
  const { name, version } = projection;
  const direct = directViewsOf(projection, reading);
  let viewCache: ViewCache<V> | undefined;
  let read = (): Views<V> => direct;

  return {
    name,
    version,
    get: (key) => read().get(key),
    list: (prefix) => read().list(prefix),
    newViewCache: () => (viewCache = viewCacheOf(projection, reading.readModels)),
    readViewCache: (isCurrent = () => true) => {
      const newest = viewCache ?? direct;
      read = () => (isCurrent() ? newest : direct);
    },
    readDirectly: () => {
      direct.distrust();
      read = () => direct;
      viewCache = undefined;
    },
  };
}
