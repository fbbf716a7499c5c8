/** How a work that stopped in its middle goes on. */
export type Ending = 'keep' | 'take back';

/** A work that has stopped in its middle, with what it offers there. */
export type PausedWork<T> = Readonly<{
  middle: T;
  /** Lets it go on to its end, and waits for that. The first word counts. Never rejects: what came of it is for others to see. */
  end: (how: Ending) => Promise<void>;
}>;

/**
 * Begins a work that offers something in its middle and then waits to hear how it ends, so that what it holds (turns, locks,
 * sessions) is held until then and let go in its own order. Rejects with the work's failure when it fails before its offer.
 */
export function runToPause<T>(work: (offer: (middle: T) => Promise<Ending>) => Promise<void>): Promise<PausedWork<T>> {
  return new Promise((resolve, reject) => {
    const over = work(
      (middle) =>
        new Promise((decide) => {
          const end = async (how: Ending): Promise<void> => {
            decide(how);
            await over.catch(() => undefined);
          };
          resolve({ middle, end });
        }),
    );
    over.catch(reject);
  });
}
