import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/**
 * What comes of something within so many milliseconds; undefined where it takes longer: it goes on without the one who asked, and the log
 * tells where it fails.
 */
export async function within<T extends object>(
  milliseconds: number,
  perform: () => Promise<T>,
  { clock, log, operation }: Readonly<{ clock: Clock; log: Log; operation: string }>,
): Promise<T | undefined> {
  const over = new AbortController();
  const performed = perform();
  const late = clock.wait(milliseconds, over.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    const first = await Promise.race([performed, late]);
    if (first === undefined)
      performed.catch((error: unknown) =>
        log.error({ requestId: operation, error }, 'what was asked for could not be done'),
      );
    return first;
  } finally {
    over.abort();
  }
}
