// Makes an event log as customers would: many small changes, spread over many streams.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemIds } from '../../src/adapters/ids.ts';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { createCodec } from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import { EVENT_CATALOGUE } from '../../src/main/contexts.ts';
import type { Event } from '../../src/kernel/event.ts';
import { seededRandom } from '../measure.ts';

export type LogShape = Readonly<{
  customers: number;
  subnetsEach: number;
  subnetLength: number;
  events: number;
  /** The directory knows names and subnets, as lists for administrators need it. */
  isListed?: true;
}>;

const SETTINGS = {
  rateLimitPerMinute: 1_000_000,
  allowSynchronous: true,
  allowSourceWhitelist: false,
  trusted: false,
  whitelistLimit: 100,
  prefixLimit: 10_000_000,
  evidenceMaxBytes: 5_242_880,
  webhookUrl: null,
};
export const QUIET = { debug: silent, info: silent, warn: silent, error: silent, child: () => QUIET };

function silent(): void {}

export function tokenOf(customerId: number): string {
  return `edw_bench-${customerId}`;
}

/** Writes the log into `<dataDir>/events.db`. `changes` gives the changes of a customer, one event each, when it is its turn; `ofRegion` what the region has besides. */
export async function writeLog(
  dataDir: string,
  shape: LogShape,
  changes: (customerId: number, turn: number, random: () => number) => Event,
  ofRegion: readonly Event[] = [],
): Promise<number> {
  mkdirSync(dataDir, { recursive: true });
  const codec = createCodec(EVENT_CATALOGUE);
  const store = openSqliteEventStore({ file: join(dataDir, 'events.db'), codec, log: QUIET });
  const ends = new Map<string, { revision: bigint; hash: string }>();
  const random = seededRandom(1);
  let written = 0;
  let pending: Promise<unknown>[] = [];
  const append = async (stream: string, events: readonly Event[]): Promise<void> => {
    const end = ends.get(stream) ?? { revision: -1n, hash: '' };
    const sealed = seal(events, {
      stream,
      previousHash: end.hash,
      actor: 'system:bench',
      at: '2026-11-27T20:50:00.123+00:00',
      correlationId: 'bench',
      causationId: 'bench',
      ids: systemIds,
      schemaOf: codec.schemaOf,
    });
    pending.push(store.append(stream, end.revision, sealed));
    ends.set(stream, { revision: end.revision + BigInt(events.length), hash: sealed.at(-1)?.metadata.hash ?? '' });
    written += events.length;
    if (pending.length < 1_000) return;
    await Promise.all(pending);
    pending = [];
  };
  await append('region-1', [{ type: 'RegionCreated', data: { regionId: 1, name: 'bench' } }, ...ofRegion]);
  if (shape.isListed === true) await append('directory-main', directoryEvents(shape));
  for (let customerId = 1; customerId <= shape.customers; customerId += 1) {
    await append(`customer-${customerId}`, openingEvents(customerId, shape));
  }
  for (let turn = 0; written < shape.events; turn += 1) {
    const customerId = 1 + (turn % shape.customers);
    await append(`customer-${customerId}`, [changes(customerId, Math.floor(turn / shape.customers), random)]);
  }
  await Promise.all(pending);
  await store.close();
  return written;
}

function openingEvents(customerId: number, shape: LogShape): readonly Event[] {
  const sha256 = createHash('sha256').update(tokenOf(customerId)).digest('hex');
  return [
    { type: 'CustomerRegistered', data: customerOf(customerId) },
    { type: 'ApiTokenIssued', data: { tokenId: `t${customerId}`, label: '', sha256 } },
    ...subnetsOf(customerId, shape).map((data) => ({ type: 'SubnetAssigned', data })),
  ];
}

function directoryEvents(shape: LogShape): readonly Event[] {
  const customers = Array.from({ length: shape.customers }, (_, at) => at + 1);
  return [
    { type: 'RegionNameReserved', data: { regionId: 1, name: 'bench' } },
    ...customers.flatMap((customerId): readonly Event[] => [
      { type: 'CustomerNameReserved', data: customerOf(customerId) },
      ...subnetsOf(customerId, shape).map((subnet) => ({ type: 'SubnetReserved', data: { ...subnet, customerId } })),
    ]),
  ];
}

function customerOf(customerId: number) {
  return { customerId, name: `c${customerId}`, listName: `C${customerId}`, settings: SETTINGS };
}

function subnetsOf(customerId: number, { subnetsEach, subnetLength }: LogShape) {
  return Array.from({ length: subnetsEach }, (_, at) => {
    const subnetId = (customerId - 1) * subnetsEach + at + 1;
    const cidr = `${ipv4(firstAddress(subnetId, subnetLength))}/${subnetLength}`;
    return { subnetId, cidr, regionId: 1, asn: 64500, metro: 'x' };
  });
}

/** Subnets lie one after another from 10.0.0.0 on. */
export function firstAddress(subnetId: number, length: number): number {
  return 0x0a000000 + (subnetId - 1) * 2 ** (32 - length);
}

export function ipv4(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');
}

/** Milliseconds for reading each event of the log and parsing its data, one by one. @throws Error when there are fewer than `least` */
export function parseOneByOne(dataDir: string, least: number): number {
  const db = openSqlite(join(dataDir, 'events.db'), { readonly: true });
  const started = performance.now();
  let count = 0;
  for (const row of db.prepare<[], { data: string }>('SELECT * FROM events ORDER BY position').iterate()) {
    if (JSON.parse(row.data) !== null) count += 1;
  }
  db.close();
  if (count < least) throw new Error('the log is too short');
  return performance.now() - started;
}
