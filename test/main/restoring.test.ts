import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../src/adapters/ids.ts';
import { openAggregates } from '../../src/main/contexts.ts';
import { openRestoring } from '../../src/main/restoring.ts';
import type { Standing } from '../../src/ports/read-models.ts';
import { assigned, registered } from '../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';

const test = suite<{ log: EmbeddedLog }>('a log that may be a restored one');

test.before.each(async (state) => {
  const log = await openEmbeddedLog();
  state.log = log;
  await log.append(
    'directory-main',
    { type: 'RegionNameReserved', data: { regionId: 1, name: 'ams' } },
    { type: 'CustomerNameReserved', data: registered().data },
    { type: 'RegionNameReserved', data: { regionId: 2, name: 'fra' } },
  );
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'));
});
test.after.each(({ log }) => log.close());

function restoringOf(log: EmbeddedLog) {
  const aggregates = openAggregates(log.dependencies());
  return openRestoring(aggregates, { store: log.store, ids: systemIds, log: log.log });
}

/** A view that has applied this event of the customer's stream as its last one. */
function appliedUpTo(revision: bigint, hash: string, position: bigint): Standing {
  const collection = { projection: 'customers', version: 1, generation: 1 };
  return { collection, position, anchor: { stream: 'customer-7', revision, position, hash } };
}

const begun = async (log: EmbeddedLog) =>
  (await log.events('directory-main')).filter(({ type }) => type === 'RestoreBegan');

test('views that have applied an event which the log lacks make it a restored one, and say where each customer stands', async ({
  log,
}) => {
  const restoring = restoringOf(log);
  await restoring.whenAhead({ end: 4n, views: [appliedUpTo(9n, 'ab', 30n)] });
  const [event, ...more] = await begun(log);
  assert.equal(event?.data, { because: 'log-older-than-views', customers: [{ customerId: 7, revision: 1 }] });
  assert.is(event?.metadata.actor, 'system:restore');
  assert.equal(more, []);
  assert.equal(await restoring.regions(), ['ams', 'fra']);
});

test('a log that holds another event in that place is one too', async ({ log }) => {
  await restoringOf(log).whenAhead({ end: 4n, views: [appliedUpTo(1n, 'ab', 4n)] });
  assert.is((await begun(log)).length, 1);
});

test('a view that does not know which event it has applied is believed', async ({ log }) => {
  const view = { ...appliedUpTo(1n, '', 99n), anchor: undefined };
  await restoringOf(log).whenAhead({ end: 4n, views: [view] });
  assert.is((await begun(log)).length, 1);
});

test('a log that was copied into another store holds every event, at another position: it is none', async ({ log }) => {
  const restoring = restoringOf(log);
  const last = (await log.events('customer-7')).at(-1);
  await restoring.whenAhead({ end: 4n, views: [appliedUpTo(1n, last?.metadata.hash ?? '', 12_345n)] });
  assert.equal(await begun(log), []);
  assert.is(await restoring.regions(), undefined);
});

test('where it lasts is told region by region, and warned of as long as it does', async ({ log }) => {
  const restoring = restoringOf(log);
  await restoring.warn();
  await restoring.begin('operator', { actor: 'admin:test', requestId: 'test' });
  const aggregates = openAggregates(log.dependencies());
  await aggregates.directory.handle(
    'main',
    { type: 'AcceptRestore', data: { regionId: 1 } },
    { actor: 'admin:test', requestId: 'test' },
  );
  await restoring.warn();
  const warned = log.lines.filter(({ level, message }) => level === 'warn' && message.includes('restore accept'));
  assert.equal(
    warned.map(({ fields }) => fields),
    [{ regions: ['fra'] }],
  );
  assert.equal(await restoring.byRegion(), [
    { region: 'ams', restored: false },
    { region: 'fra', restored: true },
  ]);
});

test.run();
