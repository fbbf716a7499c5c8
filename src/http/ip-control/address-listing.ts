import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { type Address, formatAddress } from '../../kernel/addresses/address.ts';
import { rangeSize } from '../../kernel/addresses/address-range.ts';
import { ipv4Text } from '../../kernel/addresses/address-text.ts';
import { type AddressRun, addressRuns } from '../../projections/ip-control/address-runs.ts';
import type { SubnetStatus } from '../../projections/ip-control/address-view.ts';

/** Subnets with more addresses list only those that are disabled or pending. */
const LISTED_WHOLE_MAX = 65_536n;
/** Rows in one write: enough to be quick, few enough to keep memory flat. */
const ROWS_PER_CHUNK = 512;
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
  const rows = listing.view === 'ranges' ? rangeRows(listing) : ipRows(listing);
  let chunk = `{"data":${head.slice(0, -1)},"${listing.view}":[`;
  let rowsInChunk = 0;
  let isFirst = true;
  for (;;) {
    const { value, done } = rows.next();
    if (done === true) {
      const pending = listing.status.pending.countWithin(range);
      const nextAfter = value === undefined ? '' : `,"next_after":${JSON.stringify(value)}`;
      response.end(`${chunk}]},"meta":{"pending_changes":${pending}${nextAfter}}}`);
      return;
    }
    chunk += isFirst ? value : `,${value}`;
    isFirst = false;
    rowsInChunk += 1;
    if (rowsInChunk < ROWS_PER_CHUNK) continue;
    if (!(await written(response, chunk))) return;
    chunk = '';
    rowsInChunk = 0;
  }
}

/** Waits for a slow reader, and lets others have their turn; `false` when the reader has gone. */
async function written(response: ServerResponse, chunk: string): Promise<boolean> {
  if (response.destroyed) return false;
  if (!response.write(chunk)) await drained(response);
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

/** Rows of single addresses; gives back the last address listed when there are more. */
function* ipRows({ status, pendingOnly, after, limit }: Listing): Generator<string, string | undefined, undefined> {
  const { range } = status;
  const isWhole = rangeSize(range) <= LISTED_WHOLE_MAX;
  let left = limit;
  let lastText: string | undefined;
  for (const run of runsAfter(status, after)) {
    if (pendingOnly ? !run.isPending : !isWhole && !run.isDisabled && !run.isPending) continue;
    const tail = `","status":"${statusText(run)}","pending_change":${run.isPending}}`;
    for (const text of addressTexts(run, range.version)) {
      if (left === 0) return lastText;
      left -= 1;
      lastText = text;
      yield `{"address":"${text}${tail}`;
    }
  }
  return undefined;
}

/** Rows of maximal runs of equal status. */
function* rangeRows({ status, pendingOnly }: Listing): Generator<string, undefined, undefined> {
  const { version } = status.range;
  for (const run of addressRuns(status)) {
    if (pendingOnly && !run.isPending) continue;
    const start = addressText(run.first, version);
    const end = addressText(run.last, version);
    yield `{"start":"${start}","end":"${end}","status":"${statusText(run)}","pending_change":${run.isPending}}`;
  }
  return undefined;
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

function* addressTexts(run: AddressRun, version: 4 | 6): IterableIterator<string> {
  if (version === 4) {
    const last = Number(run.last);
    for (let value = Number(run.first); value <= last; value += 1) yield ipv4Text(value);
  } else {
    for (let value = run.first; value <= run.last; value += 1n) yield formatAddress({ version: 6, value });
  }
}

function addressText(value: bigint, version: 4 | 6): string {
  return version === 4 ? ipv4Text(Number(value)) : formatAddress({ version: 6, value });
}

function statusText(run: AddressRun): string {
  return run.isDisabled ? 'disabled' : 'enabled';
}
