import { Temporal } from '@js-temporal/polyfill';
import { type CommitTimes, retryDelay } from '../../domain/ip-control/commit-due.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { WorkView } from '../../projections/ip-control/work-view.ts';

/** When a list's next commit is asked for; undefined while one is deployed. A change that comes meanwhile puts it off. */
export function nextTryOf({ changedAt, waitingSince, commit }: WorkView, times: CommitTimes): string | undefined {
  if (commit?.phase === 'deploying') return undefined;
  const { quietMilliseconds, quietMillisecondsMax } = times;
  const due = [
    ...after(changedAt, quietMilliseconds),
    ...after(waitingSince, quietMillisecondsMax),
    ...after(commit?.failedAt, commit === null ? undefined : retryDelay(times, commit.failures)),
  ];
  return due.length === 0 ? undefined : Temporal.Instant.fromEpochMilliseconds(Math.min(...due)).toString();
}

function after(at: string | null | undefined, milliseconds: number | undefined): readonly number[] {
  return at === null || at === undefined || milliseconds === undefined ? [] : [epochMilliseconds(at) + milliseconds];
}
