import { test } from 'uvu';
import { evidenceContract } from '../../contracts/evidence.ts';
import { leasesContract } from '../../contracts/leases.ts';
import { readModelsContract } from '../../contracts/read-models.ts';
import { snapshotsContract } from '../../contracts/snapshots.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { evidenceCount, placeOn } from './opening.ts';

const server = await startMongoServer();
if (server === undefined) {
  test.skip('the contracts of views, snapshots, leases and evidence in MongoDB');
  test.run();
} else {
  readModelsContract('views in MongoDB', async () => {
    const { open, stop } = await placeOn(server);
    return { open: async () => (await open()).readModels, showsSavesInPart: true, stop };
  });
  snapshotsContract(
    'snapshots in MongoDB',
    async () => {
      const { open, stop } = await placeOn(server);
      return { snapshots: (await open()).snapshots, reopen: async () => (await open()).snapshots, stop };
    },
    server.updatesInOneStep,
  );
  leasesContract('leases in MongoDB', async () => {
    const { open, stop } = await placeOn(server);
    return { open: async (label) => (await open({ label })).leases, stop };
  });
  evidenceContract('evidence in GridFS', async () => {
    const { open, look, stop } = await placeOn(server);
    const [first, next] = [await open(), await open({ abandonedMilliseconds: 0 })];
    return { evidence: first.evidence, reopen: () => next.evidence, count: () => evidenceCount(look), stop };
  });
}
