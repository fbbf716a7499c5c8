import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openEvidenceFiles } from '../adapters/files/evidence.ts';
import { openSecretFiles } from '../adapters/files/secrets.ts';
import { openSqliteEventStore } from '../adapters/sqlite/event-store.ts';
import { openSqliteLeases } from '../adapters/sqlite/leases.ts';
import { openSqliteReadModels } from '../adapters/sqlite/read-models.ts';
import type { Config } from '../config.ts';
import { asStored, createCodec } from '../events/codec.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Snapshots } from '../ports/snapshots.ts';
import { EVENT_CATALOGUE } from './event-catalogue.ts';

export type Stores = Readonly<{
  store: EventStore;
  storeAsStored: () => EventStore;
  readModels: ReadModels;
  snapshots: Snapshots;
  leases: Leases;
  secrets: Secrets;
  evidence: EvidenceStore;
  close: () => Promise<void>;
}>;

export const codec = createCodec(EVENT_CATALOGUE);

/** Opens the stores that the settings name. `label` is how others see who holds a lease. */
export async function openStores(config: Config, log: Log, label: string): Promise<Stores> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const file = join(config.dataDir, 'events.db');
  const store = openSqliteEventStore({ file, codec, log });
  const readModels = openSqliteReadModels({ file: join(config.dataDir, 'views.db') });
  const leases = openSqliteLeases({ directory: join(config.dataDir, 'locks'), label });
  const secrets = openSecretFiles(join(config.dataDir, 'secrets'));
  const evidence = openEvidenceFiles(join(config.dataDir, 'evidence'));
  let audited: EventStore | undefined;
  return {
    store,
    storeAsStored: () => (audited ??= openSqliteEventStore({ file, codec: asStored(codec), log })),
    readModels: readModels.readModels,
    snapshots: readModels.snapshots,
    leases,
    secrets,
    evidence,
    close: async () => {
      await leases.close();
      await readModels.readModels.close();
      await audited?.close();
      await store.close();
    },
  };
}
