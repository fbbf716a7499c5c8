import type { Readiness } from '../http/operations/health.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Reading } from './reading.ts';
import type { Restoring } from './restoring.ts';
import type { Stores } from './stores.ts';

/** A store that takes longer to say where it stands is not ready to be worked with. */
const ANSWER_MILLISECONDS = 3_000;

/** What keeps this server from being ready, by what was checked, and whether it serves a restored log. */
export async function readiness(
  { store, readModels }: Pick<Stores, 'store' | 'readModels'>,
  reading: Pick<Reading, 'isCaughtUp'>,
  restoring: Pick<Restoring, 'regions'>,
  startedAt: bigint,
  tools: Readonly<{ clock: Clock; log: Log }>,
): ReturnType<Readiness> {
  const [events, views, isCaughtUp, restored] = await Promise.all([
    inTime('the event store', store.end(), tools),
    inTime('the read models', readModels.standing([]), tools),
    inTime('what can be read', reading.isCaughtUp(startedAt), tools),
    inTime('whether the log was restored', restoring.regions(), tools),
  ]);
  return {
    checks: {
      event_store: events === undefined ? 'unreachable' : undefined,
      read_models: views === undefined ? 'unreachable' : undefined,
      projections: isCaughtUp === true ? undefined : 'catching up',
    },
    restored: restored !== undefined,
  };
}

/** What is asked for, or `undefined` when it fails or takes too long; the log says why. */
async function inTime<T>(
  what: string,
  asked: Promise<T>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Promise<T | undefined> {
  const answered = new AbortController();
  const failed = (error: unknown): undefined => {
    if (!answered.signal.aborted) log.warn({ error }, `not ready: ${what} could not be asked`);
  };
  const late = clock.wait(ANSWER_MILLISECONDS, answered.signal).then(
    () => failed(new Error(`no answer within ${ANSWER_MILLISECONDS} ms`)),
    () => undefined,
  );
  try {
    return await Promise.race([asked.catch(failed), late]);
  } finally {
    answered.abort();
  }
}
