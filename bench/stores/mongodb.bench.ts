// Views through our adapter against the bare driver doing the same: writing new ones, writing again under the guard of a position, loading;
// and saving in batches, as the projector does, against the bare driver writing one by one. Against FerretDB the figures say nothing about
// MongoDB itself.
// usage: node --import tsx bench/stores/mongodb.bench.ts   (ROUNDS, TEST_MONGODB_URL, EDGEWARD_LAB from the environment)
import { MongoClient } from 'mongodb';
import { systemClock } from '../../src/adapters/clock.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openMongoDb } from '../../src/adapters/mongodb/mongodb.ts';
import type { Collection, ReadModels, ViewChange } from '../../src/ports/read-models.ts';
import { startMongoServer } from '../../test/support/stores/ferretdb.ts';
import { pairedRoundsAsync, reportRate } from '../measure.ts';

type BareView = { _id: string; json: string; at: bigint };

const TARGET = 0.8;
const VIEWS = 200;
const AGAIN = 50;
const ROUNDS = { rounds: 7, warmups: 1 };

const server = await startMongoServer();
if (server !== undefined) {
  const url = server.freshUrl();
  const mongo = await openMongoDb({ url, clock: systemClock, log: createLog({ level: 'silent' }), label: 'bench' });
  const client = await new MongoClient(url, { writeConcern: { w: 'majority' }, useBigInt64: true }).connect();
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
  let round = 0;
  const fresh = async (): Promise<Collection> => views.begin('bench', 1);
  const bare = () => client.db().collection<BareView>(`bare.${(round += 1)}`);
  const bareViews = (prefix = ''): BareView[] => changes.map(({ key }) => ({ _id: `${prefix}${key}`, json, at: 1n }));
  const positions = client.db().collection<{ _id: string; position: bigint }>('barePositions');
  const moveOn = () => positions.updateOne({ _id: 'bench' }, { $inc: { position: 1n } }, { upsert: true });
  const guarded = ({ _id }: BareView, at: bigint) => ({
    updateOne: { filter: { _id, at: { $lte: at } }, update: { $set: { json, at } } },
  });

  const [growing, bareGrowing] = [await fresh(), bare()];
  const keyed = (prefix: number) => changes.map(({ key }) => ({ key: `${prefix}/${key}`, json }));
  let written = 0n;
  const writing = {
    ours: () => views.save([{ collection: growing, position: (written += 1n), changes: keyed(Number(written)) }]),
    baseline: async () => {
      await bareGrowing.insertMany(bareViews(`${(round += 1)}/`));
      await moveOn();
    },
  };
  await report('writing new views', VIEWS, writing, TARGET);

  const [again, bareAgain] = [await fresh(), bare()];
  await views.save([{ collection: again, position: 1n, changes }]);
  await bareAgain.insertMany(bareViews());
  let position = 1n;
  const rewriting = {
    ours: () => views.save([{ collection: again, position: (position += 1n), changes: changes.slice(0, AGAIN) }]),
    baseline: async () => {
      const at = (position += 1n);
      await bareAgain.bulkWrite(
        bareViews()
          .slice(0, AGAIN)
          .map((view) => guarded(view, at)),
        { ordered: false },
      );
      await moveOn();
    },
  };
  await report('writing views again', AGAIN, rewriting, TARGET);

  const keys = changes.map(({ key }) => key);
  const loading = {
    ours: () => views.load(again, keys),
    baseline: () => bareAgain.find({ _id: { $in: keys } }).toArray(),
  };
  await report('loading views', VIEWS, loading, TARGET);

  const [batched, single] = [await fresh(), bare()];
  await views.save([{ collection: batched, position: (position += 1n), changes }]);
  await single.insertMany(bareViews());
  const projecting = {
    ours: () => views.save([{ collection: batched, position: (position += 1n), changes: changes.slice(0, AGAIN) }]),
    baseline: async () => {
      for (const view of bareViews().slice(0, AGAIN)) {
        await single.bulkWrite([guarded(view, (position += 1n))]);
        await moveOn();
      }
    },
  };
  await report('projecting changes, in one save beside one write each', AGAIN, projecting);
}

async function report(
  name: string,
  count: number,
  contenders: Parameters<typeof pairedRoundsAsync>[0],
  target?: number,
): Promise<void> {
  reportRate(`MongoDB, ${name}`, await pairedRoundsAsync(contenders, ROUNDS), count, target);
}
