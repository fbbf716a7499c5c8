import { setTimeout as pause } from 'node:timers/promises';
import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../ports/clock.ts';

/** The longest that one timer of Node can wait: 24.8 days. */
const TIMER_MILLISECONDS_MAX = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = createSystemClock();

/** `timerMillisecondsMax`: the longest that one timer of the platform can wait. */
export function createSystemClock(timerMillisecondsMax = TIMER_MILLISECONDS_MAX): Clock {
  const textOf = rememberingText();
  return {
    now: () => Temporal.Instant.fromEpochMilliseconds(Date.now()),
    nowText: () => textOf(Date.now()),
    monotonicMilliseconds,
    wait: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      const end = monotonicMilliseconds() + milliseconds;
      for (let left = milliseconds; left > 0; left = end - monotonicMilliseconds()) {
        await oneTimer(Math.min(Math.ceil(left), timerMillisecondsMax), signal);
      }
    },
  };
}

function monotonicMilliseconds(): number {
  return performance.now();
}

async function oneTimer(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await pause(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    // Node rejects with an error of its own and the reason as its cause.
    signal?.throwIfAborted();
    throw error;
  }
}

/**
 * Instants as events write them: `2026-11-27T20:50:00.123+00:00`. Rendering one takes as long as sealing several events,
 * so each second is rendered once.
 */
function rememberingText(): (epochMilliseconds: number) => string {
  let second = Number.NaN;
  let secondText = '';
  return (epochMilliseconds) => {
    const current = Math.floor(epochMilliseconds / 1000);
    if (current !== second) {
      second = current;
      secondText = Temporal.Instant.fromEpochMilliseconds(current * 1000)
        .toString()
        .slice(0, -1);
    }
    return `${secondText}.${String(epochMilliseconds - current * 1000).padStart(3, '0')}+00:00`;
  };
}
