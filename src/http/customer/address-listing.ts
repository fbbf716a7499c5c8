import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Address, formatAddress } from '../../addresses/address.ts';
import { rangeSize } from '../../addresses/range.ts';
import { ipv4Text } from '../../addresses/address-text.ts';
import { type AddressRun, addressRuns, type SubnetStatus } from '../../domain/ip-control/subnet-status.ts';
import { countText, jsonType, takesGzip } from '../problems.ts';
import { AddressRows, closing, closingWithUntil } from './address-rows.ts';

/** Subnets with more addresses list only those that are disabled or pending. */
const LISTED_WHOLE_MAX = 65_536n;
/** Subnets of so many addresses take more than a moment to list. */
const LONG = 4_096n;
/** Characters of ranges in one write. */
const RANGES_TEXT = 65_536;
const PATIENCE_MILLISECONDS = 60_000;
export const PAGE_MAX = 65_536;

export type Listing = Readonly<{
  status: SubnetStatus;
  /** Only what is pending. */
  pendingOnly: boolean;
  view: 'ips' | 'ranges';
  /** Whether each address says until when it is disabled. Ranges say it where it is so. */
  showsUntil: boolean;
  /** Lists begin after this address. */
  after: Address | undefined;
  limit: number;
}>;

/**
 * Streams `{data: {…subnet, ips | ranges: […]}, meta}`; the answer's size is never held in memory.
 * A reader that takes nothing for `patienceMilliseconds` is cut off.
 */
export async function sendListing(
  response: ServerResponse,
  listing: Listing,
  patienceMilliseconds = PATIENCE_MILLISECONDS,
): Promise<void> {
  response.setTimeout(patienceMilliseconds);
  const { subnet, range } = listing.status;
  response.statusCode = 200;
  response.setHeader('Content-Type', jsonType(response));
  const head = JSON.stringify({
    id: subnet.subnetId,
    cidr: subnet.cidr,
    ip_version: range.version,
    asn: subnet.asn,
  });
  const beginning = Buffer.from(`{"data":${head.slice(0, -1)},"${listing.view}":[`);
  const parts = listing.view === 'ranges' ? rangeParts(listing) : ipParts(listing);
  const isLong = !listing.pendingOnly && rangeSize(range) >= LONG;
  let step = isLong ? undefined : parts.next();
  const target = targetOf(response, step?.done === true ? beginning.length + step.value.last.length : undefined);
  // Who reads a long list sees at once that it comes.
  if (!isLong) target.write(beginning);
  else if (!(await written(response, target, beginning))) return;
  step ??= parts.next();
  let isFirst = true;
  while (step.done !== true) {
    if (!(await written(response, target, isFirst ? withoutComma(step.value) : step.value))) return;
    isFirst = false;
    step = parts.next();
  }
  const { last, nextAfter } = step.value;
  target.write(isFirst ? withoutComma(last) : last);
  const pending = listing.status.pending.countWithin(range);
  const next = nextAfter === undefined ? '' : `,"next_after":${JSON.stringify(nextAfter)}`;
  target.end(`]},"meta":{"pending_changes":${countText(response, pending)}${next}}}`);
}

/** Each row has a comma before it; the first one needs none. */
function withoutComma(rows: Uint8Array): Uint8Array {
  return rows.subarray(1);
}

/** Where a listing of so many bytes is written, unknown where it is in parts: the answer, or what packs it on its way there. */
function targetOf(response: ServerResponse, bytes: number | undefined): Writable {
  if (!takesGzip(response, bytes ?? Number.POSITIVE_INFINITY)) return response;
  response.setHeader('Content-Encoding', 'gzip');
  const packed = createGzip();
  // Where either of them ends early, so does the other: a reader that has gone is seen by `written`.
  pipeline(packed, response, () => undefined);
  return packed;
}

/** Waits until the bytes are sent, and lets others have their turn; `false` when the reader has gone. */
async function written(response: ServerResponse, target: Writable, part: Uint8Array): Promise<boolean> {
  if (response.destroyed) return false;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('close', done);
      resolve();
    };
    response.on('close', done);
    target.write(part, done);
  });
  await yieldToEventLoop();
  return !response.destroyed;
}

/** What comes after all parts: rows that are too few for one, and the last address listed when there are more. */
type End = Readonly<{ last: Uint8Array; nextAfter?: string }>;

/** Rows of single addresses, in parts that are good until the next one. */
function* ipParts({ status, pendingOnly, showsUntil, after, limit }: Listing): Generator<Uint8Array, End, undefined> {
  const { range } = status;
  const isWhole = rangeSize(range) <= LISTED_WHOLE_MAX;
  const rows = new AddressRows({ showsUntil });
  let left = limit;
  let lastListed = 0n;
  for (const run of runsAfter(status, after)) {
    if (pendingOnly ? !run.isPending : !isWhole && !run.isDisabled && !run.isPending) continue;
    const count = run.last - run.first + 1n;
    const listed = count < BigInt(left) ? Number(count) : left;
    for (let at = 0; at < listed; at += rows.add(run, at, listed - at, range.version)) {
      if (rows.isFull) yield rows.take();
    }
    if (listed > 0) lastListed = run.first + BigInt(listed) - 1n;
    left -= listed;
    if (count > BigInt(listed)) return { last: rows.take(), nextAfter: addressText(lastListed, range.version) };
  }
  return { last: rows.take() };
}

/** Rows of maximal runs of equal status, in parts. */
function* rangeParts({ status, pendingOnly }: Listing): Generator<Uint8Array, End, undefined> {
  const { version } = status.range;
  let part = '';
  for (const run of addressRuns(status)) {
    if (pendingOnly && !run.isPending) continue;
    const start = addressText(run.first, version);
    const end = addressText(run.last, version);
    const ending = run.until === undefined ? closing(run) : closingWithUntil(run);
    part += `,{"start":"${start}","end":"${end}${ending}`;
    if (part.length < RANGES_TEXT) continue;
    yield Buffer.from(part, 'latin1');
    part = '';
  }
  return { last: Buffer.from(part, 'latin1') };
}

function* runsAfter(status: SubnetStatus, after: Address | undefined): IterableIterator<AddressRun> {
  const { range } = status;
  if (after === undefined || BigInt(after.value) < BigInt(range.first)) {
    yield* addressRuns(status);
  } else if (BigInt(after.value) < BigInt(range.last)) {
    yield* addressRuns(status, nextAddress(after));
  }
}

function nextAddress(address: Address): Address {
  return address.version === 4 ? { version: 4, value: address.value + 1 } : { version: 6, value: address.value + 1n };
}

function addressText(value: bigint, version: 4 | 6): string {
  return version === 4 ? ipv4Text(Number(value)) : formatAddress({ version: 6, value });
}
