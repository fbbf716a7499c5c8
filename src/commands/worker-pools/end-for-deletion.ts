import type { CommandContext } from '../aggregate.ts';
import type { Workers } from './aggregates.ts';

/** Ends a worker of a deleted pool at once. A worker whose launch was not begun yet has nothing to end. */
export async function endForDeletion(
  worker: string,
  pool: string,
  at: string,
  context: CommandContext,
  workers: Workers,
): Promise<void> {
  const data = { code: 'pool-deleted', because: `worker pool ${pool} was deleted`, forced: true, at };
  await workers.handle(worker, { type: 'RequestTermination', data }, context);
}
