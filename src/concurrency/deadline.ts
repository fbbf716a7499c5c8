import type { Clock } from '../ports/clock.ts';

/** Why a timer is stopped whose work is over. One for all: making an error takes longer than the timer. */
const OVER = new Error('the work is over');

/** Work that is stopped when its time is up or `signal` aborts: its own signal says so, with what `expired` makes of the milliseconds. */
export async function withDeadline<T>(
  work: (within: AbortSignal) => Promise<T>,
  milliseconds: number,
  expired: (milliseconds: number) => Error,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  const deadline = new AbortController();
  const over = new AbortController();
  const stop = (): void => deadline.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const timer = clock.wait(Math.max(0, milliseconds), over.signal).then(
    () => deadline.abort(expired(milliseconds)),
    () => undefined,
  );
  try {
    return await work(deadline.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort(OVER);
    await timer;
  }
}

/** What the work gives; `late` when that takes longer: the work goes on, and its failure is for the one who has begun it. */
export async function orLate<T>(work: Promise<T>, milliseconds: number, clock: Clock): Promise<T | 'late'> {
  const over = new AbortController();
  const late = clock.wait(milliseconds, over.signal).then(
    () => 'late' as const,
    () => 'late' as const,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort(OVER);
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
