import { test } from 'uvu';
import { leasesContract } from '../../contracts/leases.ts';
import { readModelsContract } from '../../contracts/read-models.ts';
import { snapshotsContract } from '../../contracts/snapshots.ts';
import { startMongoServer } from '../../support/ferretdb.ts';
import { placeOn } from './opening.ts';

const server = await startMongoServer();
if (server === undefined) {
  test.skip('the contracts of views, snapshots and leases in MongoDB');
  test.run();
} else {
  readModelsContract('views in MongoDB', async () => {
    const { open, stop } = await placeOn(server);
    return { open: async () => (await open()).readModels, showsSavesInPart: true, stop };
  });
  snapshotsContract('snapshots in MongoDB', async () => {
    const { open, stop } = await placeOn(server);
    return { snapshots: (await open()).snapshots, reopen: async () => (await open()).snapshots, stop };
  });
  leasesContract('leases in MongoDB', async () => {
    const { open, stop } = await placeOn(server);
    return { open: async (label) => (await open({ label })).leases, stop };
  });
}
