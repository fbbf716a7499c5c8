import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Collection as View, ListQuery, ReadModels, ViewChange, ViewSave } from '../../ports/read-models.ts';
import type { MongoDatabase } from './database.ts';
import { openGenerations, viewName } from './generations.ts';
import { type GuardedTexts, openGuardedTexts } from './guarded-texts.ts';

const OPEN_MAX = 1_000;
/** Collections that are written to at the same time. */
const WRITERS_MAX = 4;
const SWEEP_MILLISECONDS = 600_000;

/**
 * Views in MongoDB: one collection a generation. No transactions: each document carries the position that it has applied, and
 * documents are written before the position of their generation, so that after a crash the log is replayed from before them.
 */
export function openMongoReadModels(db: MongoDatabase, clock: Clock): ReadModels {
  const generations = openGenerations(db);
  const opened = new BoundedMap<string, GuardedTexts>(OPEN_MAX);
  const swept = new Map<string, number>();

  return {
    name: `MongoDB at ${db.name}`,
    // Its engine checks what it reads.
    mend: () => Promise.resolve(),
    active: generations.active,
    standing: generations.standing,
    begin: generations.begin,
    activate: generations.activate,
    position: generations.position,
    load: async (view, keys) => {
      const found = await textsOf(view).load(keys);
      // What is missing may be missing because all of it is gone.
      if (found.size < keys.length) await generations.check([view]);
      return found;
    },
    list: async (view, query) => {
      const found = await pageOf(textsOf(view).list(query), query, () => generations.check([view]));
      return found.map(({ key, text }) => ({ key, json: text }));
    },
    keys: (view, query) => pageOf(textsOf(view).keys(query), query, () => generations.check([view])),
    save: async (saves) => {
      await generations.check(saves.map(({ collection }) => collection));
      // Each step waits for the one before: what a text is made of is there when it is, and as long as it may be read.
      await writeAll(saves, ({ parts = [] }) => parts.filter(({ json }) => json !== undefined));
      await writeAll(saves, ({ changes }) => changes);
      await generations.moveOn(
        saves.map(({ collection, position, anchor }) => ({ view: collection, position, anchor })),
      );
      await writeAll(saves, ({ parts = [] }) => parts.filter(({ json }) => json === undefined));
      for (const { collection } of saves) await sweep(collection);
    },
    close: () => db.close(),
  };

  async function writeAll(
    saves: readonly ViewSave[],
    changesOf: (save: ViewSave) => readonly ViewChange[],
  ): Promise<void> {
    const changed = saves.map((save) => ({ ...save, changes: changesOf(save) })).filter(hasChanges);
    for (let first = 0; first < changed.length; first += WRITERS_MAX) {
      await Promise.all(
        changed.slice(first, first + WRITERS_MAX).map(({ collection, position, changes }) =>
          textsOf(collection).write(
            position,
            changes.map(({ key, json }) => ({ key, text: json })),
          ),
        ),
      );
    }
  }

  function textsOf(view: View): GuardedTexts {
    const name = viewName(view);
    const texts = opened.get(name) ?? openGuardedTexts(db, name, clock);
    opened.set(name, texts);
    return texts;
  }

  async function sweep(view: View): Promise<void> {
    const name = viewName(view);
    const now = clock.monotonicMilliseconds();
    const last = swept.get(name);
    if (last === undefined) swept.set(name, now);
    if (last === undefined || now - last < SWEEP_MILLISECONDS) return;
    swept.set(name, now);
    await textsOf(view).sweep();
  }
}

/** What is missing of a page may be missing because all of it is gone. */
async function pageOf<T>(
  reading: Promise<readonly T[]>,
  { limit }: ListQuery,
  check: () => Promise<void>,
): Promise<readonly T[]> {
  const found = await reading;
  if (found.length < limit) await check();
  return found;
}

function hasChanges({ changes }: Pick<ViewSave, 'changes'>): boolean {
  return changes.length > 0;
}
