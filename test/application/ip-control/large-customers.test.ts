import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readLargeCustomers } from '../../../src/application/ip-control/large-customers.ts';
import { openAggregate } from '../../../src/commands/aggregate.ts';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import type { ReadModels } from '../../../src/ports/read-models.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { addressProjection } from '../../../src/projections/ip-control/address-view.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { assigned, disabled, registered } from '../../commands/ip-control/customer-examples.ts';

const test = suite<{ log: EmbeddedLog }>('large customers are read at a start');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

/** Every second address of as many as needed. */
function scattered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `10.0.${at >> 7}.${2 * (at & 127)}`);
}

/** Views that a server has saved before, of one customer with these numbers of ranges each. */
async function savedViews(log: EmbeddedLog, counts: Readonly<Record<number, number>>): Promise<ReadModels> {
  for (const [id, count] of Object.entries(counts))
    await log.append(`customer-${id}`, registered(), assigned(Number(id), '10.0.0.0/8'), disabled(scattered(count)));
  const readModels = log.readModels();
  const projector = openProjector([viewCacheOf(addressProjection, readModels)], { ...log, readModels, writes: true });
  await projector.open();
  await projector.catchUp();
  return readModels;
}

test('those with very many ranges are in memory afterwards, and no others are read', async ({ log }) => {
  const readModels = await savedViews(log, { 1: 3, 7: 6_000, 70: 5_000, 71: 40 });
  const [loaded, read]: [string[], string[]] = [[], []];
  const watchedModels: ReadModels = {
    ...readModels,
    load: (collection, keys) => (loaded.push(...keys), readModels.load(collection, keys)),
  };
  const { store } = log;
  const watchedStore = {
    ...store,
    read: (...call: Parameters<typeof store.read>) => (read.push(call[0]), store.read(...call)),
  };
  const addresses = viewCacheOf(addressProjection, watchedModels);
  await addresses.open(await readModels.active('addresses'));
  const customers = openAggregate(customerDecider, log.dependencies({ store: watchedStore }));
  assert.is(await readLargeCustomers({ ...log, customers, addresses, readModels: watchedModels }), 2);
  assert.equal(loaded, ['7', '70']);
  assert.equal(read, ['customer-7', 'customer-70']);
  assert.is((await addresses.get('7'))?.ledger.get(1)?.disabled.count(), 6_000n);
  await customers.state(7);
  assert.equal(
    [loaded, read],
    [
      ['7', '70'],
      ['customer-7', 'customer-70'],
    ],
  );
});

test('one that can not be read is told, and the others are read all the same', async ({ log }) => {
  const readModels = await savedViews(log, { 7: 6_000, 70: 5_000 });
  const read: string[] = [];
  const { store } = log;
  const damaged: typeof store = {
    ...store,
    read: (...call) => {
      read.push(call[0]);
      if (call[0] === 'customer-7') throw new Error('an event is not what was appended');
      return store.read(...call);
    },
  };
  const addresses = viewCacheOf(addressProjection, readModels);
  await addresses.open(await readModels.active('addresses'));
  const customers = openAggregate(customerDecider, log.dependencies({ store: damaged }));
  assert.is(await readLargeCustomers({ ...log, customers, addresses, readModels }), 2);
  assert.equal(read, ['customer-7', 'customer-70']);
  const warned = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  assert.equal(warned, ['customer 7 could not be read at the start; its first request reads it']);
});

test('without any, and without views, there is nothing to read', async ({ log }) => {
  const empty = log.readModels();
  const customers = openAggregate(customerDecider, log.dependencies());
  const addresses = viewCacheOf(addressProjection, empty);
  assert.is(await readLargeCustomers({ ...log, customers, addresses, readModels: empty }), 0);
  const readModels = await savedViews(log, { 7: 3 });
  assert.is(await readLargeCustomers({ ...log, customers, addresses, readModels }), 0);
});

test.run();
