import type { Collection, ReadModels } from '../../ports/read-models.ts';
import { positionIn } from '../../projections/engine/view-codec.ts';

/**
 * A key of a view as a save has left it that did not come to its end: a store without transactions takes the texts first and the position
 * of their view after them. `position`: of the newest event in the text; `undefined` where the key was deleted.
 */
export type KeyAhead = Readonly<{
  collection: Collection;
  key: string;
  saved: string | undefined;
  position: bigint | undefined;
}>;

/** A fold of the log that only goes forwards. */
export type Fold = Readonly<{
  folded: ReadModels;
  foldUpTo: (position: bigint) => Promise<void>;
  /** The position of the newest event. */
  end: () => Promise<bigint>;
}>;

/** Gives the key when a save that is under way may explain its text beside a view at this position. */
export function keyAhead(
  collection: Collection,
  key: string,
  saved: string | undefined,
  viewAt: bigint,
): KeyAhead | undefined {
  if (saved === undefined) return { collection, key, saved, position: undefined };
  const position = positionIn(saved);
  return position !== undefined && position > viewAt ? { collection, key, saved, position } : undefined;
}

/** Those of which the log gives something else, with the position up to which it was folded. Deleted ones are compared at its end. */
export async function wrongAhead(
  fold: Fold,
  keys: readonly KeyAhead[],
): Promise<readonly Readonly<{ ahead: KeyAhead; right: string | undefined; foldedTo: bigint }>[]> {
  const wrong: { ahead: KeyAhead; right: string | undefined; foldedTo: bigint }[] = [];
  for (const ahead of keys.toSorted(byPosition)) {
    const end = await fold.end();
    const foldedTo = ahead.position === undefined || ahead.position > end ? end : ahead.position;
    await fold.foldUpTo(foldedTo);
    const ours = await foldOf(fold.folded, ahead.collection);
    const right = (await fold.folded.load(ours, [ahead.key])).get(ahead.key);
    if (right !== ahead.saved) wrong.push({ ahead, right, foldedTo });
  }
  return wrong;
}

/** The same view, as it was folded. */
export async function foldOf(folded: ReadModels, { projection }: Collection): Promise<Collection> {
  const ours = await folded.active(projection);
  if (ours === undefined) throw new Error(`${projection} was not folded`);
  return ours;
}

function byPosition(one: KeyAhead, other: KeyAhead): number {
  if (one.position === undefined || other.position === undefined)
    return Number(one.position === undefined) - Number(other.position === undefined);
  return one.position < other.position ? -1 : Number(one.position > other.position);
}
