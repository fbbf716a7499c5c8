import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rememberedRegionLimits } from '../../../src/application/ip-control/regions.ts';
import type { RegionView } from '../../../src/projections/ip-control/region-view.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const NOON = '2026-11-27T12:00:00Z';

const region = (most: number): RegionView => ({
  regionId: 1,
  name: 'eu-west',
  deployPolicy: 'each',
  routers: [{ name: 'edge1', driver: 'frr', options: { max_entries: String(most) }, repair: true, addedAt: NOON }],
  createdAt: NOON,
});

/** Views of one region, of which the number of readings is counted, and which may fail or hang. */
function given() {
  const clock = createManualClock();
  const views = { most: 100, readings: 0, answer: 'now' as 'now' | 'failure' | 'never' };
  const list = async () => {
    views.readings += 1;
    if (views.answer === 'failure') throw new Error('the read models are away');
    if (views.answer === 'never') return new Promise<never>(() => undefined);
    return [{ key: '1', view: region(views.most) }];
  };
  const limits = rememberedRegionLimits({ list }, clock);
  return { clock, views, most: async () => (await limits()).get(1)?.most };
}

test('limits are read once for many changes, and anew after a moment', async () => {
  const { clock, views, most } = given();
  assert.equal(await Promise.all([most(), most(), most()]), [100, 100, 100]);
  assert.is(await most(), 100);
  assert.is(views.readings, 1);
  views.most = 50;
  await clock.advance({ milliseconds: 250 });
  assert.is(await most(), 50);
  assert.is(views.readings, 2);
});

test('limits that can not be read are those that were read before', async () => {
  const { clock, views, most } = given();
  await most();
  await clock.advance({ milliseconds: 250 });
  views.answer = 'failure';
  assert.is(await most(), 100);
  views.answer = 'now';
  views.most = 7;
  assert.is(await most(), 7, 'a failure is not remembered');
});

test('a change waits only a moment for limits when older ones are known', async () => {
  const { clock, views, most } = given();
  await most();
  await clock.advance({ milliseconds: 250 });
  views.answer = 'never';
  const waiting = most();
  await clock.advance({ milliseconds: 100 });
  assert.is(await waiting, 100);
});

test('without any limits a failure is one of the change', async () => {
  const { views, most } = given();
  views.answer = 'failure';
  let failure: unknown;
  await most().catch((error: unknown) => (failure = error));
  assert.instance(failure, Error);
});

test.run();
