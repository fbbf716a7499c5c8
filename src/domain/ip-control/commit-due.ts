/** When commits are asked for. */
export type CommitTimes = Readonly<{
  /** The quiet period: since the newest change. */
  quietMilliseconds: number;
  /** The oldest change waits no longer than this for its customer to be quiet; without it, as long as that takes. */
  quietMillisecondsMax?: number | undefined;
  /** After the first failure, the second, …; the last one repeats. */
  retryMilliseconds: readonly number[];
}>;

/** How long after so many failures in a row a commit is tried again. */
function retryDelay({ retryMilliseconds: delays }: CommitTimes, failures: number): number {
  return delays[Math.min(failures, delays.length) - 1] ?? 0;
}

/** What a commit of a list waits for: the newest change, the oldest one, and that the last attempts have failed. `T` tells when. */
export type CommitMarks<T> = Readonly<{
  changed: T | null;
  waiting: T | null;
  failed: T | null;
  failures: number;
}>;

/** Milliseconds until a commit is due, less than zero: since when it is; undefined where there is nothing to commit. `since`: how long ago. */
export function commitDueIn<T>(
  { changed, waiting, failed, failures }: CommitMarks<T>,
  times: CommitTimes,
  since: (at: T) => number,
): number | undefined {
  const { quietMilliseconds, quietMillisecondsMax } = times;
  const due: number[] = [];
  if (changed !== null) due.push(quietMilliseconds - since(changed));
  if (waiting !== null && quietMillisecondsMax !== undefined) due.push(quietMillisecondsMax - since(waiting));
  if (failed !== null) due.push(retryDelay(times, failures) - since(failed));
  return due.length === 0 ? undefined : Math.min(...due);
}
