import type { PendingTasks } from '../../domain/worker-pools/scaling/snapshot.ts';
import type { OpenWork } from '../../projections/worker-pools/work-request-view.ts';

/** What a task takes when its sender does not say. */
const EXPECTED_SECONDS_DEFAULT = 600;

/** The waiting work as scaling looks at it: alike requests together, in the order in which the first of each was submitted. */
export function pendingTasks(open: readonly OpenWork[]): readonly PendingTasks[] {
  const grouped = new Map<string, PendingTasks>();
  for (const { scope, architecture, pool, expectedSeconds, isWaiting } of open.toSorted((a, b) => a.order - b.order)) {
    if (!isWaiting) continue;
    const seconds = expectedSeconds ?? EXPECTED_SECONDS_DEFAULT;
    const key = `${scope} ${architecture} ${pool ?? ''} ${seconds}`;
    const known = grouped.get(key);
    const alike = known ?? {
      scope,
      architecture,
      count: 0,
      expectedSeconds: seconds,
      ...(pool === null ? {} : { pool }),
    };
    grouped.set(key, { ...alike, count: alike.count + 1 });
  }
  return [...grouped.values()];
}
