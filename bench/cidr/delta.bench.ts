import { cover } from '../../src/addresses/cidr-cover.ts';
import { coverDifference } from '../../src/addresses/cover-count.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { type Paired, pairedRounds, reportSpeedUp, seededRandom } from '../measure.ts';

// One address more or less in a large set: the blocks that come and go, against the whole cover; and the set itself, against
// a sorted array that is copied to stay immutable.
// usage: node --import tsx bench/cidr/delta.bench.ts   (ROUNDS from the environment)

const RANGES = 500_000;
const FIRST = 0x0a00_0000;
const CHANGES = 200;

const large = RangeSet.from(
  Array.from({ length: RANGES }, (_, i) => ({ version: 4, first: FIRST + 8 * i, last: FIRST + 8 * i + (i % 5) })),
);
const random = seededRandom(1);
const singles = Array.from({ length: CHANGES }, () =>
  RangeSet.ofAddress({ version: 4, value: FIRST + (random() % (8 * RANGES)) }),
);
const changed = singles.map((single) =>
  large.intersection(single).isEmpty ? large.union(single) : large.difference(single),
);
const flat = Float64Array.from(Array.from(large.ranges(), ({ first, last }) => [Number(first), Number(last)]).flat());

const difference = pairedRounds({
  ours: () => changed.map((after) => coverDifference(large, after)),
  baseline: () => cover(large),
});
reportSpeedUp(`block difference of one address in ${RANGES} ranges, whole cover`, perChange(difference), 1_000);

const edit = pairedRounds({
  ours: () => singles.map((single) => large.union(single).difference(single)),
  baseline: () => Array.from({ length: 4 }, () => flat.slice()),
});
reportSpeedUp(`one address into and out of ${RANGES} ranges, two copies of a sorted array`, {
  ...perChange(edit),
  baseline: edit.baseline / 2,
  baselinePerOurs: (edit.baselinePerOurs * CHANGES) / 2,
});

/** Ours did all the changes in one run. */
function perChange(paired: Paired): Paired {
  return {
    ours: paired.ours / CHANGES,
    baseline: paired.baseline,
    oursPerBaseline: paired.oursPerBaseline / CHANGES,
    baselinePerOurs: paired.baselinePerOurs * CHANGES,
  };
}
