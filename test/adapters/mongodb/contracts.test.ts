import { systemClock } from '../../../src/adapters/clock.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { type MongoDb, openMongoDb } from '../../../src/adapters/mongodb/mongodb.ts';
import { leasesContract } from '../../contracts/leases.ts';
import { readModelsContract } from '../../contracts/read-models.ts';
import { snapshotsContract } from '../../contracts/snapshots.ts';
import { type MongoServer, startMongoServer } from '../../support/ferretdb.ts';

const log = createLog({ level: 'silent' });
const server = await startMongoServer();
if (server !== undefined) {
  readModelsContract('views in MongoDB', async () => {
    const place = placeOn(server);
    return { open: async () => (await place.open('views')).readModels, showsSavesInPart: true, stop: place.stop };
  });
  snapshotsContract('snapshots in MongoDB', async () => {
    const place = placeOn(server);
    const { snapshots } = await place.open('snapshots');
    return { snapshots, reopen: async () => (await place.open('again')).snapshots, stop: place.stop };
  });
  leasesContract('leases in MongoDB', async () => {
    const place = placeOn(server);
    return { open: async (label) => (await place.open(label)).leases, stop: place.stop };
  });
}

/** An empty database, that several processes open. */
function placeOn({ freshUrl, drop }: MongoServer): {
  open: (label: string) => Promise<MongoDb>;
  stop: () => Promise<void>;
} {
  const url = freshUrl();
  const opened: MongoDb[] = [];
  return {
    open: async (label) => {
      const mongo = await openMongoDb({ url, clock: systemClock, log, label });
      opened.push(mongo);
      return mongo;
    },
    stop: async () => {
      for (const mongo of opened) await mongo.close();
      await drop(url);
    },
  };
}
