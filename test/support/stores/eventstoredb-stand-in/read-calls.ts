import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { eventFilter } from './event-filter.ts';
import { firstFrom, type From, type LoggedEvent } from './event-log.ts';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  nameIn,
  streamNotFoundResponse,
} from './messages.ts';
import { type Node, refusalOf } from './node.ts';
import { invalidPosition } from './refusals.ts';

type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

/** `Read`: of one stream or of `$all`, forwards or backwards, once or as a subscription. */
export function readCall(node: Node): (call: ReadCall) => void {
  return (call) => {
    const options = call.request.getOptions();
    const refused = refusalOf(node, call.metadata, options === undefined ? '' : (streamIn(options) ?? '$all'));
    if (refused !== undefined || options === undefined) return void call.emit('error', refused);
    if (options.hasAll() && !node.log.isPlace(startOf(options))) return void call.emit('error', invalidPosition());
    // A consumer that is gone ends the writing; nobody is left to hear of it.
    call.on('error', () => undefined);
    const answer = options.hasSubscription() ? subscribe(node, call, options) : readOnce(node, call, options);
    answer.catch(() => node.cut());
  };
}

async function readOnce(node: Node, call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
  const { log, faults, record, cut } = node;
  const stream = streamIn(options);
  const from = startOf(options);
  record(stream === undefined ? { method: 'read-all', from } : { method: 'read', stream, from });
  if (faults.cutReads > 0) {
    faults.cutReads -= 1;
    return cut();
  }
  const source = stream === undefined ? log.all() : log.stream(stream);
  if (stream !== undefined && source.length === 0) {
    call.write(streamNotFoundResponse(stream));
    call.end();
    return;
  }
  const breakAfter = faults.cutReadsAfter;
  faults.cutReadsAfter = undefined;
  const pace = scanPace(node, call);
  const { passes } = eventFilter(options.getFilter());
  let sent = 0n;
  for (const event of inDirection(source, options, from)) {
    if (!passes(event)) {
      await pace();
      if (call.cancelled) return;
      continue;
    }
    if (sent >= BigInt(options.getCount())) break;
    if (breakAfter !== undefined && sent >= BigInt(breakAfter)) return cut();
    await write(node, call, eventResponse(event));
    if (call.cancelled) return;
    sent += 1n;
    if (sent >= BigInt(options.getCount())) break;
  }
  call.end();
}

/** Forwards a read starts at its position, backwards of `$all` it starts before it. */
function* inDirection(
  source: readonly LoggedEvent[],
  options: streams.ReadReq.Options,
  from: From,
): Generator<LoggedEvent> {
  const isOfAll = options.hasAll();
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  if (from === (backwards ? 'start' : 'end')) return;
  if (!backwards) {
    yield* source.slice(typeof from === 'bigint' ? firstFrom(source, from, isOfAll) : 0);
    return;
  }
  const end = typeof from === 'bigint' ? firstFrom(source, isOfAll ? from : from + 1n, isOfAll) : source.length;
  for (let index = end - 1; index >= 0; index -= 1) {
    const event = source[index];
    if (event !== undefined) yield event;
  }
}

/** A subscription starts after its position, tells how far it has looked, and that it has caught up. */
async function subscribe(node: Node, call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
  const { log, faults, record, stopped } = node;
  const stream = streamIn(options);
  const source = () => (stream === undefined ? log.all() : log.stream(stream));
  const filter = eventFilter(options.getFilter());
  const pace = scanPace(node, call);
  const from = startOf(options);
  record({ method: 'subscribe', from, ...(stream === undefined ? {} : { stream }) });
  await write(node, call, confirmationResponse(randomUUID()));
  let next = indexAfter(source(), from, stream === undefined);
  let looked = 0;
  let caughtUp = false;
  const over = new Promise<void>((resolve) => {
    call.once('cancelled', resolve);
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  while (!call.cancelled && !stopped.aborted) {
    const grown = log.grown();
    const newest = source().at(-1);
    if (faults.checkpointsAhead && newest !== undefined && next < source().length && !faults.silentSubscriptions)
      await write(node, call, checkpointResponse(newest.position, newest.position));
    for (; next < source().length && !call.cancelled; next += 1) {
      const event = source()[next];
      if (event === undefined || faults.silentSubscriptions) break;
      const isHit = filter.passes(event);
      if (!isHit) await pace();
      const copies = isHit && !faults.withheld(event) ? faults.deliveries : 0;
      for (let copy = 0; copy < copies; copy += 1) {
        await write(node, call, eventResponse(event));
      }
      // While it catches up after the first record that was looked at, and then after each stretch; live after each stretch alone.
      if (looked % filter.checkpointInterval === (caughtUp ? filter.checkpointInterval - 1 : 0))
        await write(node, call, checkpointResponse(event.position, caughtUp ? event.position : 0n));
      looked += 1;
    }
    if (!caughtUp && !faults.silentSubscriptions && next >= source().length) {
      caughtUp = true;
      looked = 0;
      if (faults.tellsCaughtUp) await write(node, call, caughtUpResponse());
    }
    await Promise.race([grown, over]);
  }
}

/** Looking through what others wrote takes its time: waits now and then, so that on the whole it is as slow as the server is. */
function scanPace({ faults, passedOver }: Node, call: ReadCall): () => Promise<void> | void {
  let ahead = 0;
  return () => {
    passedOver();
    ahead += 1_000 / faults.scannedPerSecond;
    if (ahead < SCAN_STEP_MILLISECONDS || call.cancelled) return undefined;
    const milliseconds = ahead;
    ahead = 0;
    return new Promise((resolve) => void setTimeout(resolve, milliseconds));
  };
}

const SCAN_STEP_MILLISECONDS = 10;

function streamIn(options: streams.ReadReq.Options): string | undefined {
  return options.hasAll() ? undefined : nameIn(options.getStream()?.getStreamIdentifier());
}

function indexAfter(source: readonly LoggedEvent[], from: From, byPosition: boolean): number {
  if (from === 'start') return 0;
  return from === 'end' ? source.length : firstFrom(source, from + 1n, byPosition);
}

function startOf(options: streams.ReadReq.Options): From {
  const all = options.getAll();
  if (all?.hasPosition()) return BigInt(all.getPosition()?.getCommitPosition() ?? 0);
  const stream = options.getStream();
  if (stream?.hasRevision()) return BigInt(stream.getRevision());
  return all?.hasEnd() || stream?.hasEnd() ? 'end' : 'start';
}

/** Writes no faster than the client reads. */
async function write(node: Node, call: ReadCall, response: streams.ReadResp): Promise<void> {
  if (call.cancelled || call.write(response)) return;
  const waiting = new AbortController();
  const over = () => waiting.abort();
  call.once('cancelled', over);
  node.stopped.addEventListener('abort', over, { once: true });
  await once(call, 'drain', { signal: waiting.signal }).catch(() => undefined);
  call.off('cancelled', over);
  node.stopped.removeEventListener('abort', over);
}
