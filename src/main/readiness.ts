import { orLate } from '../concurrency/deadline.ts';
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
  tools: Readonly<{ clock: Clock; log: Log }>,
): Promise<Omit<Awaited<ReturnType<Readiness>>, 'version'>> {
  const end = store.end();
  const [events, views, isCaughtUp, restored] = await Promise.all([
    inTime('the event store', end, tools),
    inTime('the read models', readModels.standing([]), tools),
    // Up to where the log ends now: a server that follows it no more would show what it was for ever.
    inTime('what can be read', end.then(reading.isCaughtUp), tools),
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
  let isAnswered = false;
  const failed = (error: unknown): undefined => {
    if (!isAnswered) log.warn({ error }, `not ready: ${what} could not be asked`);
  };
  const answer = await orLate(asked.catch(failed), ANSWER_MILLISECONDS, clock);
  if (answer === 'late') failed(new Error(`no answer within ${ANSWER_MILLISECONDS} ms`));
  isAnswered = true;
  return answer === 'late' ? undefined : answer;
}
