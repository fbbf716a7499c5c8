import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { openViewCaches } from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('a process whose turn to keep the views is over');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
  await state.log.append('customer-1', registered());
});
test.after.each((state) => state.log.close());

/** Keeps views as long as it is its turn. */
function keeperOf(log: EmbeddedLog) {
  const turn = { isOver: false };
  const readModels = log.readModels();
  const { customers } = openViewCaches(readModels);
  const mayStillWrite = (): boolean => !turn.isOver;
  const tools = { store: log.store, readModels, clock: log.clock, log: log.log, writes: true, mayStillWrite };
  return { turn, readModels, customers, projector: openProjector([customers], tools) };
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('it begins no views', async ({ log }) => {
  const { turn, readModels, projector } = keeperOf(log);
  turn.isOver = true;
  assert.instance(await failureOf(projector.open()), StoreUnavailable);
  assert.is(await readModels.active('customers'), undefined);
});

test('it puts none in the place of those that another process keeps by now', async ({ log }) => {
  const { turn, readModels, customers, projector } = keeperOf(log);
  await projector.open();
  await projector.catchUp();
  turn.isOver = true;
  const { projection } = customers.collection() ?? { projection: '' };
  const others = await readModels.begin(projection, customers.version - 1);
  await readModels.activate(others);
  const ended = projector.run(new AbortController().signal);
  const reading = customers.get('unknown');
  assert.instance(await failureOf(reading), StoreUnavailable);
  assert.instance(await failureOf(ended), StoreUnavailable);
  assert.equal(await readModels.active(projection), others);
});

test.run();
