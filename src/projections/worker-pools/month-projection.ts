import { type Month, monthBounds, monthOf } from '../../domain/worker-pools/months.ts';

/**
 * What a month will come to if it goes on as it went since `since` (its start, or when the pool was created), in milliseconds.
 * A month that is over comes to what was used; `undefined` for one that has not begun.
 */
export function projectedMilliseconds(
  usedMilliseconds: number,
  month: Month,
  since: number,
  now: number,
): number | undefined {
  const { start, end } = monthBounds(month);
  const current = monthOf(now);
  if (month < current) return usedMilliseconds;
  if (month > current) return undefined;
  const from = Math.min(Math.max(start, since), now);
  const elapsed = now - from;
  if (elapsed === 0) return usedMilliseconds;
  return Math.round(usedMilliseconds + (usedMilliseconds / elapsed) * (end - now));
}
