import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { openedOrRefused } from '../adapters/open-failure.ts';
import { findReadable } from '../adapters/sqlite/readable-file.ts';
import { openSqliteReadModels } from '../adapters/sqlite/read-models.ts';
import type { ViewsBesideFold } from '../application/operations/compare-views.ts';
import { withWholeTexts } from '../application/operations/whole-texts.ts';
import type { Config } from '../config.ts';
import type { RecordedEvent } from '../kernel/event.ts';
import { BEGINNING, type EventStore } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import { StoreRefused } from '../ports/store-refused.ts';
import { isHeld } from '../projections/engine/ahead-of-log.ts';
import { openProjector } from '../projections/engine/projector.ts';
import { openViews, processesOf } from './contexts.ts';
import { isEmbedded } from './data-directory.ts';

/**
 * Does the work on the saved views, also where nothing can be written, as in a read-only copy, beside another fold of the log in a file of its
 * own, in TMPDIR, which is removed. @throws StoreRefused
 */
export async function withViewsBesideFold<T>(
  config: Config,
  store: EventStore,
  log: Log,
  work: (views: ViewsBesideFold) => Promise<T>,
): Promise<T> {
  const clock = systemClock;
  const served = await openServed(config, log);
  const folder = await mkdtemp(join(tmpdir(), 'edgeward-views-'));
  const { readModels: folded } = openSqliteReadModels({ file: join(folder, 'views.db'), log, clock });
  try {
    const viewCaches = [
      ...Object.values(openViews({ store, readModels: folded, clock, log })).map((view) => view.newViewCache()),
      ...processesOf(config).map((process) => process.statesIn(folded)),
    ];
    const { upTo, bounded } = boundedLog(store);
    const projector = openProjector(viewCaches, { store: bounded, readModels: folded, clock, log, writes: true });
    await projector.open();
    return await work({
      projections: viewCaches.map(({ name, version }) => ({ name, version })),
      served: withWholeTexts(served),
      isHeld: (standing) => isHeld(standing, store),
      folded: withWholeTexts(folded),
      foldUpTo: (position) => {
        upTo(position);
        return projector.catchUp();
      },
      end: () => store.end(),
      clock,
    });
  } finally {
    await folded.close();
    await served.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openServed({ readModelUrl, dataDir }: Config, log: Log): Promise<ReadModels> {
  if (!isEmbedded(readModelUrl)) {
    const { openMongoDb } = await import('../adapters/mongodb/mongodb.ts');
    const { readModels, close } = await openMongoDb({ url: readModelUrl, clock: systemClock, log, label: 'verify' });
    return { ...readModels, close };
  }
  const file = join(dataDir, 'views.db');
  if (!existsSync(file))
    throw new StoreRefused('unreachable', `${file} is not there: no server has saved views for this log yet`);
  const { file: readable, readOnly, release } = openedOrRefused(file, () => findReadable(file));
  const { readModels } = openSqliteReadModels({ file: readable, readOnly, log, clock: systemClock });
  return {
    ...readModels,
    name: file,
    close: async () => {
      await readModels.close();
      release();
    },
  };
}

/** The log as if it ended at a position, which moves on. */
function boundedLog(store: EventStore): Readonly<{ upTo: (position: bigint) => void; bounded: EventStore }> {
  let end = BEGINNING;
  async function* within(pages: AsyncIterable<readonly RecordedEvent[]>) {
    for await (const page of pages) {
      const events = page.filter(({ position }) => position <= end);
      if (events.length > 0) yield events;
      if (events.length < page.length) return;
    }
  }
  return {
    upTo: (position) => void (end = position),
    bounded: { ...store, end: () => Promise.resolve(end), readAll: (after) => within(store.readAll(after)) },
  };
}
