import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a state is reached, and gives what was found; fails when it is not reached within `seconds`. */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  seconds = 30,
): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`not reached within ${seconds} s: ${what}`);
    await pause(20);
  }
}
