import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BEGINNING, StoreUnavailable } from '../../../src/ports/event-store.ts';
import { storedViewsOf } from '../../../src/projections/engine/stored-views.ts';
import { commitProjection } from '../../../src/projections/ip-control/commit-view.ts';
import { customerProjection } from '../../../src/projections/ip-control/customer-view.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { rebuildProjections } from '../../../src/projections/engine/rebuild.ts';
import { openSavedPositions } from '../../../src/projections/engine/saved-positions.ts';
import { viewReaderOf } from '../../../src/projections/engine/view-reader.ts';
import { registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openViewCaches } from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('views read straight from the read models');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

/** The process that keeps the views. */
async function keeperOf(log: EmbeddedLog) {
  const readModels = log.readModels();
  const viewCaches = Object.values(openViewCaches(readModels));
  const { store, clock } = log;
  const projector = openProjector(viewCaches, { store, readModels, clock, log: log.log, writes: true });
  await projector.open();
  return {
    save: () => projector.catchUp(),
    rebuild: () =>
      rebuildProjections(
        Object.values(openViewCaches(readModels)),
        { store, readModels, clock, log: log.log },
        () => undefined,
      ),
  };
}

/** A process that keeps none. */
function readingOf(log: EmbeddedLog) {
  return { store: log.store, readModels: log.readModels(), clock: log.clock, log: log.log };
}

test('they show what another process has saved, as soon as it has', async ({ log }) => {
  const keeper = await keeperOf(log);
  const customers = storedViewsOf(customerProjection, readingOf(log));
  assert.is(await customers.get('1'), undefined);
  assert.equal(await customers.list(), []);
  await log.append('customer-1', registered());
  await keeper.save();
  assert.is((await customers.get('1'))?.name, 'Acme Corp.');
  assert.equal(
    (await customers.list()).map(({ key }) => key),
    ['1'],
  );
});

test('a generation that takes the place of another is read, and never looks empty', async ({ log }) => {
  const keeper = await keeperOf(log);
  await log.append('customer-1', registered());
  await keeper.save();
  const customers = storedViewsOf(customerProjection, readingOf(log));
  assert.ok(await customers.get('1'));
  for (let time = 0; time < 3; time += 1) {
    const looking = Promise.all(Array.from({ length: 20 }, () => customers.get('1')));
    await keeper.rebuild();
    for (const view of [...(await looking), await customers.get('1')]) assert.is(view?.name, 'Acme Corp.');
    assert.is((await customers.list()).length, 1);
  }
});

test('one that is behind the log is waited for, and refused after a while', async ({ log }) => {
  const keeper = await keeperOf(log);
  await log.append('customer-1', registered());
  const customers = storedViewsOf(customerProjection, readingOf(log));
  const early = customers.get('1').catch((error: unknown) => error);
  await waitUntil('it waits', () => log.clock.waiting() > 0);
  await waitUntil('it gave up', async () => {
    await log.clock.advance('PT0.5S');
    return log.clock.waiting() === 0;
  });
  assert.instance(await early, StoreUnavailable);
  const late = customers.get('1');
  await keeper.save();
  await waitUntil('it sees that', async () => {
    await log.clock.advance('PT0.025S');
    return log.clock.waiting() === 0;
  });
  assert.is((await late)?.name, 'Acme Corp.');
});

test('what another version of a projection has written is not read', async ({ log }) => {
  const keeper = await keeperOf(log);
  await log.append('customer-1', registered());
  await keeper.save();
  const newer = { ...customerProjection, version: customerProjection.version + 1 };
  const reading = readingOf(log);
  assert.is(await openSavedPositions([newer], reading).lowest(), BEGINNING, 'it counts as never saved');
  const early = storedViewsOf(newer, reading)
    .get('1')
    .catch((error: unknown) => error);
  await waitUntil('it waits', () => log.clock.waiting() > 0);
  await waitUntil('it gave up', async () => {
    await log.clock.advance('PT0.5S');
    return log.clock.waiting() === 0;
  });
  assert.instance(await early, StoreUnavailable);
});

test('how far all of them are saved can be waited for', async ({ log }) => {
  const keeper = await keeperOf(log);
  const reading = readingOf(log);
  const saved = openSavedPositions([customerProjection, commitProjection], reading);
  await log.append('customer-1', registered());
  const end = await log.store.end();
  const reached = saved.reached(end, 60_000);
  const beyond = saved.reached(end + 1n, 3_000);
  assert.ok((await saved.lowest()) < end);
  await keeper.save();
  await waitUntil('time passes', async () => {
    await log.clock.advance('PT0.1S');
    return log.clock.waiting() === 0;
  });
  assert.is(await reached, true);
  assert.is(await beyond, false);
  assert.is(await saved.lowest(), end);
});

test('a served view reads memory while this process keeps it, and the read models before and after', async ({
  log,
}) => {
  const reading = readingOf(log);
  const keeper = await keeperOf(log);
  const view = viewReaderOf(customerProjection, reading);
  assert.is(await view.get('1'), undefined);
  const projector = openProjector([view.newViewCache()], { ...reading, writes: false });
  await projector.open();
  await log.append('customer-1', registered());
  await projector.catchUp();
  assert.is(await view.get('1'), undefined, 'not yet told to');
  let isHeld = true;
  view.readViewCache(() => isHeld);
  assert.is((await view.get('1'))?.name, 'Acme Corp.', 'nothing of it is saved');
  isHeld = false;
  assert.is(await view.get('1'), undefined, 'memory is not to be relied upon any more');
  await keeper.save();
  view.readStoredViews();
  assert.is((await view.get('1'))?.name, 'Acme Corp.');
});

test.run();
