import { isAddressProblem } from '../../../addresses/address-problem.ts';
import { rangeContains } from '../../../addresses/range.ts';
import {
  type Cidr,
  compareCidrs,
  formatCidr,
  networkAddress,
  parseCidr,
  rangeOfCidr,
} from '../../../addresses/cidr.ts';
import { cover } from '../../../addresses/cidr-cover.ts';
import { RangeSet } from '../../../addresses/range-set.ts';

/**
 * What a router is to hold next on its way from `held` to `wanted`, in canonical CIDR texts and numeric order, where it takes only
 * about `most` new entries at a time: `layers` are what was changed, newest first. Repeated, it arrives at `wanted`.
 *
 * On the way no address is blocked that neither list blocks, and none is let through that both block: every block in which the lists
 * differ changes as a whole. One that is too much for a slice is halved, and its other half stays as it was. The newest changes come
 * first, and alone where there are others; then what is to leave the list, then the rest.
 */
export function nextSlice(
  held: readonly string[],
  wanted: readonly string[],
  layers: readonly RangeSet[],
  most: number,
): readonly string[] {
  const [has, wants] = [new Set(held), new Set(wanted)];
  const gone = entriesOf(held.filter((text) => !wants.has(text)));
  // What can't be read as a block says nothing of which addresses it is about.
  if (gone === undefined) return wanted;
  const added = cidrsOf(wanted.filter((text) => !has.has(text)));
  const kept = cidrsOf(wanted.filter((text) => has.has(text)));
  const units = unitsOf([...gone, ...added.map((cidr): Entry => ({ cidr, isNew: true, isForeign: false }))]);
  const cut = units.flatMap((unit) => halved(unit, Math.max(1, Math.floor(most / 2))));
  const leaving = setOf(gone.map(({ cidr }) => cidr)).difference(setOf([...added, ...kept]));
  const chosen = setOf(choose(cut, leaving, layers, most).map(({ block }) => block));
  const next = [
    ...kept,
    ...added.filter((cidr) => chosen.contains(networkAddress(cidr))),
    ...gone.flatMap(({ cidr }) => withoutChosen(cidr, chosen)),
  ];
  return [...new Set(next.sort(compareCidrs).map(formatCidr))];
}

/** An entry in which the lists differ. `isForeign`: more than a permitted block, so that it can't be asked for. */
type Entry = Readonly<{ cidr: Cidr; isNew: boolean; isForeign: boolean }>;

/** A block that changes as a whole, with the entries in it; `depth`: how often it was halved. */
type Unit = Readonly<{ block: Cidr; entries: readonly Entry[]; depth: number }>;

/** Routers take an entry away many times faster than they take one. */
const REMOVALS_OF_ONE_ADDITION = 50;

function entriesOf(texts: readonly string[]): readonly Entry[] | undefined {
  const entries: Entry[] = [];
  for (const text of texts) {
    const words = text.split(/[ ,;+{]/);
    const cidr = words.map((word) => parseCidr(word)).find((parsed) => !isAddressProblem(parsed));
    if (cidr === undefined || isAddressProblem(cidr)) return undefined;
    entries.push({ cidr, isNew: false, isForeign: formatCidr(cidr) !== text });
  }
  return entries;
}

function cidrsOf(texts: readonly string[]): readonly Cidr[] {
  return texts.flatMap((text) => {
    const cidr = parseCidr(text);
    return isAddressProblem(cidr) ? [] : [cidr];
  });
}

/** The largest blocks among the entries, which are disjoint, each with all that lie in it. */
function unitsOf(entries: readonly Entry[]): readonly Unit[] {
  const units: { block: Cidr; entries: Entry[]; depth: number }[] = [];
  for (const entry of [...entries].sort((a, b) => compareCidrs(a.cidr, b.cidr))) {
    const last = units.at(-1);
    if (last !== undefined && isWithin(entry.cidr, last.block)) last.entries.push(entry);
    else units.push({ block: entry.cidr, entries: [entry], depth: 0 });
  }
  return units;
}

/** A large block of the old list that many new entries take the place of can go piece by piece. */
function halved(unit: Unit, most: number): readonly Unit[] {
  const { block, entries, depth } = unit;
  const additions = entries.filter(({ isNew }) => isNew).length;
  if (additions <= most || entries.some(({ isForeign }) => isForeign)) return [unit];
  return halvesOf(block).flatMap((half) =>
    halved({ block: half, entries: entries.filter(({ cidr }) => isWithin(cidr, half)), depth: depth + 1 }, most),
  );
}

function halvesOf({ version, network, length }: Cidr): readonly Cidr[] {
  if (version === 4) {
    const size = 2 ** (31 - length);
    return [0, size].map((offset) => ({ version, network: network + offset, length: length + 1 }));
  }
  const size = 1n << BigInt(127 - length);
  return [0n, size].map((offset) => ({ version, network: network + offset, length: length + 1 }));
}

function choose(units: readonly Unit[], leaving: RangeSet, layers: readonly RangeSet[], most: number): readonly Unit[] {
  const ranked = units
    .map((unit) => ({ unit, rank: rankOf(unit, leaving, layers), cost: costOf(unit) }))
    .sort((a, b) => a.rank - b.rank);
  const hasNewest = layers.length > 1 && ranked.some(({ rank }) => rank < RANKS_OF_A_LAYER);
  const candidates = hasNewest ? ranked.filter(({ rank }) => rank < RANKS_OF_A_LAYER) : ranked;
  let room = most;
  let isOver = false;
  const chosen = candidates.filter(({ cost }, at) => {
    isOver ||= at > 0 && cost > room;
    if (!isOver) room -= cost;
    return !isOver;
  });
  return [...units.filter(isForeignUnit), ...chosen.map(({ unit }) => unit)];
}

const RANKS_OF_A_LAYER = 2;

/** The newest layer first; of the others what leaves the list; in each what leaves it before what comes. */
function rankOf({ block }: Unit, leaving: RangeSet, layers: readonly RangeSet[]): number {
  const addresses = RangeSet.of(rangeOfCidr(block));
  const leaves = leaving.intersects(addresses);
  const found = layers.findIndex((changed) => changed.intersects(addresses));
  const layer = found < 0 ? layers.length : found;
  if (layer === 0) return leaves ? 0 : 1;
  return RANKS_OF_A_LAYER + (leaves ? 0 : layer);
}

/** In new entries: halving a block leaves one for each time. */
function costOf({ entries, depth }: Unit): number {
  const additions = entries.filter(({ isNew }) => isNew).length;
  return additions + depth + (entries.length - additions + 1) / REMOVALS_OF_ONE_ADDITION;
}

/** No router can be asked to keep what is no plain block: these go with the first slice. */
function isForeignUnit({ entries }: Unit): boolean {
  return entries.some(({ isForeign }) => isForeign);
}

function withoutChosen(cidr: Cidr, chosen: RangeSet): readonly Cidr[] {
  const addresses = RangeSet.of(rangeOfCidr(cidr));
  return chosen.intersects(addresses) ? cover(addresses.difference(chosen)) : [cidr];
}

function isWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.length >= outer.length && rangeContains(rangeOfCidr(outer), networkAddress(inner));
}

function setOf(cidrs: readonly Cidr[]): RangeSet {
  return RangeSet.from(cidrs.map(rangeOfCidr));
}
