// What the first request on a long stream waits for after a rebuild or a copy, which leave snapshots: its customer's state, against reading
// the whole stream for it. BENCH_EVENTS: how long the stream is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/adapters/clock.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import { keepSnapshots } from '../../src/commands/snapshotting.ts';
import { createCodec } from '../../src/events/codec.ts';
import { NO_SNAPSHOTS } from '../../src/main/command-archive.ts';
import { EVENT_CATALOGUE, openAggregates } from '../../src/main/contexts.ts';
import type { Snapshots } from '../../src/ports/read-models.ts';
import { pairedRoundsAsync, reportSpeedUp } from '../measure.ts';
import { firstAddress, ipv4, QUIET, writeLog } from './event-log.ts';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000);
const SUBNET_LENGTH = 16;
const STREAM = 'customer-1';

const directory = mkdtempSync(join(tmpdir(), 'edgeward-first-request-'));
const shape = { customers: 1, subnetsEach: 1, subnetLength: SUBNET_LENGTH, events: EVENTS };
await writeLog(directory, shape, (customerId, turn) => ({
  type: 'AddressesDisabled',
  data: { regionId: 1, ranges: [ipv4(firstAddress(customerId, SUBNET_LENGTH) + 2 * turn)] },
}));
const [clock, ids, log] = [systemClock, systemIds, QUIET];
const codec = createCodec(EVENT_CATALOGUE);
const store = openSqliteEventStore({ file: join(directory, 'events.db'), codec, log });
const { readModels, snapshots } = openSqliteReadModels({ file: join(directory, 'views.db'), log, clock });
try {
  await keepSnapshots(aggregatesWith(snapshots), [STREAM]);
  const contenders = { ours: () => firstState(snapshots), baseline: () => firstState(NO_SNAPSHOTS) };
  reportSpeedUp(`first request on a stream of ${EVENTS} events`, await pairedRoundsAsync(contenders), 10);
} finally {
  await readModels.close();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}

/** As of a process that has just started. */
function aggregatesWith(kept: Snapshots) {
  return openAggregates({ store, codec, snapshots: kept, clock, ids, log });
}

async function firstState(kept: Snapshots): Promise<void> {
  const { revision } = await aggregatesWith(kept).customers.state(1);
  if (revision < BigInt(EVENTS - 2)) throw new Error(`the state is that of revision ${revision}`);
}
