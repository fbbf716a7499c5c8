import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../src/adapters/ids.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { asStored } from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { Event, Sealed } from '../../src/kernel/event.ts';
import { codec } from '../../src/main/stores.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { submissionOf, submitForm } from '../http/customer/source-whitelist-examples.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { createEventLog } from '../support/stores/eventstoredb-stand-in/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { filesBelow } from '../support/files-below.ts';
import { pdf } from '../support/http/multipart-form.ts';
import { waitUntil } from '../support/wait-until.ts';

type Context = { edgeward: Edgeward; eventstore: EventStoreStandIn; esdb: string };

const test = suite<Context>('stores copy');
const mongo = await startMongoServer();
const log = createLog({ level: 'silent' });

test.before.each(async (context) => {
  context.edgeward = await openEdgeward();
  context.eventstore = await startEventStoreStandIn({ log: createEventLog(2n ** 60n) });
  context.esdb = `esdb://127.0.0.1:${context.eventstore.port}?tls=false`;
});
test.after.each(async ({ edgeward, eventstore }) => {
  await edgeward.remove();
  await eventstore.stop();
});

test('an embedded log gets to EventStoreDB and back again, byte for byte and in its order', async ({
  edgeward,
  eventstore,
  esdb,
}) => {
  const { requestId } = await liveThrough(edgeward);
  const rows = eventRows(edgeward.dataDir);
  const copied = await edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  const streams = new Set(rows.map(({ stream }) => stream)).size;
  assert.equal(copied, { copied: rows.length, there: 0, streams, evidence: null });
  assert.equal(
    eventstore.log.all().map(({ id, stream, revision, type, data, customMetadata }) => {
      return {
        id,
        stream: stream.replace(/^edgeward\./, ''),
        revision,
        type,
        data: textOf(data),
        metadata: textOf(customMetadata),
      };
    }),
    rows,
  );

  const back = join(edgeward.folder, 'back');
  await edgeward.json('stores', 'copy', '--from', esdb, '--to', `sqlite:${back}`, '--evidence-from', 'sqlite:');
  assert.equal(eventRows(back), rows);
  const restored = await openEdgeward({ DATA_DIR: back });
  assert.match(JSON.stringify(await restored.json('verify')), '"ok":true');
  assert.match(JSON.stringify(await restored.json('whitelist', 'list')), requestId);
  await restored.remove();
});

test('a log moves to a prefix on the same server, byte for byte; the one that it came from stays as it was', async ({
  edgeward,
  eventstore,
  esdb,
}) => {
  const full = join(edgeward.folder, 'full');
  await fill(full, 40);
  const rows = eventRows(full).map(({ id, stream, revision }) => ({ id, stream, revision }));
  await edgeward.json('stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb, '--to-prefix', '');
  const move = ['stores', 'copy', '--from', esdb, '--from-prefix', '', '--to', esdb, '--to-prefix', 'new.'] as const;
  assert.match(JSON.stringify(await edgeward.json(...move)), '"copied":40,"there":0,');
  assert.match(JSON.stringify(await edgeward.json(...move)), '"copied":0,"there":40,', 'asked again, nothing is left');
  const under = (prefix: string) =>
    eventstore.log
      .all()
      .filter(({ stream }) => stream.startsWith('new.') === (prefix !== ''))
      .map(({ id, stream, revision }) => ({ id, stream: stream.slice(prefix.length), revision }));
  assert.equal(under(''), rows);
  assert.equal(under('new.'), rows);

  const back = join(edgeward.folder, 'back');
  await edgeward.json('stores', 'copy', '--from', esdb, '--from-prefix', 'new.', '--to', `sqlite:${back}`);
  assert.equal(eventRows(back), eventRows(full));
});

test('without the options streams have the prefix of the settings; the same log under one prefix is no copy', async ({
  edgeward,
  eventstore,
  esdb,
}) => {
  const full = join(edgeward.folder, 'full');
  await fill(full, 5);
  const copying = await edgeward.spawn(['stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb], {
    EVENT_STORE_STREAM_PREFIX: 'mine.',
  });
  assert.is(await copying.ended, 0, copying.err());
  assert.ok(eventstore.log.all().every(({ stream }) => stream.startsWith('mine.')));
  const same = ['--from', esdb, '--from-prefix', 'mine.', '--to', esdb, '--to-prefix', 'mine.'];
  const { exitCode, err } = await edgeward.command('stores', 'copy', ...same);
  assert.is(exitCode, 2);
  assert.match(err, '--from and --to are the same log.');
});

test('on the new stores, once the views are built, everything is as it was', async ({ edgeward, esdb }) => {
  const { token } = await liveThrough(edgeward);
  await edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  const moved = { EVENT_STORE_URL: esdb };
  const before = await answersOf(await edgeward.serve(), token);
  await edgeward.stop();
  const rebuild = await edgeward.spawn(['projections', 'rebuild', '--all'], moved);
  assert.is(await rebuild.ended, 0, rebuild.err());
  assert.equal(await answersOf(await edgeward.serve(moved), token), before);
});

test('a repeated copy writes nothing, and a later one what has come since', async ({ edgeward, eventstore, esdb }) => {
  await addRegion(edgeward, 'eu-west');
  const copy = (): Promise<unknown> => edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  await copy();
  const first = eventstore.log.all().length;
  assert.match(JSON.stringify(await copy()), `"copied":0,"there":${first}`);
  await addRegion(edgeward, 'us-east');
  assert.match(JSON.stringify(await copy()), `"there":${first}`);
  assert.is(eventstore.log.all().length, eventRows(edgeward.dataDir).length);
});

test('for people it says what to do next', async ({ edgeward, esdb }) => {
  await addRegion(edgeward, 'eu-west');
  const { out } = await edgeward.command('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  assert.match(out, /^\d+ events copied, 0 were there; \d+ streams/);
  assert.match(out, 'edgeward projections rebuild --all');
});

for (const direction of ['to EventStoreDB', 'from EventStoreDB'] as const) {
  test(`a copy ${direction} that is killed in the middle goes on where it stopped`, async (context) => {
    const { edgeward, eventstore, esdb } = context;
    const [full, other] = [join(edgeward.folder, 'full'), join(edgeward.folder, 'other')];
    await fill(full, 1_200);
    if (direction === 'from EventStoreDB')
      await edgeward.json('stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb);
    const [from, to] = direction === 'to EventStoreDB' ? [`sqlite:${full}`, esdb] : [esdb, `sqlite:${other}`];
    const there = (): number =>
      direction === 'to EventStoreDB' ? eventstore.log.all().length : eventRowsIfAny(other).length;
    const killed = await edgeward.spawn(['stores', 'copy', '--from', from, '--to', to]);
    await waitUntil('some events are there', () => there() > 100);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const before = there();
    assert.ok(before < 1_200, 'it was killed before the end');
    const again = await edgeward.json('stores', 'copy', '--from', from, '--to', to);
    assert.match(JSON.stringify(again), `"copied":${1_200 - before},"there":${before},`);
    if (direction === 'from EventStoreDB') assert.equal(eventRows(other), eventRows(full));
    assert.is(eventstore.log.all().length, 1_200);
  });
}

test('a source that grows meanwhile is copied up to where it was, and the rest by the next copy', async ({
  edgeward,
  eventstore,
  esdb,
}) => {
  const full = join(edgeward.folder, 'full');
  await fill(full, 1_000);
  const args = ['stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb];
  const copying = await edgeward.spawn(args);
  await waitUntil('some events are there', () => eventstore.log.all().length > 100);
  await withLog(full, async (store) => {
    for (let index = 0; index < 50; index += 1) {
      const event = { type: 'RegionCreated', data: { regionId: 5_000 + index, name: 'new' } };
      await store.append(`region-${5_000 + index}`, -1n, sealedAs(`region-${5_000 + index}`, 1, event));
    }
  });
  assert.is(await copying.ended, 0, copying.err());
  await edgeward.json(...args.slice(0, 6));
  assert.equal(
    eventstore.log.all().map(({ id }) => id),
    eventRows(full).map(({ id }) => id),
  );
});

test('what lost its answer is neither lost nor doubled', async ({ edgeward, eventstore, esdb }) => {
  const full = join(edgeward.folder, 'full');
  await fill(full, 400);
  eventstore.faults.appends.push('cut-after-append', 'not-ready', 'cut-before-append', 'cut-after-append');
  eventstore.faults.cutReads = 2;
  await edgeward.json('stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb);
  assert.equal(
    eventstore.log.all().map(({ id }) => id),
    eventRows(full).map(({ id }) => id),
  );
});

test('a target that holds other events is refused, and left as it is', async ({ edgeward, eventstore, esdb }) => {
  const [one, other] = [join(edgeward.folder, 'one'), join(edgeward.folder, 'other')];
  await fill(one, 20);
  await fill(other, 10);
  await edgeward.json('stores', 'copy', '--from', `sqlite:${one}`, '--to', esdb);
  const { exitCode, err } = await edgeward.command('stores', 'copy', '--from', `sqlite:${other}`, '--to', esdb);
  assert.is(exitCode, 4);
  assert.match(err, /the target holds other events: RegionCreated, revision 0 of region-/);
  assert.is(eventstore.log.all().length, 20);
});

test('a target that goes on where the source ends is refused', async ({ edgeward, esdb }) => {
  await addRegion(edgeward, 'eu-west');
  await edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  const longer = await openEdgeward({ EVENT_STORE_URL: esdb });
  await addRegion(longer, 'us-east');
  const { exitCode, err } = await edgeward.command('stores', 'copy', '--from', 'sqlite:', '--to', esdb);
  assert.is(exitCode, 4);
  assert.match(err, 'the source has no such event');
  await longer.remove();
});

test('an event of the source that was altered stops the copy before it', async ({ edgeward, eventstore, esdb }) => {
  const full = join(edgeward.folder, 'full');
  await fill(full, 30);
  alter(full, `UPDATE events SET actor = 'admin:mallory' WHERE position = 21`);
  const { exitCode, err } = await edgeward.command('stores', 'copy', '--from', `sqlite:${full}`, '--to', esdb);
  assert.is(exitCode, 1);
  assert.match(err, /the source is not whole: .* \(position 21\) was altered/);
  assert.ok(eventstore.log.all().length <= 20);
});

test('events that this program does not know, or no longer writes, are copied too', async ({ edgeward, esdb }) => {
  const old = join(edgeward.folder, 'old');
  await withLog(old, async (store) => {
    await store.append('region-1', -1n, sealedAs('region-1', 7, { type: 'RegionPainted', data: { colour: 'blue' } }));
  });
  const back = join(edgeward.folder, 'back');
  await edgeward.json('stores', 'copy', '--from', `sqlite:${old}`, '--to', esdb);
  await edgeward.json('stores', 'copy', '--from', esdb, '--to', `sqlite:${back}`);
  assert.equal(eventRows(back), eventRows(old));
});

test('an event too large for the target is named', async ({ edgeward, esdb }) => {
  const large = join(edgeward.folder, 'large');
  await withLog(large, async (store) => {
    const event = { type: 'RegionPainted', data: { colour: 'x'.repeat(1_200_000) } };
    await store.append('region-1', -1n, sealedAs('region-1', 1, event));
  });
  const { exitCode, err } = await edgeward.command('stores', 'copy', '--from', `sqlite:${large}`, '--to', esdb);
  assert.is(exitCode, 1);
  assert.match(err, /can not take RegionPainted, revision 0 of region-1 \(position 1\)/);
});

test('what can not be meant is refused before anything is opened', async ({ edgeward, esdb }) => {
  const codes = async (...args: readonly string[]): Promise<number> =>
    (await edgeward.command('stores', 'copy', ...args)).exitCode;
  assert.is(await codes('--from', 'sqlite:', '--to', 'sqlite:'), 2);
  assert.is(await codes('--from', 'mongodb://127.0.0.1', '--to', esdb), 2);
  assert.is(await codes('--from', 'sqlite:', '--to', esdb, '--evidence-to', 'esdb://127.0.0.1'), 2);
  assert.is(await codes('--from', esdb, '--to', `${esdb}&x=1`, '--evidence-to', 'sqlite:'), 2);
  assert.is(await codes('--from', 'sqlite:/nowhere', '--to', esdb), 3);
  assert.is(await codes('--from', esdb, '--to', 'esdb://127.0.0.1:1?tls=false'), 69);
});

test('a data directory on which a server runs is no target', async ({ edgeward, esdb }) => {
  await edgeward.serve();
  const { exitCode, err } = await edgeward.command('stores', 'copy', '--from', esdb, '--to', 'sqlite:');
  assert.is(exitCode, 4);
  assert.match(err, /is in use: pid \d+/);
});

test('what was copied into a data directory in part is acted upon by nobody until all of it is there', async ({
  edgeward,
}) => {
  const [full, part] = [join(edgeward.folder, 'full'), join(edgeward.folder, 'part')];
  await fill(full, 30);
  const copy = ['stores', 'copy', '--from', `sqlite:${full}`, '--to', `sqlite:${part}`];
  // As when the command is killed before it comes to the last events.
  alter(full, `UPDATE events SET actor = actor || '?' WHERE position = 21`);
  assert.is((await edgeward.command(...copy)).exitCode, 1);
  assert.ok(eventRows(part).length > 0, 'a part is there');
  const there = await openEdgeward({ DATA_DIR: part });
  const commands = [
    ['region', 'create', 'fra'],
    ['init'],
    ['stores', 'copy', '--from', `sqlite:${part}`, '--to', `sqlite:${part}2`],
  ];
  for (const command of commands) {
    const { exitCode, err } = await there.command(...command);
    assert.is(exitCode, 69, err);
    assert.match(err, /part\/copying says that a copy has not come to its end: .*edgeward stores copy/);
  }
  alter(full, `UPDATE events SET actor = rtrim(actor, '?') WHERE position = 21`);
  await edgeward.json(...copy);
  assert.equal(eventRows(part), eventRows(full));
  await there.json('region', 'create', 'fra');
  await there.remove();
});

test('evidence goes along from one data directory to another, and a file that is missing is named', async ({
  edgeward,
}) => {
  const { requestId } = await liveThrough(edgeward);
  const other = join(edgeward.folder, 'other');
  const copied = await edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', `sqlite:${other}`);
  assert.match(JSON.stringify(copied), '"evidence":{"copied":1,"there":0,"problems":[]}');
  const there = await openEdgeward({ DATA_DIR: other });
  assert.match(JSON.stringify(await there.json('verify')), '"ok":true');
  await there.remove();
  assert.ok(requestId);

  for (const file of await filesBelow(join(edgeward.dataDir, 'evidence'))) await rm(file);
  const third = `sqlite:${join(edgeward.folder, 'third')}`;
  const { exitCode, out, err } = await edgeward.command('stores', 'copy', '--from', 'sqlite:', '--to', third);
  assert.is(exitCode, 1);
  assert.match(out, /customer-1 revision \d+: its evidence is missing in the source/);
  assert.match(err, '1 files of evidence were not copied');
});

if (mongo !== undefined) {
  test('evidence gets to GridFS and back, checked by its SHA-256', async ({ edgeward, esdb }) => {
    await liveThrough(edgeward);
    const url = mongo.freshUrl();
    const copy = (...args: readonly string[]): Promise<unknown> => edgeward.json('stores', 'copy', ...args);
    const first = await copy('--from', 'sqlite:', '--to', esdb, '--evidence-to', url);
    assert.match(JSON.stringify(first), '"evidence":{"copied":1,"there":0,"problems":[]}');
    const again = await copy('--from', 'sqlite:', '--to', esdb, '--evidence-to', url);
    assert.match(JSON.stringify(again), '"evidence":{"copied":0,"there":1,"problems":[]}');
    const moved = await openEdgeward({ EVENT_STORE_URL: esdb, READ_MODEL_URL: url });
    assert.match(JSON.stringify(await moved.json('verify')), /"ok":true.*"evidence":1/);
    await moved.remove();

    const back = join(edgeward.folder, 'back');
    await mkdir(back);
    await copy('--from', esdb, '--to', `sqlite:${back}`, '--evidence-from', url);
    const restored = await openEdgeward({ DATA_DIR: back });
    assert.match(JSON.stringify(await restored.json('verify')), /"ok":true.*"evidence":1/);
    await restored.remove();
    await mongo.drop(url);
  });

  test('a database on which a server leads is no target', async ({ edgeward, esdb }) => {
    const url = mongo.freshUrl();
    const running = await openEdgeward({ EVENT_STORE_URL: esdb, READ_MODEL_URL: url });
    await addRegion(running, 'eu-west');
    await running.serve();
    await running.json('router', 'list');
    await fill(join(edgeward.folder, 'full'), 10);
    const source = `sqlite:${join(edgeward.folder, 'full')}`;
    const args = ['stores', 'copy', '--from', source, '--to', `sqlite:${join(edgeward.folder, 'other')}`];
    const { exitCode, err } = await edgeward.command(...args, '--evidence-to', url);
    assert.is(exitCode, 4);
    assert.match(err, /is in use: serve \(pid \d+ on .*\) leads there/);
    await running.remove();
    await mongo.drop(url);
  });

  test('evidence that was altered is named and not taken over', async ({ edgeward, esdb }) => {
    await liveThrough(edgeward);
    const [file = ''] = await filesBelow(join(edgeward.dataDir, 'evidence'));
    await writeFile(file, 'forged');
    const url = mongo.freshUrl();
    const args = ['stores', 'copy', '--from', 'sqlite:', '--to', esdb, '--evidence-to', url];
    const { exitCode, out } = await edgeward.command(...args);
    assert.is(exitCode, 1);
    assert.match(out, 'its evidence was altered in the source');
    await mongo.drop(url);
  });
}

/** A region, a customer with subnets, changes, and a whitelist request with evidence. */
async function liveThrough(edgeward: Edgeward): Promise<Readonly<{ token: string; requestId: string }>> {
  await addRegion(edgeward, 'eu-west');
  const { token } = await addCustomer(
    edgeward,
    'Zoë & Co',
    [['198.51.100.0/28', 'eu-west']],
    ['--allow-source-whitelist'],
  );
  const api = openApiClient(await edgeward.serve(), token);
  assert.is((await api.post('/ips/disable', { ip: '198.51.100.1' })).status, 200);
  const submitted = await submitForm(api, { ip: '192.31.196.1', evidence: pdf('proof', 300_000) });
  await api.close();
  await edgeward.stop();
  return { token, requestId: submissionOf(submitted).data.request_id };
}

async function answersOf(url: string, token: string): Promise<readonly string[]> {
  const api = openApiClient(url, token);
  const answers: string[] = [];
  for (const path of ['/subnets', '/subnets/1', '/subnets/1/pending', '/source-whitelist'])
    answers.push((await api.get(path)).text);
  await api.close();
  return answers;
}

/** A log of so many events on a tenth as many streams, in turns. */
async function fill(directory: string, events: number): Promise<void> {
  await withLog(directory, async (store) => {
    const streams = events / 10;
    const hashes = new Map<string, string>();
    for (let round = 0; round < 10; round += 1) {
      const appends = Array.from({ length: streams }, (_, index) => {
        const stream = `region-${index + 1}`;
        const event = { type: 'RegionCreated', data: { regionId: index + 1, name: `region ${round} ☂` } };
        const sealed = sealedAs(stream, 1, event, hashes.get(stream));
        hashes.set(stream, sealed[0]?.metadata.hash ?? '');
        return store.append(stream, BigInt(round) - 1n, sealed);
      });
      await Promise.all(appends);
    }
  });
}

async function withLog(directory: string, work: (store: EventStore) => Promise<void>): Promise<void> {
  await mkdir(directory, { recursive: true });
  const store = openSqliteEventStore({ file: join(directory, 'events.db'), codec: asStored(codec), log });
  await work(store);
  await store.close();
}

function sealedAs(stream: string, schema: number, event: Event, previousHash = ''): readonly Sealed[] {
  return seal([event], {
    stream,
    previousHash,
    actor: 'system:test',
    at: '2026-11-28T01:02:03.004+00:00',
    correlationId: 'c',
    causationId: 'c',
    ids: systemIds,
    schemaOf: () => schema,
  });
}

/** The events of a data directory, in order, as their store has them. */
function alter(directory: string, change: string): void {
  const db = openSqlite(join(directory, 'events.db'));
  db.prepare(change).run();
  db.close();
}

function eventRows(directory: string) {
  const db = openSqlite(join(directory, 'events.db'), { readonly: true });
  const rows = db
    .prepare<[], Record<string, string> & { revision: number; schema: number }>(
      'SELECT * FROM events ORDER BY position',
    )
    .all();
  db.close();
  return rows.map((row) => {
    const { id, stream, type, data, actor, at, schema, hash } = row;
    const [$correlationId, $causationId, previousHash] = [row.correlation_id, row.causation_id, row.previous_hash];
    const metadata = JSON.stringify({ actor, at, schema, $correlationId, $causationId, previousHash, hash });
    return { id, stream, revision: BigInt(row.revision), type, data, metadata };
  });
}

function eventRowsIfAny(directory: string): readonly unknown[] {
  try {
    return eventRows(directory);
  } catch {
    return [];
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

test.run();
