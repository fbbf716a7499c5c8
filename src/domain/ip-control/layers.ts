import { RangeSet } from '../../addresses/range-set.ts';
import {
  type GetPage,
  type PutPage,
  rangesOfStored,
  type StoredRanges,
  storedRanges,
} from '../../addresses/stored-ranges.ts';

/**
 * What was changed, part by part, the newest first: a part for each time that a commit has captured changes before all was on the
 * routers, and for what was changed after a part that is large. Where a list comes in slices, the newest changes come first, after a restart and after a failure too.
 */
export type Layers = readonly RangeSet[];

/** What a commit under way carries: what is no longer pending when it succeeds, and the addresses that it puts on routers. */
export type CommitContent = Readonly<{ captured: RangeSet; content: RangeSet; layers: Layers }>;

/** What is to be captured by the next commit; `layers` are its parts where a commit has failed or much was changed, and none otherwise. */
type Waiting = Readonly<{ touched: RangeSet; layers: Layers }>;

/** So many are told apart; of older ones only that they are older. */
const LAYERS_MAX = 16;

/** So many ranges may be too many for one push: what is changed after them is told apart. */
const LARGE_RANGES = 100;

/** The layers of what waits after another change. There are none to keep as long as no commit has failed and little waits, which costs nothing. */
export function withChange({ touched, layers }: Waiting, changed: RangeSet): Layers {
  const [newest = touched, ...older] = layers;
  if (newest.rangeCount >= LARGE_RANGES) return bounded([changed, newest, ...older]);
  return layers.length === 0 ? layers : [newest.union(changed), ...older];
}

/** What a commit carries that takes all that waits, and goes on with what one under way has carried. */
export function capture(
  { touched, layers }: Waiting,
  content: RangeSet,
  before: CommitContent | undefined,
): CommitContent {
  const waiting = layers.length === 0 ? [touched] : layers;
  const all = bounded([...waiting, ...(before?.layers ?? [])].filter((layer, at) => at === 0 || !layer.isEmpty));
  const [first, ...older] = all;
  return {
    captured: before === undefined ? touched : touched.union(before.captured),
    content,
    layers: first?.isEmpty === true && older.length > 0 ? older : all,
  };
}

/** What waits after a commit has failed: what it carried, behind what was changed since. */
export function giveBack(touched: RangeSet, before: CommitContent | undefined): Waiting {
  if (before === undefined) return { touched, layers: [] };
  return { touched: touched.union(before.captured), layers: bounded([touched, ...before.layers]) };
}

function bounded(layers: Layers): Layers {
  if (layers.length <= LAYERS_MAX) return layers;
  const older = layers.slice(LAYERS_MAX - 1).reduce((all, layer) => all.union(layer), RangeSet.empty);
  return [...layers.slice(0, LAYERS_MAX - 1), older];
}

/** Parts of a region as JSON, left out where they say nothing. */
export type WaitingJson = Readonly<{
  layers?: readonly StoredRanges[];
  captured?: StoredRanges;
  content?: StoredRanges;
  capturedLayers?: readonly StoredRanges[];
}>;

/** The layers of what waits, and what a commit under way carries, as JSON. */
export function encodeWaiting(layers: Layers, inDeployment: CommitContent | undefined, put?: PutPage): WaitingJson {
  const stored = (set: RangeSet): StoredRanges => storedRanges(set, put);
  const waiting = layers.length === 0 ? {} : { layers: layers.map(stored) };
  if (inDeployment === undefined) return waiting;
  const { captured, content, layers: own } = inDeployment;
  return {
    ...waiting,
    captured: stored(captured),
    content: stored(content),
    ...(own.length === 1 ? {} : { capturedLayers: own.map(stored) }),
  };
}

/** What was encoded. */
export function decodeWaiting(
  { layers = [], captured, content, capturedLayers }: WaitingJson,
  get?: GetPage,
): Readonly<{ layers: Layers; inDeployment: CommitContent | undefined }> {
  const setOf = (stored: StoredRanges): RangeSet => rangesOfStored(stored, get);
  const waiting = layers.map(setOf);
  if (captured === undefined || content === undefined) return { layers: waiting, inDeployment: undefined };
  const all = setOf(captured);
  const parts = capturedLayers === undefined ? [all] : capturedLayers.map(setOf);
  return { layers: waiting, inDeployment: { captured: all, content: setOf(content), layers: parts } };
}
