// Reading and following a log of facts of 290 bytes, decoded and checked, against bare better-sqlite3: iterate and JSON.parse.
// A rebuild reads less of each event; its own benchmark is replay/rebuild.bench.ts.
// usage: node --import tsx bench/append/read.bench.ts   (ROUNDS, EVENTS, BENCH_FOLDER from the environment)
import { strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { RecordedEvent } from '../../src/kernel/event.ts';
import { BEGINNING } from '../../src/ports/event-store.ts';
import { pairedRoundsAsync, reportSpeedUp } from '../measure.ts';
import { openBareLog } from './bare.ts';
import { benchFolder, createFacts, createSealer, openStore } from './events.ts';

const EVENTS = Number(process.env.EVENTS ?? 200_000);
const GROUP = 1_000;

const folder = benchFolder();
const store = openStore(join(folder, 'ours.db'));
const bare = openBareLog(join(folder, 'bare.db'));
await fill();

const select = bare.db.prepare<[], [number, string, string, string]>(
  'SELECT position, stream, type, data FROM events ORDER BY position',
);
const baseline = async (): Promise<void> => {
  let count = 0;
  for (const row of select.raw().iterate()) if (JSON.parse(row[3]) !== null) count += 1;
  strictEqual(count, EVENTS);
};

reportSpeedUp(
  `${EVENTS} events read and decoded, bare iterate and JSON.parse`,
  await pairedRoundsAsync({ ours: () => countOf(store.readAll(BEGINNING)), baseline }),
);
reportSpeedUp(
  `${EVENTS} events followed from the beginning, bare iterate and JSON.parse`,
  await pairedRoundsAsync({ ours: follow, baseline }),
);

bare.db.close();
await store.close();

async function fill(): Promise<void> {
  const createFact = createFacts(1);
  const sealed = createSealer();
  for (let done = 0; done < EVENTS; done += GROUP) {
    const facts = Array.from({ length: GROUP }, createFact);
    bare.append(facts);
    await Promise.all(facts.map(sealed).map(({ stream, expected, events }) => store.append(stream, expected, events)));
  }
}

async function countOf(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<void> {
  let count = 0;
  for await (const page of pages) count += page.length;
  strictEqual(count, EVENTS);
}

async function follow(): Promise<void> {
  const stop = new AbortController();
  let count = 0;
  for await (const page of store.follow(BEGINNING, stop.signal)) {
    count += page.length;
    if (count === EVENTS) stop.abort();
  }
}
