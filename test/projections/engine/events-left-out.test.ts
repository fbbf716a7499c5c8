import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { STREAM_CATEGORIES } from '../../../src/main/contexts.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { openProjector, type Projector } from '../../../src/projections/engine/projector.ts';
import { rebuildProjections } from '../../../src/projections/engine/rebuild.ts';
import { openStore } from '../../adapters/eventstoredb/opening.ts';
import { assigned, disabled, registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { isAt, leavingOut, type LeavesOut } from '../../support/stores/leaving-out.ts';
import { startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openViewCaches, storedDocuments } from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('events that a reading of the log leaves out');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

async function* nothing() {}

/** A process that keeps views of this log, from where earlier ones have saved them. */
async function following(log: EmbeddedLog, store: EventStore) {
  const readModels = log.readModels();
  const viewCaches = openViewCaches(readModels);
  const projector = openProjector(Object.values(viewCaches), {
    store,
    readModels,
    clock: log.clock,
    log: log.log,
    writes: true,
  });
  await projector.open();
  const stopping = new AbortController();
  const ended = projector.run(stopping.signal);
  ended.catch(() => undefined);
  return {
    readModels,
    viewCaches,
    projector,
    ended,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function isShown(projector: Projector, store: EventStore): Promise<void> {
  const end = await store.end();
  await waitUntil(`position ${end}`, () => projector.isReadable() && projector.position() >= end);
}

/** What a process saves that was given everything. */
async function expectedDocuments(log: EmbeddedLog): Promise<unknown> {
  const other = await openEmbeddedLog();
  try {
    const readModels = other.readModels();
    const viewCaches = openViewCaches(readModels);
    const projector = openProjector(Object.values(viewCaches), {
      store: log.store,
      readModels,
      clock: log.clock,
      log: other.log,
      writes: true,
    });
    await projector.open();
    await projector.catchUp();
    return await storedDocuments(readModels, viewCaches);
  } finally {
    await other.close();
  }
}

function errorsOf(log: EmbeddedLog): readonly string[] {
  return log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
}

const CUSTOMER = [registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1'])] as const;

test('a missing revision is noticed at the next one of its stream, told, and read again: the views are those of the whole log', async ({
  log,
}) => {
  await log.append('customer-1', ...CUSTOMER);
  const { viewCaches, readModels, projector, stop } = await following(
    log,
    leavingOut(log.store, isAt('customer-1', 3, 4)),
  );
  await isShown(projector, log.store);
  await log.append('customer-1', disabled(['192.0.2.2']), disabled(['192.0.2.3']));
  await log.append('customer-2', ...CUSTOMER);
  await isShown(projector, log.store);
  assert.equal(errorsOf(log), []);
  await log.append('customer-1', disabled(['192.0.2.4']));
  await isShown(projector, log.store);
  const ledger = (await viewCaches.addresses.get('1'))?.ledger.get(1);
  assert.is(ledger?.disabled.count(), 4n);
  await stop();
  assert.equal(await storedDocuments(readModels, viewCaches), await expectedDocuments(log));
  assert.is(errorsOf(log).length, 1);
  assert.match(errorsOf(log)[0] ?? '', /left out revision 3 to 4 of customer-1, which it holds; it is read again/);
});

test('views that were saved without it are made again', async ({ log }) => {
  await log.append('customer-1', ...CUSTOMER);
  const first = await following(log, leavingOut(log.store, isAt('customer-1', 3)));
  await isShown(first.projector, log.store);
  await log.append('customer-1', disabled(['192.0.2.2']));
  await log.append('customer-2', ...CUSTOMER);
  await isShown(first.projector, log.store);
  await log.clock.advance({ seconds: 60 });
  await waitUntil('they are saved', async () => {
    const standing = (await first.readModels.standing(['addresses'])).get('addresses');
    return standing?.position === (await log.store.end());
  });
  await log.append('customer-1', disabled(['192.0.2.4']));
  await isShown(first.projector, log.store);
  await first.stop();
  assert.equal(await storedDocuments(first.readModels, first.viewCaches), await expectedDocuments(log));
});

test('one that is missing right behind where a process goes on is noticed as well', async ({ log }) => {
  await log.append('customer-1', ...CUSTOMER);
  const first = await following(log, log.store);
  await isShown(first.projector, log.store);
  await first.stop();
  const next = await following(log, leavingOut(log.store, isAt('customer-1', 3, 4)));
  await log.append('customer-1', disabled(['192.0.2.2']), disabled(['192.0.2.3']), disabled(['192.0.2.4']));
  await isShown(next.projector, log.store);
  await next.stop();
  assert.match(errorsOf(log)[0] ?? '', /left out revision 3 to 4 of customer-1/);
  assert.equal(await storedDocuments(next.readModels, next.viewCaches), await expectedDocuments(log));
});

test('a rebuild that is not given everything begins again', async ({ log }) => {
  await log.append('customer-1', ...CUSTOMER, disabled(['192.0.2.2']));
  let readings = 0;
  const isLeftOut: LeavesOut = (event) => isAt('customer-1', 2)(event) && (readings += 1) === 1;
  const readModels = log.readModels();
  const dependencies = { readModels, clock: log.clock, log: log.log };
  const store = leavingOut(log.store, isLeftOut, true);
  const viewCaches = openViewCaches(readModels);
  await rebuildProjections(Object.values(viewCaches), { ...dependencies, store }, () => undefined);
  assert.is(readings, 2);
  assert.equal(await storedDocuments(readModels, viewCaches), await expectedDocuments(log));
});

test('a log that is never read whole ends what keeps its views, loudly', async ({ log }) => {
  await log.append('customer-1', ...CUSTOMER, disabled(['192.0.2.2']));
  const { ended } = await following(log, leavingOut(log.store, isAt('customer-1', 2), true));
  const failure = await ended.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Error);
  assert.match(failure.message, /left out revision 2 of customer-1, which it holds, 4 times/);
});

test('events that the log itself has lost are told, and keep nothing up', async ({ log }) => {
  await log.append('customer-1', ...CUSTOMER, disabled(['192.0.2.2']));
  await log.append('customer-2', ...CUSTOMER);
  const lost = { ...leavingOut(log.store, isAt('customer-1', 2), true), read: () => nothing() };
  const { projector, viewCaches, stop } = await following(log, lost);
  await isShown(projector, log.store);
  assert.is((await viewCaches.addresses.get('2'))?.ledger.get(1)?.disabled.count(), 1n);
  await stop();
  assert.is(errorsOf(log).length, 1);
  assert.match(errorsOf(log)[0] ?? '', /does not hold revision 2 of customer-1: edgeward verify says more/);
});

test('a server whose subscription passes over an event: nothing that is served lacks it', async ({ log }) => {
  const server = await startEventStoreStandIn();
  const store = await openStore({ port: server.port, codec: log.codec, categories: STREAM_CATEGORIES });
  try {
    await log.append('customer-1', ...CUSTOMER, disabled(['192.0.2.2']), disabled(['192.0.2.3']));
    const events = await log.events('customer-1');
    await store.append('customer-1', -1n, events.slice(0, 3));
    const { projector, viewCaches, stop } = await following(log, store);
    await isShown(projector, store);
    server.faults.withheld = ({ revision }) => revision === 3n;
    await store.append('customer-1', 2n, events.slice(3, 4));
    await store.append('customer-1', 3n, events.slice(4));
    await isShown(projector, store);
    const ledger = (await viewCaches.addresses.get('1'))?.ledger.get(1);
    await stop();
    assert.is(ledger?.disabled.count(), 3n);
    assert.match(errorsOf(log)[0] ?? '', /left out revision 3 of customer-1/);
  } finally {
    await store.close();
    await server.stop();
  }
});

test.run();
