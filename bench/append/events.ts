// What the benchmarks of the log append: events of about 290 bytes of JSON, on a thousand streams.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../src/adapters/clock.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { createCodec, defineEvent, type EventOf } from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { Sealed } from '../../src/kernel/event.ts';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.ts';
import { seededRandom } from '../measure.ts';

const data = z.strictObject({
  subnet: z.string(),
  ranges: z.array(z.strictObject({ first: z.string(), last: z.string() })),
  reason: z.string(),
});
const AddressesDisabled = defineEvent('AddressesDisabled', 1, data);
const AddressesEnabled = defineEvent('AddressesEnabled', 1, data);
export type BenchEvent = EventOf<typeof AddressesDisabled | typeof AddressesEnabled>;

export const codec = createCodec([AddressesDisabled, AddressesEnabled]);

/** An event, whom it is about, and what is said of it. As one JSON object it has about 290 bytes. */
export type Fact = Readonly<{ customer: string; event: BenchEvent; actor: string; at: string; requestId: string }>;

/** Facts without end, the same ones in every run. */
export function createFacts(seed: number, customers = 1_000): () => Fact {
  const random = seededRandom(seed);
  return () => {
    const customer = random() % customers;
    const [second, third] = [customer >>> 4, (customer & 15) << 4];
    const first = random() % 4_000;
    const last = Math.min(4_095, first + (random() % 10 < 7 ? 0 : random() % 96));
    const address = (host: number): string => `10.${second}.${third + (host >>> 8)}.${host & 255}`;
    const event: BenchEvent = {
      type: random() % 100 < 55 ? 'AddressesDisabled' : 'AddressesEnabled',
      data: {
        subnet: `${address(0)}/20`,
        ranges: [{ first: address(first), last: address(last) }],
        reason: 'abuse-report-ticket',
      },
    };
    const [at, requestId] = [systemClock.nowText(), systemIds.uuid()];
    return { customer: `customer-${customer}`, event, actor: `user-${first % 97}@example.net`, at, requestId };
  };
}

/** An append that a command has made ready. */
export type ReadyAppend = Readonly<{ stream: string; expected: bigint; events: readonly Sealed[] }>;

/** Makes the appends of each stream ready, one after another. */
export function createSealer(): (fact: Fact) => ReadyAppend {
  const ends = new Map<string, Readonly<{ revision: bigint; hash: string }>>();
  return ({ customer, event, actor, at, requestId }) => {
    const { revision, hash } = ends.get(customer) ?? { revision: NO_STREAM, hash: '' };
    const events = seal([event], {
      stream: customer,
      previousHash: hash,
      actor,
      at,
      correlationId: requestId,
      causationId: requestId,
      ids: systemIds,
      schemaOf: codec.schemaOf,
    });
    ends.set(customer, { revision: revision + 1n, hash: events[0]?.metadata.hash ?? '' });
    return { stream: customer, expected: revision, events };
  };
}

export function openStore(file: string): EventStore {
  return openSqliteEventStore({ file, codec, log: createLog({ level: 'silent' }) });
}

/** A folder for database files, gone when the process ends; `BENCH_FOLDER` says on which disk. */
export function benchFolder(): string {
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'edgeward-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
