// A view that is not there is looked for once, however many events ask for it.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Event } from '../../../src/kernel/event.ts';
import type { Projection } from '../../../src/kernel/projection.ts';
import { viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { recorded } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';

const test = suite<{ log: EmbeddedLog }>('views that are not there');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

type Noted = Event<'Noted', { key: string; isOwed: boolean }>;

/** A view for as long as something is owed. */
const owed: Projection<Noted, Readonly<{ isOwed: true }>> = {
  name: 'owed',
  version: 1,
  handles: ['Noted'],
  keysOf: ({ data }) => [data.key],
  evolve: (_view, { data: { isOwed } }) => (isOwed ? { isOwed } : undefined),
};

async function reopened(log: EmbeddedLog) {
  const readModels = log.readModels();
  const collection = await readModels.begin('owed', 1);
  await readModels.save([
    { collection, position: 0n, changes: [{ key: 'kept', json: '{"position":"0","view":{"isOwed":true}}' }] },
  ]);
  await readModels.activate(collection);
  const loaded: string[] = [];
  const cache = viewCacheOf(owed, {
    ...readModels,
    load: (from, keys) => {
      loaded.push(...keys);
      return readModels.load(from, keys);
    },
  });
  await cache.open(collection);
  let position = 0n;
  const tell = async (key: string, isOwed: boolean): Promise<void> => {
    position += 1n;
    const event = recorded<Noted>({ type: 'Noted', data: { key, isOwed } }, '2026-11-27T12:00:00Z', { position });
    await cache.prepare([event]);
    cache.apply(event);
  };
  const save = async (): Promise<void> => {
    const changes = cache.takeUnsaved();
    if (changes !== undefined) await readModels.save([changes]);
    cache.saved();
  };
  return { cache, loaded, tell, save };
}

test('events that leave it so look for it once', async ({ log }) => {
  const { cache, loaded, tell, save } = await reopened(log);
  for (let turn = 0; turn < 3; turn += 1) {
    await tell('gone', false);
    await save();
  }
  assert.equal(loaded, ['gone']);
  assert.is(await cache.get('gone'), undefined);
  assert.equal(await cache.list(), [{ key: 'kept', view: { isOwed: true } }]);
  assert.equal(cache.takeTouched(), []);
});

test('one that comes into being and ends again is as any other', async ({ log }) => {
  const { cache, tell, save } = await reopened(log);
  await tell('later', false);
  await tell('later', true);
  await save();
  assert.equal(await cache.get('later'), { isOwed: true });
  assert.equal(
    (await cache.list()).map(({ key }) => key),
    ['kept', 'later'],
  );
  await tell('later', false);
  await save();
  assert.equal(
    (await cache.page({ limit: 5 })).map(({ key }) => key),
    ['kept'],
  );
});

test('what only readers have asked for is looked for each time', async ({ log }) => {
  const { cache, loaded } = await reopened(log);
  await cache.get('anything');
  await cache.get('anything');
  assert.equal(loaded, ['anything', 'anything']);
});

test.run();
