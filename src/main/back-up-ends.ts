import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { readBackUpNote, writeBackUpNote } from '../adapters/files/back-up-note.ts';
import { openSecretFiles } from '../adapters/files/secrets.ts';
import { systemIds } from '../adapters/ids.ts';
import { openedOrRefused } from '../adapters/open-failure.ts';
import { beginRestore } from '../application/ip-control/restore.ts';
import type { BackUpEnds } from '../application/operations/back-up.ts';
import type { StorePlace } from '../application/operations/copy-stores.ts';
import type { Config } from '../config.ts';
import type { Log } from '../ports/log.ts';
import { NO_SNAPSHOTS } from './command-archive.ts';
import { openAggregates } from './contexts.ts';
import { copyEnds } from './copy-ends.ts';
import { beginPuttingBack, endPuttingBack, isEmbedded } from './data-directory.ts';
import { codec, openEventStore } from './stores.ts';
import { VERSION } from './version.ts';

/** Opens the stores that the settings name, and those of a backup. */
export function backUpEnds(readConfig: () => Config, log: Log): BackUpEnds {
  return {
    ...copyEnds(readConfig, log),
    version: VERSION,
    ids: systemIds,
    now: () => systemClock.nowText(),
    own: () => {
      const { eventStoreUrl, readModelUrl } = readConfig();
      return { log: placeOf(eventStoreUrl), evidence: placeOf(readModelUrl) };
    },
    isOwn: (directory) => resolve(directory) === resolve(readConfig().dataDir),
    openSecrets: (directory, role) => {
      const folder = join(directory ?? readConfig().dataDir, 'secrets');
      if (role === 'source' && !existsSync(folder)) return undefined;
      return openedOrRefused(folder, () => openSecretFiles(folder));
    },
    readNote: readBackUpNote,
    writeNote: writeBackUpNote,
    knows: codec.knows,
    beginPuttingBack: (by, directory = readConfig().dataDir) => beginPuttingBack(directory, by),
    endPuttingBack: (by, directory = readConfig().dataDir) => endPuttingBack(directory, by),
    markRestored: async (context) => {
      const store = await openEventStore(readConfig(), codec, log);
      try {
        const kept = { store, codec, snapshots: NO_SNAPSHOTS, clock: systemClock, ids: systemIds, log };
        await beginRestore('operator', context, { directory: openAggregates(kept).directory, store });
      } finally {
        await store.close();
      }
    },
  };
}

function placeOf(url: string): StorePlace {
  return isEmbedded(url) ? { directory: undefined } : { url };
}
