import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { systemClock } from '../../../src/adapters/clock.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { openSqliteReadModels } from '../../../src/adapters/sqlite/read-models.ts';
import type { ReadModels } from '../../../src/ports/read-models.ts';
import { startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { openMongoDb } from '../../../src/adapters/mongodb/mongodb.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

type Context = { edgeward: Edgeward; token: string };
const test = suite<Context>('verify --views');
const mongo = await startMongoServer();

test.before.each(async (context) => {
  context.edgeward = await openEdgeward();
  await addRegion(context.edgeward, 'eu-west');
  context.token = (await addCustomer(context.edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']])).token;
});
test.after.each(({ edgeward }) => edgeward.remove());

const findings = z.object({
  ok: z.boolean(),
  views: z.object({ compared: z.number(), not_built: z.array(z.string()) }),
  problems: z.array(z.string()),
});

async function found(edgeward: Edgeward) {
  const { exitCode, out } = await edgeward.command('verify', '--views', '--json');
  return { exitCode, ...findings.parse(JSON.parse(out)) };
}

async function openSaved({ dataDir, settings }: Edgeward): Promise<ReadModels> {
  const [url, log] = [settings['READ_MODEL_URL'], createLog({ level: 'silent' })];
  if (url === undefined)
    return openSqliteReadModels({ file: join(dataDir, 'views.db'), log, clock: systemClock }).readModels;
  const { readModels, close } = await openMongoDb({ url, log, clock: systemClock, label: 'test' });
  return { ...readModels, close };
}

/** Changes what is saved of one view, in the way of one who knows how it is saved. */
async function change(edgeward: Edgeward, view: string, key: string, into: (json: string) => string | undefined) {
  const readModels = await openSaved(edgeward);
  try {
    const standing = (await readModels.standing([view])).get(view);
    assert.ok(standing?.position !== undefined);
    const { collection, position, anchor } = standing;
    const json = (await readModels.load(collection, [key])).get(key);
    assert.ok(json !== undefined, `${view} has ${key}`);
    await readModels.save([{ collection, position, anchor, changes: [{ key, json: into(json) }] }]);
  } finally {
    await readModels.close();
  }
}

test('beside a server under load everything is as the log gives it; the first key that differs is named', ({
  edgeward,
  token,
}) => comparesUnderLoad(edgeward, token));

if (mongo === undefined) test.skip('there is no server that speaks the protocol of MongoDB');
else
  test('so it is with the log in EventStoreDB, among what others write there, and the views in MongoDB', async () => {
    const store = await startEventStoreStandIn();
    const readModelUrl = mongo.freshUrl();
    const edgeward = await openEdgeward({
      EVENT_STORE_URL: `esdb://127.0.0.1:${store.port}?tls=false`,
      READ_MODEL_URL: readModelUrl,
    });
    try {
      await addRegion(edgeward, 'eu-west');
      store.log.append('customer-8f14e45f', 'any', [
        {
          id: randomUUID(),
          type: 'OrderPlaced',
          contentType: 'application/json',
          data: Buffer.from('{}'),
          customMetadata: Buffer.alloc(0),
        },
      ]);
      const { token } = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
      await comparesUnderLoad(edgeward, token);
    } finally {
      await edgeward.remove();
      await store.stop();
      await mongo.drop(readModelUrl);
    }
  });

if (mongo !== undefined)
  test('texts that a save has left that was broken off are compared each at its own position', async () => {
    const readModelUrl = mongo.freshUrl();
    const edgeward = await openEdgeward({ READ_MODEL_URL: readModelUrl });
    const client = new MongoClient(readModelUrl, { useBigInt64: true });
    try {
      await addRegion(edgeward, 'eu-west');
      const { token } = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
      await disable(await edgeward.serve(), token, '203.0.113.9');
      await edgeward.stop();
      const positions = client.db().collection('positions');
      const before = await positions.find().toArray();

      // The due commit leaves the list of what waits, and other views get new texts.
      await disable(await edgeward.serve(), token, '203.0.113.10');
      await edgeward.json('commit', 'run', 'Acme', 'eu-west');
      await edgeward.stop();
      const waiting = await client.db().collection<{ text?: string }>('view.process-quiet-period.1').find().toArray();
      assert.ok(
        waiting.some(({ text }) => text === undefined),
        'one was deleted',
      );
      for (const { _id, ...record } of before) await positions.replaceOne({ _id }, record);
      assert.equal((await found(edgeward)).problems, []);

      await change(edgeward, 'subnets', '1', () => undefined);
      await change(edgeward, 'customers', '1', (json) => json.replace(/"position":"(\d+)"/, '"position":"1$1"'));
      const { problems } = await found(edgeward);
      assert.is(problems.length, 2, problems.join('\n'));
      assert.match(problems.join('\n'), /^view customers: key 1 differs .*$/m);
      assert.match(problems.join('\n'), /^view subnets: key 1 differs .* there is none, the log gives one of/m);
    } finally {
      await client.close();
      await edgeward.remove();
      await mongo.drop(readModelUrl);
    }
  });

async function disable(url: string, token: string, ip: string): Promise<void> {
  const api = openApiClient(url, token);
  await waitUntil('it is recorded', async () => (await api.post('/ips/disable', { ip })).status === 200);
  await api.close();
}

async function comparesUnderLoad(edgeward: Edgeward, token: string): Promise<void> {
  const api = openApiClient(await edgeward.serve(), token);
  const over = new AbortController();
  let changes = 0;
  const load = (async () => {
    for (; !over.signal.aborted; changes += 1) {
      const answer = await api.post(`/ips/${changes % 2 === 0 ? 'disable' : 'enable'}`, { ip: '203.0.113.9' });
      // Stores of their own may be slower than a change is waited for.
      assert.ok(answer.status === 200 || answer.status === 503, answer.text);
    }
  })();
  await waitUntil('something is changed', () => changes > 0);
  const beside = await found(edgeward);
  over.abort();
  await load;
  assert.equal(beside.problems, []);
  assert.is(beside.exitCode, 0);
  assert.ok(beside.views.compared > 10, JSON.stringify(beside.views));
  await api.close();
  await edgeward.stop();
  assert.equal((await found(edgeward)).problems, [], 'and when it has stopped');

  await change(edgeward, 'customers', '1', (json) => json.replace('Acme', 'Amce'));
  await change(edgeward, 'subnets', '1', () => undefined);
  const { exitCode, ok, problems } = await found(edgeward);
  assert.equal([exitCode, ok, problems.length], [1, false, 2]);
  assert.match(problems.join('\n'), /^view customers: key 1 differs from a fold .* its content is not what the log/m);
  assert.match(problems.join('\n'), /^view subnets: key 1 differs from a fold .* there is none, the log gives one of/m);
  await edgeward.json('projections', 'rebuild', '--all');
  assert.equal((await found(edgeward)).problems, []);
}

test('where nothing was saved yet there is nothing to compare', async ({ edgeward }) => {
  for (const name of readdirSync(edgeward.dataDir))
    if (name.startsWith('views.db')) rmSync(join(edgeward.dataDir, name));
  const { exitCode, err } = await edgeward.command('verify', '--views');
  assert.is.not(exitCode, 0);
  assert.match(err, /views\.db is not there: no server has saved views/);
});

test.run();
