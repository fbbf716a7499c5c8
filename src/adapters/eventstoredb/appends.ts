import type { Codec } from '../../events/codec.ts';
import type { Sealed } from '../../kernel/event.ts';
import { type Appended, AppendTooLarge, StoreUnavailable } from '../../ports/event-store.ts';
import type { Waiting } from './append-batch.ts';
import { workThrough } from './append-lane.ts';
import type { BatchWriter } from './batch-writer.ts';
import { proposedEvent } from './proposed-events.ts';
import type { Reads } from './reads.ts';

export type AppendsOptions = Readonly<{
  writer: BatchWriter;
  codec: Codec;
  limitBytes: number;
  whatIsAt: Reads['whatIsAt'];
}>;

export type Appends = Readonly<{
  append: (stream: string, expected: bigint, events: readonly Sealed[]) => Promise<Appended>;
  /** Takes no more, and resolves when those that wait are settled. */
  close: () => Promise<void>;
}>;

const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** The appends of one process: one lane a stream. */
export function openAppends({ writer, codec, limitBytes, whatIsAt }: AppendsOptions): Appends {
  const lanes = new Map<string, Waiting[]>();
  const working = new Set<Promise<void>>();
  let waitingBytes = 0;
  let closed = false;
  const leave = (settled: readonly Waiting[]): void => {
    for (const { bytes } of settled) waitingBytes -= bytes;
  };

  return {
    append: async (stream, expected, events) => {
      const proposed = events.map((event) => proposedEvent(event, codec.encode(event)));
      const bytes = proposed.reduce((sum, event) => sum + event.bytes, 0);
      if (bytes > limitBytes) throw new AppendTooLarge(stream, bytes, limitBytes);
      if (closed) throw new StoreUnavailable('the event store is closed');
      if (waitingBytes + bytes > WAITING_BYTES_MAX) {
        throw new StoreUnavailable(`appends of ${waitingBytes} bytes wait for the event store already`);
      }
      return new Promise((resolve, reject) => enter(stream, { expected, events: proposed, bytes, resolve, reject }));
    },
    close: async () => {
      closed = true;
      await Promise.all(working);
      writer.close();
    },
  };

  function enter(stream: string, waiting: Waiting): void {
    waitingBytes += waiting.bytes;
    const lane = lanes.get(stream);
    if (lane !== undefined) return void lane.push(waiting);
    const opened = [waiting];
    lanes.set(stream, opened);
    const over = (): void => void lanes.delete(stream);
    const work = workThrough(stream, opened, { writer, limitBytes, whatIsAt, leave, over }).finally(() =>
      working.delete(work),
    );
    working.add(work);
  }
}
