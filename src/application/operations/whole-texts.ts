import { rangeTexts } from '../../addresses/range-text.ts';
import { isPaged, rangesOfStored } from '../../addresses/stored-ranges.ts';
import type { GetPart } from '../../kernel/parts.ts';
import type { Collection, ReadModels } from '../../ports/read-models.ts';
import type { SavedView } from '../../projections/engine/keyed-views.ts';
import { partsIn } from '../../projections/engine/view-codec.ts';
import { isPartKey, readWithParts } from '../../projections/engine/view-parts.ts';

/**
 * Saved views as the texts that they would be without parts kept apart: how a set is cut into pages says when it was saved, and two folds of
 * one log need not agree in it. Parts are left out. @throws PartsMissing where what a text names is not there
 */
export function withWholeTexts(readModels: ReadModels): ReadModels {
  const wholeOf = async (collection: Collection, document: SavedView): Promise<string | undefined> => {
    if (partsIn(document.json).length === 0) return document.json;
    return (await readWithParts(readModels, collection, document, wholeText))?.made;
  };
  return {
    ...readModels,
    load: async (collection, keys) => {
      const found = new Map<string, string>();
      for (const [key, json] of await readModels.load(collection, keys)) {
        const whole = await wholeOf(collection, { key, json });
        if (whole !== undefined) found.set(key, whole);
      }
      return found;
    },
    list: async (collection, query) => {
      const found: SavedView[] = [];
      for (const document of await readModels.list(collection, query)) {
        if (isPartKey(document.key)) break;
        // One that was deleted meanwhile must not end the list.
        found.push({ key: document.key, json: (await wholeOf(collection, document)) ?? document.json });
      }
      return found;
    },
  };
}

function wholeText(json: string, get: GetPart): string {
  const { parts: _, ...stored }: Record<string, unknown> = JSON.parse(json, (_key, value: unknown) =>
    isPaged(value) ? rangeTexts(rangesOfStored(value, get)) : value,
  );
  return JSON.stringify(stored);
}
