/**
 * Work of which one run serves all who ask for it: who asks while a run is under way gets the next one, which begins after it has asked.
 * All who share a run get what it gives, or its failure.
 */
export function sharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= underWay.then(() => {
      next = undefined;
      const run = work();
      underWay = run.catch(() => undefined);
      return run;
    });
    return next;
  };
}
