// Appends and reads through our adapter against the official client doing the same without hashes, checks and guards:
// single appends, a hundred at once to a hundred streams, reading a stream, following the log. A stand-in is slower than what reads from it:
// reading is measured against answers that it gave before, too.
// usage: node --import tsx bench/stores/eventstoredb.bench.ts   (ROUNDS, TEST_EVENT_STORE_URL from the environment)
import { EventStoreDBClient, jsonEvent, type JSONEventData, streamNameFilter } from '@eventstore/db-client';
import { systemClock } from '../../src/adapters/clock.ts';
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { createLog } from '../../src/adapters/log.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { Sealed } from '../../src/kernel/event.ts';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.ts';
import { codec, createFacts } from '../append/events.ts';
import { pairedRoundsAsync, reportRate } from '../measure.ts';
import { eventStoreUrl } from './event-store-url.ts';

const TARGET = 0.8;
const READ_TARGET = 0.9;
const ONE_BY_ONE = 50;
const AT_ONCE = 100;
const READ = 5_000;
const ROUNDS = { rounds: 9, warmups: 3 };

const { url, rememberingUrl, stop } = await eventStoreUrl();
// Categories of this run alone: a server may hold the events of others.
const run = systemIds.uuid().slice(0, 8);
const [ourCategory, bareCategory] = [`ours${run}`, `bare${run}`];
const log = createLog({ level: 'silent' });
const store = await openStore(url);
const client = openClient(url);
const [remembering, rememberingClient] = [await openStore(rememberingUrl), openClient(rememberingUrl)];
const createFact = createFacts(1);
let streams = 0;

await measure('one append after another', ONE_BY_ONE, async (append) => {
  for (let index = 0; index < ONE_BY_ONE; index += 1) await append(newStream(), 1);
});
await measure(`${AT_ONCE} appends at once, to ${AT_ONCE} streams`, AT_ONCE, async (append) => {
  await Promise.all(Array.from({ length: AT_ONCE }, () => append(newStream(), 1)));
});
await measureReads();

await Promise.all([client, rememberingClient].map((each) => each.dispose()));
await Promise.all([store, remembering].map((each) => each.close()));
stop();

type Append = (stream: string, count: number) => Promise<unknown>;

function openStore(at: string): Promise<EventStore> {
  return openEventStoreDb({ url: at, codec, clock: systemClock, log, categories: [ourCategory] });
}

function openClient(at: string): EventStoreDBClient {
  return EventStoreDBClient.connectionString(at.replace(/^kurrentdb/, 'esdb'));
}

function newStream(): string {
  streams += 1;
  return `${streams}`;
}

function sealedFacts(stream: string, count: number): readonly Sealed[] {
  return seal(
    Array.from({ length: count }, () => createFact().event),
    {
      stream,
      previousHash: '',
      actor: 'admin:bench',
      at: systemClock.nowText(),
      correlationId: 'bench',
      causationId: 'bench',
      ids: systemIds,
      schemaOf: codec.schemaOf,
    },
  );
}

function appendOurs(stream: string, count: number): Promise<unknown> {
  const name = `${ourCategory}-${stream}`;
  return store.append(name, NO_STREAM, sealedFacts(name, count));
}

function appendBare(stream: string, count: number): Promise<unknown> {
  return client.appendToStream(`${bareCategory}-${stream}`, bareEvents(stream, count), {
    expectedRevision: 'no_stream',
  });
}

/** The same events, hashes and all, as the client wants them. */
function bareEvents(stream: string, count: number): JSONEventData[] {
  return sealedFacts(stream, count).map(({ id, type, data, metadata }) =>
    jsonEvent({ id, type, data: { ...data }, metadata }),
  );
}

async function measure(name: string, appends: number, work: (append: Append) => Promise<void>): Promise<void> {
  const contenders = { ours: () => work(appendOurs), baseline: () => work(appendBare) };
  reportRate(`EventStoreDB, ${name}`, await pairedRoundsAsync(contenders, ROUNDS), appends, TARGET);
}

async function measureReads(): Promise<void> {
  const [ours, bare] = [`${ourCategory}-read`, `${bareCategory}-read`];
  const fillOurs = await filled((expected) => store.append(ours, expected, sealedFacts(ours, 500)));
  await filled(async (expected) => {
    const expectedRevision = expected === NO_STREAM ? 'no_stream' : expected;
    await client.appendToStream(bare, bareEvents(bare, 500), { expectedRevision });
  });
  const reading = `EventStoreDB, reading a stream of ${READ} events`;
  const reads = (from: EventStore, through: EventStoreDBClient) => ({
    ours: () => countPages(from.read(ours)),
    baseline: () => countBare(through.readStream(bare)),
  });
  reportRate(reading, await pairedRoundsAsync(reads(store, client), ROUNDS), READ, READ_TARGET);
  if (rememberingUrl !== url) {
    const remembered = await pairedRoundsAsync(reads(remembering, rememberingClient), ROUNDS);
    reportRate(`${reading}, which the server has in hand`, remembered, READ, READ_TARGET);
  }
  const filter = streamNameFilter({ prefixes: [`${bareCategory}-read`] });
  const follows = {
    ours: () => followed(store, fillOurs),
    baseline: () => countBare(client.subscribeToAll({ filter }), READ),
  };
  reportRate(
    `EventStoreDB, following ${READ} events of the log`,
    await pairedRoundsAsync(follows, ROUNDS),
    READ,
    TARGET,
  );
}

/** The position before what was filled in. */
async function filled(append: (expected: bigint) => Promise<unknown>): Promise<bigint> {
  const before = await store.end();
  for (let first = 0; first < READ; first += 500) await append(BigInt(first) - 1n);
  return before;
}

async function countPages(pages: AsyncIterable<readonly unknown[]>): Promise<number> {
  let seen = 0;
  for await (const page of pages) seen += page.length;
  if (seen !== READ) throw new Error(`${seen} events of ${READ}`);
  return seen;
}

async function followed({ follow }: EventStore, after: bigint): Promise<number> {
  const ended = new AbortController();
  let seen = 0;
  for await (const page of follow(after, ended.signal)) {
    seen += page.length;
    if (seen >= READ) ended.abort();
  }
  return seen;
}

async function countBare(events: AsyncIterable<unknown>, until = Number.POSITIVE_INFINITY): Promise<number> {
  let seen = 0;
  for await (const _ of events) {
    seen += 1;
    if (seen >= until) break;
  }
  return seen;
}
