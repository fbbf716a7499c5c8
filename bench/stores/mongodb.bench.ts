// Views through our adapter against the bare driver: writing new ones, writing again, loading; and saving in batches, as the
// projector does, against saving one by one. Against FerretDB the figures say nothing about MongoDB itself.
// usage: node --import tsx bench/stores/mongodb.bench.ts   (ROUNDS, TEST_MONGODB_URL, EDGEWARD_LAB from the environment)
import { MongoClient } from 'mongodb';
import { systemClock } from '../../src/adapters/clock.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openMongoDb } from '../../src/adapters/mongodb/mongodb.ts';
import type { Collection, ReadModels, ViewChange } from '../../src/ports/read-models.ts';
import { startMongoServer } from '../../test/support/ferretdb.ts';
import { pairedRoundsAsync, reportSpeedUp } from '../measure.ts';

type BareView = { _id: string; json: string };

const TARGET = 0.8;
const VIEWS = 200;
const ROUNDS = { rounds: 7, warmups: 1 };

const server = await startMongoServer();
if (server !== undefined) {
  const url = server.freshUrl();
  const mongo = await openMongoDb({ url, clock: systemClock, log: createLog({ level: 'silent' }), label: 'bench' });
  const client = await new MongoClient(url, { writeConcern: { w: 'majority' } }).connect();
  await measureAll(mongo.readModels, client);
  await client.close();
  await mongo.close();
  await server.drop(url);
}

async function measureAll(views: ReadModels, client: MongoClient): Promise<void> {
  const json = JSON.stringify({
    customer: 'Acme Corp.',
    ranges: Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`),
  });
  const changes = Array.from({ length: VIEWS }, (_, index): ViewChange => ({ key: `customer/${index}`, json }));
  const bareViews = changes.map(({ key }): BareView => ({ _id: key, json }));
  let round = 0;
  const fresh = async (): Promise<Collection> => views.begin('bench', 1);
  const bare = () => client.db().collection<BareView>(`bare.${(round += 1)}`);
  const positions = client.db().collection<{ _id: string; position: number }>('barePositions');
  const moveOn = () => positions.updateOne({ _id: 'bench' }, { $inc: { position: 1 } }, { upsert: true });

  const [growing, bareGrowing] = [await fresh(), bare()];
  const keyed = (prefix: number) => changes.map(({ key }) => ({ key: `${prefix}/${key}`, json }));
  let written = 0n;
  await report(
    `writing ${VIEWS} new views`,
    {
      ours: () => views.save([{ collection: growing, position: (written += 1n), changes: keyed(Number(written)) }]),
      baseline: async () => {
        await bareGrowing.insertMany(keyed((round += 1)).map(({ key }) => ({ _id: key, json })));
        await moveOn();
      },
    },
    TARGET,
  );

  const [again, bareAgain] = [await fresh(), bare()];
  await views.save([{ collection: again, position: 1n, changes }]);
  await bareAgain.insertMany(bareViews.map((view) => ({ ...view })));
  let position = 1n;
  await report('writing 50 views again', {
    ours: () => views.save([{ collection: again, position: (position += 1n), changes: changes.slice(0, 50) }]),
    baseline: () =>
      bareAgain
        .bulkWrite(
          bareViews.slice(0, 50).map(({ _id }) => ({ updateOne: { filter: { _id }, update: { $set: { json } } } })),
          { ordered: false },
        )
        .then(moveOn),
  });

  const keys = changes.map(({ key }) => key);
  await report(
    `loading ${VIEWS} views`,
    {
      ours: () => views.load(again, keys),
      baseline: () => bareAgain.find({ _id: { $in: keys } }).toArray(),
    },
    TARGET,
  );

  const [batched, single] = [await fresh(), await fresh()];
  await report('projecting 50 changes, in one save against one save each', {
    ours: () => views.save([{ collection: batched, position: (position += 1n), changes: changes.slice(0, 50) }]),
    baseline: async () => {
      for (const change of changes.slice(0, 50)) {
        await views.save([{ collection: single, position: (position += 1n), changes: [change] }]);
      }
    },
  });
}

async function report(
  name: string,
  contenders: Parameters<typeof pairedRoundsAsync>[0],
  target?: number,
): Promise<void> {
  reportSpeedUp(`MongoDB, ${name}`, await pairedRoundsAsync(contenders, ROUNDS), target);
}
