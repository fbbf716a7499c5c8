import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { eventFilter } from './event-filter.ts';
import type { LoggedEvent } from './event-log.ts';
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  nameIn,
  streamNotFoundResponse,
} from './messages.ts';
import { type Node, refusalOf } from './node.ts';

type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;
type From = bigint | 'start' | 'end';

/** `Read`: of one stream or of `$all`, forwards or backwards, once or as a subscription. */
export function readCall(node: Node): (call: ReadCall) => void {
  return (call) => {
    const options = call.request.getOptions();
    const refused = refusalOf(node, call.metadata, options?.hasAll() ?? false);
    if (refused !== undefined || options === undefined) return void call.emit('error', refused);
    // A consumer that is gone ends the writing; nobody is left to hear of it.
    call.on('error', () => undefined);
    const answer = options.hasSubscription() ? subscribe(node, call, options) : readOnce(node, call, options);
    answer.catch(() => node.cut());
  };
}

async function readOnce(node: Node, call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
  const { log, faults, record, cut } = node;
  const stream = options.hasAll() ? undefined : nameIn(options.getStream()?.getStreamIdentifier());
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
  let sent = 0n;
  for (const event of selected(source, options, from)) {
    if (sent >= BigInt(options.getCount())) break;
    if (breakAfter !== undefined && sent >= BigInt(breakAfter)) return cut();
    await write(node, call, eventResponse(event));
    if (call.cancelled) return;
    sent += 1n;
  }
  call.end();
}

/** Forwards a read starts at its position, backwards of `$all` it starts before it. */
function* selected(
  source: readonly LoggedEvent[],
  options: streams.ReadReq.Options,
  from: From,
): Generator<LoggedEvent> {
  const { passes } = eventFilter(options.getFilter());
  const placeOf = (event: LoggedEvent) => (options.hasAll() ? event.position : event.revision);
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS;
  for (let step = 0; step < source.length; step += 1) {
    const event = source[backwards ? source.length - 1 - step : step];
    if (event === undefined || !passes(event)) continue;
    const place = placeOf(event);
    if (from === 'start' && backwards) return;
    if (from === 'end' && !backwards) return;
    if (typeof from === 'bigint' && backwards && (options.hasAll() ? place >= from : place > from)) continue;
    if (typeof from === 'bigint' && !backwards && place < from) continue;
    yield event;
  }
}

/** A subscription starts after its position, tells how far it has looked, and that it has caught up. */
async function subscribe(node: Node, call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
  const { log, faults, record, stopped } = node;
  const stream = options.hasAll() ? undefined : nameIn(options.getStream()?.getStreamIdentifier());
  const source = () => (stream === undefined ? log.all() : log.stream(stream));
  const filter = eventFilter(options.getFilter());
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
    for (; next < source().length && !call.cancelled; next += 1) {
      const event = source()[next];
      if (event === undefined || faults.silentSubscriptions) break;
      looked += 1;
      for (let copy = 0; filter.passes(event) && copy < faults.deliveries; copy += 1) {
        await write(node, call, eventResponse(event));
      }
      if (looked % filter.checkpointInterval === 0) await write(node, call, checkpointResponse(event.position));
    }
    if (!caughtUp && !faults.silentSubscriptions) {
      caughtUp = true;
      const last = source().at(-1);
      if (options.hasFilter() && last !== undefined) await write(node, call, checkpointResponse(last.position));
      await write(node, call, caughtUpResponse());
    }
    await Promise.race([grown, over]);
  }
}

function indexAfter(source: readonly LoggedEvent[], from: From, byPosition: boolean): number {
  if (from === 'start') return 0;
  if (from === 'end') return source.length;
  const index = source.findIndex((event) => (byPosition ? event.position : event.revision) > from);
  return index < 0 ? source.length : index;
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
