import { Temporal } from '@js-temporal/polyfill';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { pageEvents } from '../../../src/application/ip-control/history.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

const test = suite<{ application: TestApplication }>('events from an instant on');
const DAYS = ['2026-08-29', '2026-08-31', '2026-09-12'];

/** Each of these days a region is made, at noon, which is called after the day. */
test.before(async (context) => {
  const clock = createManualClock();
  context.application = await openTestApplication(clock);
  const { application } = context;
  for (const day of DAYS) {
    clock.setWallClock(`${day}T12:00:00Z`);
    await createRegion({ name: `of ${day}` }, application.context, application);
  }
  await application.catchUp();
});
test.after(({ application }) => application.close());

/** The regions that were made since, and from which position on the log was read for that. */
async function since(from: string, { store, views }: TestApplication) {
  const begins: bigint[] = [];
  const watched = {
    ...store,
    readAll: (after: bigint) => {
      begins.push(after);
      return store.readAll(after);
    },
  };
  const filter = { stream: undefined, type: 'RegionCreated', actor: undefined, to: undefined, after: undefined };
  const { events } = await pageEvents(
    { ...filter, from: Temporal.Instant.from(from) },
    100,
    { store: watched, views },
    new AbortController().signal,
  );
  return { days: events.map(({ metadata }) => metadata.at.slice(0, 10)), begin: begins[0] };
}

test('are read from the day on, or from the next one in which something has happened', async ({ application }) => {
  let before = -2n;
  for (const [from, left] of [
    ['2026-08-01T00:00:00Z', 0],
    ['2026-08-30T00:00:00Z', 1],
    ['2026-09-01T00:00:00Z', 2],
  ] as const) {
    const { days, begin } = await since(from, application);
    assert.equal(days, DAYS.slice(left), from);
    assert.ok(begin !== undefined && begin > before, `${from}: ${String(begin)}`);
    before = begin;
  }
});

test('within a day it is the instant that counts', async ({ application }) => {
  assert.equal((await since('2026-08-29T12:00:00Z', application)).days, DAYS);
  assert.equal((await since('2026-08-29T12:00:01Z', application)).days, DAYS.slice(1));
  assert.equal((await since('2026-09-13T00:00:00Z', application)).days, []);
});

test.run();
