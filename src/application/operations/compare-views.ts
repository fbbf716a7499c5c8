import type { Clock } from '../../ports/clock.ts';
import { BEGINNING } from '../../ports/event-store.ts';
import {
  type Collection,
  CollectionGone,
  type ReadModels,
  ReadModelsDamaged,
  type Standing,
} from '../../ports/read-models.ts';
import { isBehind, listSaved } from '../../projections/engine/keyed-views.ts';
import { positionIn } from '../../projections/engine/view-codec.ts';
import { PartsMissing } from '../../projections/engine/view-parts.ts';
import { type Fold, foldOf, type KeyAhead, keyAhead, wrongAhead } from './broken-off-saves.ts';

/** What is served, and another fold of the log beside it, which begins with the first event. */
export type ViewsBesideFold = Fold &
  Readonly<{
    projections: readonly Readonly<{ name: string; version: number }>[];
    served: ReadModels;
    /** Whether the log holds what a saved view has applied. */
    isHeld: (standing: Standing) => Promise<boolean>;
    clock: Pick<Clock, 'wait'>;
  }>;

/** How many views were compared, those of which nothing is served yet, and what is wrong: one line for each view that differs. */
export type ComparedViews = Readonly<{ compared: number; notBuilt: readonly string[]; problems: readonly string[] }>;

/** A server beside this one saves all the time: what was read while it did is read again. */
const LOOKS_MAX = 200;
const LOOK_MILLISECONDS = 25;
/** How often a view is looked at that may move on, before what was found is wrong. */
const LOOKS_AT_REST = 80;
/** How often a key is compared again because its view has moved on. */
const MOVES_MAX = 20;
const GENERATIONS_MAX = 5;
const KEYS_AT_ONCE = 200;

/**
 * Compares each saved view with a fold of the log up to the very position that it has applied; a server may go on saving meanwhile. The
 * first key of each view that differs is named. A save that was broken off leaves texts that are newer than their view: each is compared
 * at its own position.
 */
export async function compareViews(
  views: ViewsBesideFold,
  show: (done: bigint, end: bigint) => void,
): Promise<ComparedViews> {
  const problems = new Map<string, string>();
  const notBuilt: string[] = [];
  let [done, compared] = [0n, 0];
  let ahead: readonly KeyAhead[] = [];
  const compareAhead = async (keys: readonly KeyAhead[]): Promise<void> => {
    for (const { ahead: key, right, foldedTo } of await wrongAhead(views, keys)) {
      const { projection } = key.collection;
      if (problems.has(projection)) continue;
      try {
        const problem = await afterMoves(views, key, differenceOf(key.key, key.saved, right, foldedTo));
        if (problem !== undefined) problems.set(projection, problem);
      } catch (error) {
        if (!(error instanceof CollectionGone)) throw error;
        // It was rebuilt, or is damaged: as a whole, then.
        const again = await compareView(views, projection, key.collection.version);
        if (again === 'not-built') continue;
        if (again.problem === undefined) await compareAhead(again.ahead);
        else problems.set(projection, again.problem);
      }
    }
  };
  for (const { name, version, position } of await inOrderOfPositions(views)) {
    const isPassed = (key: KeyAhead): boolean => key.position !== undefined && key.position <= position;
    await compareAhead(ahead.filter(isPassed));
    ahead = ahead.filter((key) => !isPassed(key));
    const outcome = await compareView(views, name, version);
    if (outcome === 'not-built') notBuilt.push(name);
    else {
      compared += 1;
      if (outcome.problem !== undefined) problems.set(name, outcome.problem);
      ahead = [...ahead, ...outcome.ahead];
    }
    done += 1n;
    show(done, BigInt(views.projections.length));
  }
  await compareAhead(ahead);
  return { compared, notBuilt, problems: [...problems].map(([name, problem]) => `view ${name}: ${problem}`) };
}

/** What is wrong with a view, and what was found newer than it. */
type Comparison = Readonly<{ problem?: string; ahead: readonly KeyAhead[] }>;

/** The fold only goes forwards. */
async function inOrderOfPositions({ projections, served }: ViewsBesideFold) {
  const standing = await served.standing(projections.map(({ name }) => name)).catch(() => new Map<string, Standing>());
  return projections
    .map((projection) => ({ ...projection, position: standing.get(projection.name)?.position ?? BEGINNING }))
    .toSorted((a, b) => (a.position < b.position ? -1 : 1));
}

async function compareView(views: ViewsBesideFold, name: string, version: number): Promise<Comparison | 'not-built'> {
  for (let generations = 1; ; generations += 1) {
    try {
      return await compareGeneration(views, name, version);
    } catch (error) {
      if (error instanceof ReadModelsDamaged) return { problem: error.message, ahead: [] };
      if (error instanceof PartsMissing && generations >= GENERATIONS_MAX) return { problem: error.message, ahead: [] };
      // It was rebuilt meanwhile.
      if (!(error instanceof CollectionGone) || generations >= GENERATIONS_MAX) throw error;
    }
  }
}

async function compareGeneration(
  views: ViewsBesideFold,
  name: string,
  version: number,
): Promise<Comparison | 'not-built'> {
  const standing = (await views.served.standing([name])).get(name);
  if (standing?.position === undefined || standing.collection.version !== version) return 'not-built';
  if (!(await views.isHeld(standing)))
    return { problem: `it has applied an event at ${standing.position} that the log does not hold`, ahead: [] };
  await views.foldUpTo(standing.position);
  const suspects = await keysThatDiffer(views, standing.collection);
  const ahead: KeyAhead[] = [];
  for (let from = 0; from < suspects.length; from += KEYS_AT_ONCE) {
    const keys = suspects.slice(from, from + KEYS_AT_ONCE);
    const comparison = await compareKeys(views, standing.collection, keys);
    ahead.push(...comparison.ahead);
    if (comparison.problem !== undefined) return { ...comparison, ahead };
  }
  return { ahead };
}

/** Keys whose texts differ, or may have been saved after the place of the fold. */
async function keysThatDiffer({ served, folded }: ViewsBesideFold, collection: Collection): Promise<readonly string[]> {
  const keys: string[] = [];
  const ours = listSaved(folded, await foldOf(folded, collection), '');
  const theirs = listSaved(served, collection, '');
  let [one, other] = [await ours.next(), await theirs.next()];
  while (one.done !== true || other.done !== true) {
    const [mine, saved] = [one.done === true ? undefined : one.value, other.done === true ? undefined : other.value];
    const isMine = mine !== undefined && (saved === undefined || !isBehind(mine.key, saved.key));
    const isSaved = saved !== undefined && (mine === undefined || !isBehind(saved.key, mine.key));
    if (isMine !== isSaved || mine?.json !== saved?.json) keys.push((isMine ? mine?.key : saved?.key) ?? '');
    if (isMine) one = await ours.next();
    if (isSaved) other = await theirs.next();
  }
  return keys;
}

/** Of keys as they were saved at one moment, with the fold brought to that moment. */
async function compareKeys(
  views: ViewsBesideFold,
  collection: Collection,
  keys: readonly string[],
): Promise<Comparison> {
  const { served, folded, clock } = views;
  for (let look = 0; look < LOOKS_MAX; look += 1, await clock.wait(LOOK_MILLISECONDS)) {
    const position = await positionNow(served, collection);
    const saved = await served.load(collection, keys);
    const ours = await foldOf(folded, collection);
    const reached = (await folded.position(ours)) ?? BEGINNING;
    if ((await positionNow(served, collection)) !== position || position < reached) continue;
    await views.foldUpTo(position);
    const right = await folded.load(ours, keys);
    const ahead: KeyAhead[] = [];
    for (const key of keys.filter((each) => saved.get(each) !== right.get(each))) {
      const newer = keyAhead(collection, key, saved.get(key), position);
      if (newer === undefined)
        return { problem: differenceOf(key, saved.get(key), right.get(key), position), ahead: [] };
      ahead.push(newer);
    }
    return { ahead };
  }
  throw notComparable(collection);
}

/** What is still wrong when the view has moved on: a server may have been in the middle of a save. */
async function afterMoves(views: ViewsBesideFold, first: KeyAhead, difference: string): Promise<string | undefined> {
  const { collection, key } = first;
  let problem = difference;
  for (let move = 0; move < MOVES_MAX; move += 1) {
    if (!(await movesOn(views, collection))) return problem;
    const again = await compareKeys(views, collection, [key]);
    if (again.problem !== undefined || again.ahead.length === 0) return again.problem;
    const [wrong] = await wrongAhead(views, again.ahead);
    if (wrong === undefined) return undefined;
    problem = differenceOf(key, wrong.ahead.saved, wrong.right, wrong.foldedTo);
  }
  throw notComparable(collection);
}

async function movesOn({ served, clock }: ViewsBesideFold, collection: Collection): Promise<boolean> {
  const position = await positionNow(served, collection);
  for (let look = 0; look < LOOKS_AT_REST; look += 1) {
    await clock.wait(LOOK_MILLISECONDS);
    if ((await positionNow(served, collection)) !== position) return true;
  }
  return false;
}

async function positionNow(served: ReadModels, { projection, generation }: Collection): Promise<bigint> {
  const now = (await served.standing([projection])).get(projection);
  if (now?.collection.generation !== generation) throw new CollectionGone('it was rebuilt meanwhile');
  return now.position ?? BEGINNING;
}

function notComparable({ projection }: Collection): Error {
  return new Error(`${projection} could not be compared: it is saved too often, or stands before other views`);
}

function differenceOf(key: string, saved: string | undefined, right: string | undefined, position: bigint): string {
  const both = saved !== undefined && right !== undefined && told(saved) === told(right);
  const how = both
    ? `its content is not what the log gives (${told(right)})`
    : `there is ${told(saved)}, the log gives ${told(right)}`;
  return `key ${key} differs from a fold of the log up to ${position}: ${how}; edgeward projections rebuild makes it again`;
}

function told(text: string | undefined): string {
  return text === undefined ? 'none' : `one of the event at ${positionIn(text) ?? '?'}`;
}
