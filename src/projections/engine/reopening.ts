/** Those who wait until views are open again. */
export type Reopening = Readonly<{ promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void }>;

export function createReopening(): Reopening {
  let settle: Omit<Reopening, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  // Those who wait hear of a failure; there may be none.
  promise.catch(() => undefined);
  if (settle === undefined) throw new Error('a promise calls its executor at once');
  return { promise, ...settle };
}
