import { type Appended, WrongExpectedRevision } from '../../ports/event-store.ts';
import type { ProposedEvent } from './proposed-events.ts';

/** An append that waits for its turn. */
export type Waiting = Readonly<{
  expected: bigint;
  events: readonly ProposedEvent[];
  bytes: number;
  resolve: (appended: Appended) => void;
  reject: (error: unknown) => void;
}>;

/** Appends that follow on one another: one write makes them all, or none. */
export type Batch = readonly [Waiting, ...Waiting[]];

const EVENTS_MAX = 500;

/** Takes the first that waits. */
export function takeOne(lane: Waiting[]): Batch | undefined {
  const first = lane.shift();
  return first === undefined ? undefined : [first];
}

/** Takes the first that waits, and those behind it that follow on its events, as far as one write may hold them. */
export function takeBatch(lane: Waiting[], limitBytes: number): Batch | undefined {
  const first = lane.shift();
  if (first === undefined) return undefined;
  const batch: [Waiting, ...Waiting[]] = [first];
  let { bytes } = first;
  let count = first.events.length;
  for (let next = lane[0]; next?.expected === endOf(batch); next = lane[0]) {
    bytes += next.bytes;
    count += next.events.length;
    if (bytes > limitBytes || count > EVENTS_MAX) break;
    batch.push(next);
    lane.shift();
  }
  return batch;
}

/** Takes those that were decided on the events of a batch that failed: what they build on is not there. */
export function takeDependents(lane: Waiting[], failed: Batch): readonly Waiting[] {
  const dependents: Waiting[] = [];
  let end = endOf(failed);
  for (let next = lane[0]; next?.expected === end; next = lane[0]) {
    dependents.push(next);
    lane.shift();
    end += BigInt(next.events.length);
  }
  return dependents;
}

/** The error of a failed write as the caller of one of its appends, or of one that builds on it, should see it. */
export function failureFor({ expected }: Waiting, stream: string, error: unknown): unknown {
  if (!(error instanceof WrongExpectedRevision) || error.expected === expected) return error;
  return new WrongExpectedRevision(stream, expected, error.actual);
}

/** The revision that a stream has after a batch. */
function endOf(batch: Batch): bigint {
  return batch.reduce((revision, { events }) => revision + BigInt(events.length), batch[0].expected);
}
