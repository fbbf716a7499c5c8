import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Standing } from '../../../src/ports/read-models.ts';
import { openSavedPositions } from '../../../src/projections/engine/saved-positions.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const test = suite('waiting for views that others save');

const VIEW = { name: 'subnets', version: 1 };
const STORE = { end: () => Promise.resolve(1_000n), eventAt: () => Promise.resolve(undefined) };
/** More than a look takes from its last answer to its end. */
const TURNS = 20;

/** The looks at how far the views are, each answered when the test says so. */
function openLooks() {
  const asked: ((position: bigint) => void)[] = [];
  const collection = { projection: VIEW.name, version: VIEW.version, generation: 1 };
  const standing = () =>
    new Promise<ReadonlyMap<string, Standing>>((resolve) => {
      asked.push((position) => resolve(new Map([[VIEW.name, { collection, position, anchor: undefined }]])));
    });
  return { asked, readModels: { standing } };
}

for (let turns = 0; turns <= TURNS; turns += 1) {
  test(`who comes ${turns} turns after the last answer of a look for others is looked for as well`, async () => {
    const clock = createManualClock();
    const { asked, readModels } = openLooks();
    const { reached } = openSavedPositions([VIEW], { readModels, store: STORE, clock });
    const first = reached(1n, 1_000);
    asked.shift()?.(1n);
    assert.is(await first, true);
    await clock.advance({ milliseconds: 20 });
    assert.is(asked.length, 1, 'the look goes on, and finds that nobody waits');
    asked.shift()?.(1n);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const second = reached(2n, 15_000);
    for (let look = 0; look < 3; look += 1) {
      await clock.advance({ milliseconds: 20 });
      asked.shift()?.(2n);
    }
    await clock.advance({ seconds: 16 });
    assert.is(await second, true);
  });
}

test.run();
