import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Ages } from '../../src/concurrency/ages.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const [MINUTE, HOUR] = [60_000, 3_600_000];

function opened(): Readonly<{ clock: ManualClock; ages: Ages; at: () => number; set: (hours: number) => void }> {
  const clock = createManualClock();
  return {
    clock,
    ages: new Ages(clock),
    at: () => clock.now().epochMilliseconds,
    set: (hours) => clock.setWallClock(clock.now().add({ hours })),
  };
}

test('what was asked about once ages by the time that passes, whatever is done to the wall clock', async () => {
  const { clock, ages, at, set } = opened();
  const since = at() - MINUTE;
  assert.is(ages.of('a', since), MINUTE);
  for (const [nth, hours] of [-1, 3, -7].entries()) {
    set(hours);
    await clock.advance({ minutes: 1 });
    assert.is(ages.of('a', since), (2 + nth) * MINUTE);
  }
});

test('what is in the future when it is asked about first counts as that moment', async () => {
  const { clock, ages, at, set } = opened();
  const since = at();
  set(-1);
  assert.is(ages.of('a', since), 0);
  await clock.advance({ minutes: 5 });
  assert.is(ages.of('a', since), 5 * MINUTE);
});

test('what a look finds new came after the look before', async () => {
  const { clock, ages, at, set } = opened();
  assert.is(ages.look()('old', at() - HOUR), HOUR, 'of what was there at the first look the wall clock is believed');
  const since = at();
  set(1);
  await clock.advance({ minutes: 1 });
  assert.is(ages.look()('new', since), MINUTE);
  assert.is(ages.look()('old', at()), HOUR + MINUTE);
});

test('what is told late is as old as the wall clock says, up to what is known to be older', async () => {
  const { clock, ages, at } = opened();
  ages.look();
  await clock.advance({ minutes: 1 });
  assert.is(ages.look()('told late', at() - HOUR, 2 * HOUR), HOUR);
  assert.is(ages.look()('told late by a clock that was set', at() - HOUR, 5 * MINUTE), 5 * MINUTE);
});

test.run();
