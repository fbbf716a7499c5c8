import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { type Address, formatAddress } from '../../kernel/addresses/address.ts';
import { rangeSize } from '../../kernel/addresses/address-range.ts';
import { ipv4Text } from '../../kernel/addresses/address-text.ts';
import { type AddressRun, addressRuns } from '../../projections/ip-control/address-runs.ts';
import type { SubnetStatus } from '../../projections/ip-control/address-view.ts';

/** Subnets with more addresses list only those that are disabled or pending. */
const LISTED_WHOLE_MAX = 65_536n;
/** Rows in one write: enough to be quick, few enough to keep memory flat and to let others have their turn. */
const ROWS_PER_PART = 1_024;
const PATIENCE_MILLISECONDS = 60_000;
export const PAGE_MAX = 65_536;
export const LISTING_TYPE = 'application/json; charset=utf-8';

export type Listing = Readonly<{
  status: SubnetStatus;
  /** Only what is pending. */
  pendingOnly: boolean;
  view: 'ips' | 'ranges';
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
  response.setHeader('Content-Type', LISTING_TYPE);
  const head = JSON.stringify({
    id: subnet.subnetId,
    cidr: subnet.cidr,
    ip_version: range.version,
    asn: subnet.asn,
  });
  const parts = listing.view === 'ranges' ? rangeParts(listing) : ipParts(listing);
  let before = `{"data":${head.slice(0, -1)},"${listing.view}":[`;
  for (;;) {
    const { value, done } = parts.next();
    if (done !== true) {
      if (!(await written(response, before + value))) return;
      before = ',';
      continue;
    }
    const { last, nextAfter } = value;
    const end = last === '' ? (before === ',' ? '' : before) : before + last;
    const pending = listing.status.pending.countWithin(range);
    const next = nextAfter === undefined ? '' : `,"next_after":${JSON.stringify(nextAfter)}`;
    response.end(`${end}]},"meta":{"pending_changes":${pending}${next}}}`);
    return;
  }
}

/** Waits for a slow reader, and lets others have their turn; `false` when the reader has gone. */
async function written(response: ServerResponse, chunk: string): Promise<boolean> {
  if (response.destroyed) return false;
  // All of it is ASCII, which needs no look at each character to be encoded.
  if (!response.write(chunk, 'latin1')) await drained(response);
  await turnOfTheLoop();
  return !response.destroyed;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** What comes after all parts: rows that are too few for one, and the last address listed when there are more. */
type End = Readonly<{ last: string; nextAfter?: string }>;

/** Rows of single addresses, in parts. */
function* ipParts({ status, pendingOnly, after, limit }: Listing): Generator<string, End, undefined> {
  const { range } = status;
  const isWhole = rangeSize(range) <= LISTED_WHOLE_MAX;
  let left = limit;
  let lastText: string | undefined;
  let part = '';
  let rows = 0;
  for (const run of runsAfter(status, after)) {
    if (pendingOnly ? !run.isPending : !isWhole && !run.isDisabled && !run.isPending) continue;
    const tail = `","status":"${statusText(run)}","pending_change":${run.isPending}}`;
    const textAt = textsFrom(run.first, range.version);
    const count = run.last - run.first + 1n;
    const listed = count < BigInt(left) ? Number(count) : left;
    for (let at = 0; at < listed; at += 1) {
      lastText = textAt(at);
      part += `${rows === 0 ? '' : ','}{"address":"${lastText}${tail}`;
      rows += 1;
      if (rows < ROWS_PER_PART) continue;
      yield part;
      part = '';
      rows = 0;
    }
    left -= listed;
    if (count > BigInt(listed)) return { last: part, ...(lastText === undefined ? {} : { nextAfter: lastText }) };
  }
  return { last: part };
}

/** Rows of maximal runs of equal status, in parts. */
function* rangeParts({ status, pendingOnly }: Listing): Generator<string, End, undefined> {
  const { version } = status.range;
  let part: string[] = [];
  for (const run of addressRuns(status)) {
    if (pendingOnly && !run.isPending) continue;
    const start = addressText(run.first, version);
    const end = addressText(run.last, version);
    part.push(`{"start":"${start}","end":"${end}","status":"${statusText(run)}","pending_change":${run.isPending}}`);
    if (part.length < ROWS_PER_PART) continue;
    yield part.join(',');
    part = [];
  }
  return { last: part.join(',') };
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

/** The texts of the addresses that follow each other from `first` on, asked for in order. */
function textsFrom(first: bigint, version: 4 | 6): (at: number) => string {
  if (version === 6) return (at) => formatAddress({ version: 6, value: first + BigInt(at) });
  const start = Number(first);
  let block = -1;
  let head = '';
  return (at) => {
    const value = start + at;
    if (value >>> 8 !== block) {
      block = value >>> 8;
      head = `${block >>> 16}.${(block >>> 8) & 255}.${block & 255}.`;
    }
    return head + (value & 255);
  };
}

function addressText(value: bigint, version: 4 | 6): string {
  return version === 4 ? ipv4Text(Number(value)) : formatAddress({ version: 6, value });
}

function statusText(run: AddressRun): string {
  return run.isDisabled ? 'disabled' : 'enabled';
}
