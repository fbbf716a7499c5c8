import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CLOUD_DRIVERS } from '../../src/adapters/clouds/open-cloud.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { openSecretFiles } from '../../src/adapters/files/secrets.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import { openAggregate } from '../../src/commands/aggregate.ts';
import { directoryDecider, type DirectoryState } from '../../src/commands/ip-control/directory.ts';
import { asStored, createCodec } from '../../src/events/codec.ts';
import type { DirectoryEvent } from '../../src/events/ip-control/directory.ts';
import type { CustomerSettings } from '../../src/events/ip-control/vocabulary.ts';
import type { Command } from '../../src/kernel/decider.ts';
import { EVENT_CATALOGUE, openAggregates, openViews } from '../../src/main/contexts.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import type { Log } from '../../src/ports/log.ts';
import { openProjector } from '../../src/projections/engine/projector.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { temporaryFolder } from './temporary-folder.ts';

const NAMES_WITHOUT_RULES = {
  ...directoryDecider,
  decide: (
    { data: { name, settings } }: Command<'ReserveCustomerName', { name: string; settings: CustomerSettings }>,
    { customers }: DirectoryState,
  ): readonly DirectoryEvent[] => [
    { type: 'CustomerNameReserved', data: { customerId: customers.size + 1, name, listName: name, settings } },
  ],
};

/**
 * The rules, views and secrets over real files in a folder of their own, or in one that outlives them; the clock stands still until a test
 * moves it. `between` stands between them and the store.
 */
export async function openTestApplication(
  clock: ManualClock = createManualClock(),
  between: (store: EventStore) => EventStore = (store) => store,
  inFolder?: string,
) {
  const folder = inFolder === undefined ? await temporaryFolder() : { path: inFolder, remove: async () => undefined };
  const codec = createCodec(EVENT_CATALOGUE);
  const log = silentLog();
  const store = between(openSqliteEventStore({ file: join(folder.path, 'events.db'), codec, log }));
  let stored: EventStore | undefined;
  const { readModels, snapshots } = openSqliteReadModels({ file: join(folder.path, 'views.db'), log, clock });
  const secretFolder = join(folder.path, 'secrets');
  const secrets = openSecretFiles(secretFolder);
  const dependencies = { store, codec, snapshots, clock, ids: systemIds, log };
  const aggregates = openAggregates(dependencies);
  const views = openViews({ store, readModels, clock, log });
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
    eventTypes: EVENT_CATALOGUE.map(({ type }) => type),
    storeAsStored: async () => {
      stored ??= openSqliteEventStore({ file: join(folder.path, 'events.db'), codec: asStored(codec), log });
      return stored;
    },
    cloudDrivers: CLOUD_DRIVERS,
    workersUrl: { url: 'https://edgeward.example' },
    context: { actor: 'admin:test', requestId: 'test' },
    folder: folder.path,
    /** The same streams as another process would see them: with states of its own. */
    anotherProcess: () => openAggregates(dependencies),
    /** A directory that reserves whatever names it is told to, as one with fewer rules would have. */
    olderDirectory: () => openAggregate(NAMES_WITHOUT_RULES, dependencies),
    catchUp: () => projector.catchUp(),
    /** The position up to which the views show the log. */
    shownPosition: () => projector.position(),
    secretIds: (): readonly string[] => readdirSync(secretFolder).toSorted(),
    /** Everything that was ever written to the log, as text. */
    logText: async (): Promise<string> => {
      const texts: string[] = [];
      for await (const page of store.readAll(-1n)) for (const { data } of page) texts.push(JSON.stringify(data));
      return texts.join('\n');
    },
    close: async (): Promise<void> => {
      await readModels.close();
      await stored?.close();
      await store.close();
      await folder.remove();
    },
  };
}

export type TestApplication = Awaited<ReturnType<typeof openTestApplication>>;

function silentLog(): Log {
  const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  return log;
}

function quiet(): void {
  // Tests look at what happened, not at what was logged.
}
