import { type Appended, WrongExpectedRevision } from '../../ports/event-store.ts';
import { type Batch, failureFor, takeBatch, takeDependents, takeOne, type Waiting } from './append-batch.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { Reads } from './reads.ts';

export type LaneOptions = Readonly<{
  writer: BatchWriter;
  limitBytes: number;
  whatIsAt: Reads['whatIsAt'];
  /** Told of appends that are settled, or about to be. */
  leave: (settled: readonly Waiting[]) => void;
  /** Told that nothing waits any more. */
  over: () => void;
}>;

/**
 * Makes the appends that wait on one stream, until none is left. One write is under way at a time, since the server would take a
 * later append whose earlier one has lost its race to a stranger; those that wait meanwhile, and follow on one another, share the
 * next. Answers come in the order of the appends.
 */
export async function workThrough(stream: string, lane: Waiting[], options: LaneOptions): Promise<void> {
  let answered = Promise.resolve();
  let apart = 0;
  for (;;) {
    const batch = apart > 0 ? takeOne(lane) : takeBatch(lane, options.limitBytes);
    apart -= 1;
    if (batch !== undefined) {
      const answer = await attempt(stream, lane, batch, options);
      if (answer === 'part') {
        lane.unshift(...batch);
        apart = batch.length;
      } else answered = answered.then(answer);
      continue;
    }
    await answered;
    if (lane.length > 0) continue;
    // In the same turn: an append that comes now must open a lane of its own.
    return options.over();
  }
}

/** Writes a batch; what it gives answers those who wait. */
async function attempt(
  stream: string,
  lane: Waiting[],
  batch: Batch,
  { writer, whatIsAt, leave }: LaneOptions,
): Promise<(() => Promise<void>) | 'part'> {
  const [{ expected }] = batch;
  try {
    const events = batch.flatMap((waiting) => waiting.events);
    const appended = await writer.write(stream, expected, events);
    leave(batch);
    return () => settle(stream, batch, appended, whatIsAt);
  } catch (error) {
    // One of them may repeat an append that was made before, which the server only sees when it stands alone.
    if (batch.length > 1 && error instanceof WrongExpectedRevision) return 'part';
    const failed = [...batch, ...takeDependents(lane, batch)];
    leave(failed);
    return async () => {
      for (const waiting of failed) waiting.reject(failureFor(waiting, stream, error));
    };
  }
}

/** The server tells the position of the last event alone; those of the others, when there are any, must be looked up. */
async function settle(stream: string, batch: Batch, appended: Appended, whatIsAt: Reads['whatIsAt']): Promise<void> {
  const [{ expected }] = batch;
  const ends = endsOf(batch);
  const count = Number(appended.revision - expected);
  const places = batch.length === 1 ? [] : await whatIsAt(stream, expected + 1n, count).catch(() => []);
  for (const [index, { resolve }] of batch.entries()) {
    const revision = ends[index] ?? appended.revision;
    // The last position shows all of them: where looking fails, it does as well.
    const position = places[Number(revision - expected) - 1]?.position ?? appended.position;
    resolve({ revision, position });
  }
}

/** The revision of the last event of each append. */
function endsOf(batch: Batch): readonly bigint[] {
  let end = batch[0].expected;
  return batch.map(({ events }) => (end += BigInt(events.length)));
}
