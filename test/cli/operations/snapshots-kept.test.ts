// The first command on a long stream after its log was copied: it reads a snapshot, and not the stream.
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../../src/adapters/sqlite/read-models.ts';
import { openAggregate } from '../../../src/commands/aggregate.ts';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { createCodec } from '../../../src/events/codec.ts';
import { seal } from '../../../src/events/hash-chain.ts';
import { EVENT_CATALOGUE } from '../../../src/main/contexts.ts';
import { disabled, enabled } from '../../commands/ip-control/customer-examples.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const test = suite('snapshots of long streams');

const [codec, log] = [createCodec(EVENT_CATALOGUE), createLog({ level: 'silent' })];
const EVENTS = 3_000;
const STREAM = 'customer-1';

const source = await openEdgeward();
await addRegion(source, 'eu-west');
await addCustomer(source, 'Acme', [['203.0.113.0/24', 'eu-west']]);
await makeLong(source);
test.after(() => source.remove());

/** Addresses that were disabled and enabled again, for years. */
async function makeLong({ dataDir }: Edgeward): Promise<void> {
  const store = openSqliteEventStore({ file: join(dataDir, 'events.db'), codec, log });
  for (let made = 0; made < EVENTS; made += 500) {
    const revision = await store.revision(STREAM);
    const previousHash = (await store.eventAt(STREAM, revision))?.hash ?? '';
    const added = Array.from({ length: 500 }, (_, at) => (at % 2 === 0 ? disabled : enabled)(['203.0.113.7']));
    const at = systemClock.nowText();
    const made500 = { stream: STREAM, previousHash, actor: 'system:test', at, correlationId: 't', causationId: 't' };
    await store.append(STREAM, revision, seal(added, { ...made500, ids: systemIds, schemaOf: codec.schemaOf }));
  }
  await store.close();
}

/** A copy of the log in another data directory, with nothing that was derived from it. */
async function copied(): Promise<Edgeward> {
  const target = await openEdgeward();
  const places = ['--from', 'sqlite:', '--to', `sqlite:${target.dataDir}`];
  assert.is((await source.command('stores', 'copy', ...places)).exitCode, 0);
  return target;
}

/** How many events the first command of another process reads there. */
async function readByFirstCommand({ dataDir }: Edgeward): Promise<number> {
  const store = openSqliteEventStore({ file: join(dataDir, 'events.db'), codec, log });
  const { readModels, snapshots } = openSqliteReadModels({ file: join(dataDir, 'views.db'), log, clock: systemClock });
  let read = 0;
  const counting = {
    ...store,
    read: async function* (stream: string, after?: bigint) {
      for await (const page of store.read(stream, after)) {
        read += page.length;
        yield page;
      }
    },
  };
  const dependencies = { store: counting, codec, snapshots, clock: systemClock, ids: systemIds, log };
  await openAggregate(customerDecider, dependencies).state(1);
  await readModels.close();
  await store.close();
  return read;
}

test('a rebuild after a copy leaves them', async () => {
  const target = await copied();
  try {
    assert.ok((await readByFirstCommand(target)) > EVENTS, 'without one the whole stream is read');
    await target.json('projections', 'rebuild', '--all');
    assert.ok((await readByFirstCommand(target)) < 1_000);
  } finally {
    await target.remove();
  }
});

test('so does a server that has read the log at its start', async () => {
  const target = await copied();
  try {
    await target.serve();
    await waitUntil('a snapshot is kept', async () => (await readByFirstCommand(target)) < 1_000);
    await target.stop();
  } finally {
    await target.remove();
  }
});

test.run();
