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

/** What is served, and another fold of the log beside it. */
export type ViewsBesideFold = Readonly<{
  projections: readonly Readonly<{ name: string; version: number }>[];
  served: ReadModels;
  /** Whether the log holds what a saved view has applied. */
  isHeld: (standing: Standing) => Promise<boolean>;
  folded: ReadModels;
  /** Brings that fold, which begins with the first event, to exactly this position. It never goes back. */
  foldUpTo: (position: bigint) => Promise<void>;
  clock: Pick<Clock, 'wait'>;
}>;

/** How many views were compared, those of which nothing is served yet, and what is wrong: one line for each view that differs. */
export type ComparedViews = Readonly<{ compared: number; notBuilt: readonly string[]; problems: readonly string[] }>;

/** A server beside this one saves all the time: what was read while it did is read again. */
const LOOKS_MAX = 200;
const LOOK_MILLISECONDS = 25;
const GENERATIONS_MAX = 5;
const KEYS_AT_ONCE = 200;

/**
 * Compares each saved view with a fold of the log up to the very position that it has applied; a server may go on saving meanwhile. The
 * first key of each view that differs is named.
 */
export async function compareViews(
  views: ViewsBesideFold,
  show: (done: bigint, end: bigint) => void,
): Promise<ComparedViews> {
  const problems: string[] = [];
  const notBuilt: string[] = [];
  let [done, compared] = [0n, 0];
  for (const { name, version } of await inOrderOfPositions(views)) {
    const outcome = await compareView(views, name, version);
    if (outcome === 'not-built') notBuilt.push(name);
    else compared += 1;
    if (typeof outcome === 'object') problems.push(`view ${name}: ${outcome.problem}`);
    done += 1n;
    show(done, BigInt(views.projections.length));
  }
  return { compared, notBuilt, problems };
}

type Outcome = 'same' | 'not-built' | Readonly<{ problem: string }>;

/** The fold only goes forwards. */
async function inOrderOfPositions({ projections, served }: ViewsBesideFold) {
  const standing = await served.standing(projections.map(({ name }) => name)).catch(() => new Map<string, Standing>());
  const positionOf = ({ name }: Readonly<{ name: string }>): bigint => standing.get(name)?.position ?? BEGINNING;
  return projections.toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
}

async function compareView(views: ViewsBesideFold, name: string, version: number): Promise<Outcome> {
  for (let generations = 1; ; generations += 1) {
    try {
      return await compareGeneration(views, name, version);
    } catch (error) {
      if (error instanceof ReadModelsDamaged) return { problem: error.message };
      // It was rebuilt meanwhile.
      if (!(error instanceof CollectionGone) || generations >= GENERATIONS_MAX) throw error;
    }
  }
}

async function compareGeneration(views: ViewsBesideFold, name: string, version: number): Promise<Outcome> {
  const standing = (await views.served.standing([name])).get(name);
  if (standing?.position === undefined || standing.collection.version !== version) return 'not-built';
  if (!(await views.isHeld(standing)))
    return { problem: `it has applied an event at ${standing.position} that the log does not hold` };
  await views.foldUpTo(standing.position);
  const suspects = await keysThatDiffer(views, standing.collection);
  for (let from = 0; from < suspects.length; from += KEYS_AT_ONCE) {
    const problem = await firstDifference(views, standing.collection, suspects.slice(from, from + KEYS_AT_ONCE));
    if (problem !== undefined) return { problem };
  }
  return 'same';
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
async function firstDifference(
  views: ViewsBesideFold,
  collection: Collection,
  keys: readonly string[],
): Promise<string | undefined> {
  const { served, folded, clock } = views;
  const positionNow = async (): Promise<bigint> => {
    const now = (await served.standing([collection.projection])).get(collection.projection);
    if (now?.collection.generation !== collection.generation) throw new CollectionGone('it was rebuilt meanwhile');
    return now.position ?? BEGINNING;
  };
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const position = await positionNow();
    const saved = await served.load(collection, keys);
    const ours = await foldOf(folded, collection);
    const reached = (await folded.position(ours)) ?? BEGINNING;
    if ((await positionNow()) !== position || position < reached) {
      await clock.wait(LOOK_MILLISECONDS);
      continue;
    }
    await views.foldUpTo(position);
    const right = await folded.load(ours, keys);
    const key = keys.find((each) => saved.get(each) !== right.get(each));
    return key === undefined ? undefined : differenceOf(key, saved.get(key), right.get(key), position);
  }
  throw new Error(
    `${collection.projection} could not be compared: it is saved too often, or stands before other views`,
  );
}

async function foldOf(folded: ReadModels, { projection }: Collection): Promise<Collection> {
  const ours = await folded.active(projection);
  if (ours === undefined) throw new Error(`${projection} was not folded`);
  return ours;
}

function differenceOf(key: string, saved: string | undefined, right: string | undefined, position: bigint): string {
  const both = saved !== undefined && right !== undefined && told(saved) === told(right);
  const how = both
    ? `its content is not what the log gives (${told(right)})`
    : `there is ${told(saved)}, the log gives ${told(right)}`;
  return `key ${key} differs from a fold of the log up to ${position}: ${how}; edgeward projections rebuild makes it again`;
}

function told(text: string | undefined): string {
  return text === undefined ? 'none' : `one of the event at ${/"position":"(\d+)"/.exec(text)?.[1] ?? '?'}`;
}
