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
export function retryDelay({ retryMilliseconds: delays }: CommitTimes, failures: number): number {
  return delays[Math.min(failures, delays.length) - 1] ?? 0;
}
