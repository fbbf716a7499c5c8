import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RangeSet } from '../../../../src/addresses/range-set.ts';
import { type RouterDriver, RouterFailure } from '../../../../src/ports/routers.ts';
import {
  isSliced,
  type Pace,
  pushSlice,
  pushSliceTogether,
} from '../../../../src/processes/ip-control/pushing/push-slice.ts';
import { WantedList } from '../../../../src/processes/ip-control/pushing/wanted-list.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { randomFrom } from '../../../support/random.ts';

const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const WANTED = Array.from({ length: 60 }, (_, at) => `192.0.2.${at * 4}/32`);
const never = new AbortController().signal;

/** A router that believes that it takes so many new entries in the time; `takes` decides of each change what it really does. */
function slowRouter(possible: number, takes: () => 'taken' | 'late' | 'refused') {
  let held: readonly string[] = [];
  const sizes: number[] = [];
  const added = (prefixes: readonly string[]): number => prefixes.filter((prefix) => !held.includes(prefix)).length;
  const ask = (prefixes: readonly string[]): void => {
    if (added(prefixes) > possible) throw new RouterFailure('too-large', 'it would take too long', { possible });
  };
  const driver: RouterDriver = {
    read: async () => held,
    prepare: async (_list, prefixes) => {
      ask(prefixes);
      return undefined;
    },
    replace: async (_list, prefixes) => {
      ask(prefixes);
      // What is put back is no try.
      const what = added(prefixes) === 0 ? 'taken' : takes();
      if (what === 'refused') throw new RouterFailure('rejected', 'no');
      if (added(prefixes) > 0) sizes.push(added(prefixes));
      if (what === 'late') throw new RouterFailure('timed-out', 'no answer');
      held = prefixes;
    },
    remove: async () => void (held = []),
    lists: () => Promise.reject(new Error('a push knows its list')),
    check: () => Promise.reject(new Error('a push does not check')),
    close: () => Promise.reject(new Error('a push does not close a driver')),
  };
  return { driver, sizes, held: () => held };
}

const LAYERS = [RangeSet.empty];

function nextPush(driver: RouterDriver, pace: Pace) {
  const wanted = WantedList.ofPrefixes(WANTED);
  const push = { router: 'core1', driver, list: LIST, wanted, timeoutMilliseconds: 30_000 };
  return pushSlice({ ...push, layers: LAYERS, isFirst: false }, pace, createManualClock(), never);
}

test('after three late slices in a row the try has failed, each half as long as the one before', async () => {
  const router = slowRouter(16, () => 'late');
  const pace: Pace = { share: 1, late: 0 };
  assert.ok(isSliced(await nextPush(router.driver, pace)));
  assert.ok(isSliced(await nextPush(router.driver, pace)));
  const third = await nextPush(router.driver, pace);
  assert.equal(router.sizes, [15, 7, 3]);
  assert.not.ok(isSliced(third));
  if (!isSliced(third)) {
    assert.is(third.outcome.result, 'failed');
    assert.match(third.outcome.because ?? '', 'timed-out');
  }
});

test('one that comes in time between them begins the count again, and the next may be longer', async () => {
  const answers: ('taken' | 'late')[] = ['late', 'late', 'taken', 'late', 'late', 'taken'];
  const router = slowRouter(16, () => answers.shift() ?? 'taken');
  const pace: Pace = { share: 1, late: 0 };
  for (let at = 0; at < 6; at += 1) assert.ok(isSliced(await nextPush(router.driver, pace)), String(at));
  assert.equal(router.sizes, [15, 7, 3, 5, 2, 1]);
  assert.is(router.held().length, 4);
});

test('a slice that is refused is a failure at once', async () => {
  const router = slowRouter(16, () => 'refused');
  const pushed = await nextPush(router.driver, { share: 1, late: 0 });
  assert.not.ok(isSliced(pushed));
});

test('together, all routers hold the same after each slice, whatever goes wrong on which of them', async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  console.log(`seed ${seed}`);
  const random = randomFrom(seed);
  const fate = (): 'taken' | 'late' | 'refused' => {
    const drawn = random();
    if (drawn < 0.8) return 'taken';
    return drawn < 0.9 ? 'late' : 'refused';
  };
  const routers = [12, 30, 1000].map((possible, at) => ({ name: `core${at}`, ...slowRouter(possible, fate) }));
  const pace: Pace = { share: 1, late: 0 };
  let isOver = false;
  for (let step = 0; step < 500 && !isOver; step += 1) {
    const push = {
      routers: routers.map(({ name, driver }) => ({ router: name, driver })),
      list: LIST,
      prefixes: WANTED,
      last: () => [],
      timeoutMilliseconds: 30_000,
    };
    const before = routers[0]?.held() ?? [];
    const pushed = await pushSliceTogether(
      { ...push, layers: LAYERS, isFirst: false },
      pace,
      createManualClock(),
      never,
    );
    for (const { name, held } of routers) assert.equal(held(), routers[0]?.held(), `${name} after step ${step}`);
    assert.ok((routers[0]?.held().length ?? 0) >= before.length, 'no block is lost on the way');
    isOver = !pushed.every(isSliced) && pushed.every((one) => !isSliced(one) && one.result === 'confirmed');
  }
  assert.ok(isOver, 'it comes to its end');
  for (const { held } of routers) assert.equal(held(), WANTED);
});

test.run();
