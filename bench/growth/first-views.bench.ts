// The views of a log with very many customers, made for the first time with room in memory, against reading and JSON-parsing each event of the
// same file, and against the same without room. BENCH_CUSTOMERS=100000 measures very many.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/adapters/clock.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import { readConfig } from '../../src/config.ts';
import { createCodec } from '../../src/events/codec.ts';
import { EVENT_CATALOGUE, openViews, processesOf } from '../../src/main/contexts.ts';
import { openProjector } from '../../src/projections/engine/projector.ts';
import { pairedRoundsAsync, reportRate } from '../measure.ts';
import { firstAddress, ipv4, parseOneByOne, QUIET, writeLog } from '../replay/event-log.ts';

const CUSTOMERS = Number(process.env['BENCH_CUSTOMERS'] ?? 10_000);
const EVENTS_EACH = 6;
const SUBNET_LENGTH = 24;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-first-views-'));
try {
  const shape = {
    customers: CUSTOMERS,
    subnetsEach: 1,
    subnetLength: SUBNET_LENGTH,
    events: 1 + CUSTOMERS * EVENTS_EACH,
  };
  const events = await writeLog(directory, shape, (customerId, turn) => ({
    type: 'AddressesDisabled',
    data: { regionId: 1, ranges: [ipv4(firstAddress(customerId, SUBNET_LENGTH) + turn)] },
  }));
  const ours = (): Promise<void> => makeViews(() => true);
  const parsing = { ours, baseline: () => Promise.resolve(parseOneByOne(directory, events)) };
  const name = `views of ${CUSTOMERS} customers made for the first time`;
  reportRate(`${name}, against parsing`, await pairedRoundsAsync(parsing, { rounds: 3 }), events);
  const narrow = { ours, baseline: () => makeViews(() => false) };
  reportRate(`${name}, against without room`, await pairedRoundsAsync(narrow, { rounds: 3 }), events);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** All views and all states of processes, from an empty file to one that is saved. */
async function makeViews(hasRoom: () => boolean): Promise<void> {
  const folder = mkdtempSync(join(directory, 'views-'));
  const [clock, log] = [systemClock, QUIET];
  const store = openSqliteEventStore({ file: join(directory, 'events.db'), codec: createCodec(EVENT_CATALOGUE), log });
  const { readModels } = openSqliteReadModels({ file: join(folder, 'views.db'), log, clock });
  const viewCaches = [
    ...Object.values(openViews({ store, readModels, clock, log })).map((view) => view.newViewCache()),
    ...processesOf(readConfig({})).map((process) => process.statesIn(readModels)),
  ];
  const projector = openProjector(viewCaches, { store, readModels, clock, log, writes: true, hasRoom });
  await projector.open();
  await projector.catchUp();
  await readModels.close();
  await store.close();
}
