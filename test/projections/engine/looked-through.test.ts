// A log that others write to as well is put back from an older copy that lacks only what they have written: events of ours come where they had theirs.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { assigned, disabled, registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { openViewCaches, storedDocuments } from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('events where an earlier reading found none');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

/** A process that keeps views of this log, from where earlier ones have saved them. */
async function opened(log: EmbeddedLog) {
  const readModels = log.readModels();
  const viewCaches = openViewCaches(readModels);
  const tools = { store: log.store, readModels, clock: log.clock, log: log.log, writes: true };
  const projector = openProjector(Object.values(viewCaches), tools);
  await projector.open();
  return { readModels, viewCaches, projector };
}

/** Has all views saved as looked through up to a position, behind the newest event of ours. */
async function lookedThroughUpTo(position: bigint, log: EmbeddedLog): Promise<void> {
  const { readModels, viewCaches, projector } = await opened(log);
  await projector.catchUp();
  const standing = await readModels.standing(Object.values(viewCaches).map(({ name }) => name));
  for (const { collection, anchor } of standing.values())
    await readModels.save([{ collection, position, anchor, changes: [] }]);
}

/** What a process saves that begins with nothing. */
async function expectedDocuments(log: EmbeddedLog): Promise<unknown> {
  const other = await openEmbeddedLog();
  try {
    const { readModels, viewCaches, projector } = await opened({ ...other, store: log.store });
    await projector.catchUp();
    return await storedDocuments(readModels, viewCaches);
  } finally {
    await other.close();
  }
}

async function saved(log: EmbeddedLog): Promise<unknown> {
  const { readModels, viewCaches, projector } = await opened(log);
  await projector.catchUp();
  return storedDocuments(readModels, viewCaches);
}

function errorsOf(log: EmbeddedLog): readonly string[] {
  return log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
}

test('the views are made again, as what is saved takes such an event for an old one', async ({ log }) => {
  await log.append('customer-1', registered(), assigned(1, '192.0.2.0/24'));
  await lookedThroughUpTo(5n, log);
  await log.append('customer-1', disabled(['192.0.2.1']));
  const before = await (await opened(log)).readModels.active('customers');
  assert.equal(await saved(log), await expectedDocuments(log));
  assert.match(errorsOf(log).join('\n'), /holds revision 2 of customer-1 where it had none of ours/);
  assert.not.equal(await log.readModels().active('customers'), before);
});

test('so they are when the log has grown beyond by the time they are opened, as after a crash', async ({ log }) => {
  await log.append('customer-1', registered(), assigned(1, '192.0.2.0/24'));
  await lookedThroughUpTo(5n, log);
  for (const host of [1, 2, 3, 4, 5]) await log.append('customer-1', disabled([`192.0.2.${host}`]));
  assert.equal(await saved(log), await expectedDocuments(log));
  assert.match(errorsOf(log).join('\n'), /left out revision 2 to 4 of customer-1/);
});

test('a restart on the same log makes nothing again', async ({ log }) => {
  await log.append('customer-1', registered(), assigned(1, '192.0.2.0/24'));
  await lookedThroughUpTo(5n, log);
  const before = await log.readModels().active('customers');
  for (let restart = 0; restart < 2; restart += 1) assert.equal(await saved(log), await expectedDocuments(log));
  assert.equal(errorsOf(log), []);
  assert.equal(await log.readModels().active('customers'), before);
});

test.run();
