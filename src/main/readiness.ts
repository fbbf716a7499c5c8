import type { Readiness } from '../http/health.ts';
import type { Clock } from '../ports/clock.ts';
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
  clock: Clock,
): ReturnType<Readiness> {
  const [events, views, isCaughtUp, restored] = await Promise.all([
    inTime(store.end(), clock),
    inTime(readModels.standing([]), clock),
    inTime(reading.isCaughtUp(startedAt), clock),
    inTime(restoring.regions(), clock),
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

/** What is asked for, or `undefined` when it fails or takes too long. */
async function inTime<T>(asked: Promise<T>, clock: Clock): Promise<T | undefined> {
  const answered = new AbortController();
  const late = clock.wait(ANSWER_MILLISECONDS, answered.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([asked.catch(() => undefined), late]);
  } finally {
    answered.abort();
  }
}
