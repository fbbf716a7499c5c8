import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemIds } from '../../src/adapters/ids.ts';
import { openSecretFiles } from '../../src/adapters/files/secrets.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import { createCodec } from '../../src/events/codec.ts';
import { EVENT_CATALOGUE, openAggregates, openViews } from '../../src/main/contexts.ts';
import type { Log } from '../../src/ports/log.ts';
import { openProjector } from '../../src/projections/engine/projector.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The rules, views and secrets over real files in a folder of their own; the clock stands still until a test moves it. */
export async function openWorkerPoolHouse(clock: ManualClock = createManualClock()) {
  const folder = await temporaryFolder();
  const codec = createCodec(EVENT_CATALOGUE);
  const log = silentLog();
  const store = openSqliteEventStore({ file: join(folder.path, 'events.db'), codec, log });
  const { readModels, snapshots } = openSqliteReadModels({ file: join(folder.path, 'views.db'), log, clock });
  const secretFolder = join(folder.path, 'secrets');
  const secrets = openSecretFiles(secretFolder);
  const dependencies = { store, codec, snapshots, clock, ids: systemIds, log };
  const aggregates = openAggregates(dependencies);
  const views = openViews({ store, readModels, clock });
  const viewCaches = Object.values(views).map((view) => view.newViewCache());
  for (const view of Object.values(views)) view.readViewCache();
  const projector = openProjector(viewCaches, { store, readModels, clock, log, writes: true });
  await projector.open();
  return {
    ...aggregates,
    store,
    readModels,
    secrets,
    views,
    clock,
    log,
    ids: systemIds,
    context: { actor: 'admin:test', requestId: 'test' },
    /** The same streams as another process would see them: with states of its own. */
    anotherProcess: () => openAggregates(dependencies),
    catchUp: () => projector.catchUp(),
    secretIds: (): readonly string[] => readdirSync(secretFolder).toSorted(),
    /** Everything that was ever written to the log, as text. */
    logText: async (): Promise<string> => {
      const texts: string[] = [];
      for await (const page of store.readAll(-1n)) for (const { data } of page) texts.push(JSON.stringify(data));
      return texts.join('\n');
    },
    close: async (): Promise<void> => {
      await readModels.close();
      await store.close();
      await folder.remove();
    },
  };
}

export type WorkerPoolHouse = Awaited<ReturnType<typeof openWorkerPoolHouse>>;

function silentLog(): Log {
  const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  return log;
}

function quiet(): void {
  // Tests look at what happened, not at what was logged.
}
