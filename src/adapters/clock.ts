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

/** Rejects with the signal's own reason: the timers of `node:timers/promises` make an error with a stack each time, which nearly nobody reads. */
function oneTimer(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
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
