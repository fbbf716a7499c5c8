import { StoreUnavailable } from '../../ports/event-store.ts';
import { type Collection, CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import type { ViewCache } from './fed-views.ts';

export type GenerationUse = Readonly<{
  readModels: Pick<ReadModels, 'active' | 'begin' | 'activate'>;
  /** `false` for a process that must not save: it begins in memory what can't be used. */
  writes: boolean;
  /** Asked before a generation is begun: `false` for one whose turn is over, as another process may keep the views by now. */
  mayStillWrite?: () => boolean;
  /** The caches were open before: a newer version then is another program's. */
  isOpen: boolean;
  /** Whether what is saved in a generation may be gone on with. */
  isUsable: (active: Collection) => Promise<boolean>;
}>;

const TRIES_MAX = 5;

/** @throws StoreUnavailable */
export function requireTurn(mayStillWrite: (() => boolean) | undefined): void {
  if (mayStillWrite?.() === false) throw new StoreUnavailable('the views are kept here no more');
}

/**
 * Opens a cache on the active generation; where it is of another version, is none, or is not usable, on a new one that takes its place: the
 * first build of a projection, or its rebuild. @throws StoreUnavailable where it may begin none any more
 */
export async function openInUse(
  feed: Pick<ViewCache<object>, 'name' | 'version' | 'open'>,
  { readModels, writes, mayStillWrite, isOpen, isUsable }: GenerationUse,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const active = await readModels.active(feed.name);
    if (isOpen && active !== undefined && active.version > feed.version) {
      throw new Error(`${feed.name} was rebuilt by a newer program as version ${active.version}; start that one here`);
    }
    try {
      if (active?.version === feed.version && (await isUsable(active))) return await feed.open(active);
      if (!writes) return await feed.open(undefined);
      requireTurn(mayStillWrite);
      const begun = await readModels.begin(feed.name, feed.version);
      await readModels.activate(begun);
      return await feed.open(begun);
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof CollectionGone) || tries >= TRIES_MAX) throw error;
    }
  }
}
