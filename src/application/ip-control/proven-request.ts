import { AppendInDoubt, AppendTooLarge, StoreUnavailable } from '../../ports/event-store.ts';
import type { StoredEvidence } from '../../ports/evidence.ts';

/**
 * Records what a stored file proves. The file stays where that is new, and goes where it is not, or where it is known that nothing was
 * recorded. Where that can't be said, neither happens: the evidence then waits for the next start to decide.
 */
export async function recordProven<T extends Readonly<{ isNew: boolean }>>(
  stored: Pick<StoredEvidence, 'keep' | 'release'>,
  record: () => Promise<T>,
): Promise<T> {
  const recorded = await record().catch(async (error: unknown) => {
    if (isWithoutEvent(error)) await stored.release();
    throw error;
  });
  // Before the answer: a client that has read it finds no file that nothing names.
  await (recorded.isNew ? stored.keep() : stored.release());
  return recorded;
}

/** Whether what has failed says for sure that no event was written. */
function isWithoutEvent(error: unknown): boolean {
  if (error instanceof AppendTooLarge) return true;
  return error instanceof StoreUnavailable && !(error instanceof AppendInDoubt);
}
