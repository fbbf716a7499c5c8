import { commitDueIn, type CommitTimes } from '../../domain/ip-control/commit-due.ts';
import { epochMilliseconds, instantText } from '../../domain/instants.ts';
import type { WorkView } from '../../projections/ip-control/work-view.ts';

/** When a list's next commit is asked for; undefined while one is deployed. A change that comes meanwhile puts it off. */
export function nextTryOf({ changedAt, waitingSince, commit }: WorkView, times: CommitTimes): string | undefined {
  if (commit?.phase === 'deploying') return undefined;
  const { failedAt = null, failures = 0 } = commit ?? {};
  const marks = { changed: changedAt, waiting: waitingSince, failed: failedAt, failures };
  // Told from the beginning of the epoch, how long until it is due is when it is.
  const due = commitDueIn(marks, times, (at) => -epochMilliseconds(at));
  return due === undefined ? undefined : instantText(due);
}
