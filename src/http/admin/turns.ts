import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Gives each who asks a turn of the event loop of its own: what came in meanwhile is looked after between two of them. */
export function openTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => yieldToEventLoop());
    return last;
  };
}
