import { Semaphore, SemaphoreFull, stopOf } from '../../concurrency/semaphore.ts';

/** Reads that take long are made so many at a time, and so many more wait for their turn. */
const AT_ONCE = 4;
const WAITING_MAX = 32;

/** Has a read made when it is its turn. Undefined: it was not made, as too many wait, or as its signal aborted; then it has no reader. */
export type LongReads = <T>(signal: AbortSignal, read: () => Promise<T>) => Promise<T | undefined>;

/** Turns of their own for reads of one kind: of routers, of whole streams. */
export function openLongReads(): LongReads {
  const turns = new Semaphore(AT_ONCE, WAITING_MAX);
  return async (signal, read) => {
    try {
      await turns.enter(stopOf(signal));
    } catch (error) {
      if (error instanceof SemaphoreFull || signal.aborted) return undefined;
      throw error;
    }
    try {
      return await read();
    } catch (error) {
      if (signal.aborted && error === signal.reason) return undefined;
      throw error;
    } finally {
      turns.leave();
    }
  };
}
