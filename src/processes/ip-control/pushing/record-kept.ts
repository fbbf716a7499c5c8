import { RangeSet } from '../../../addresses/range-set.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { AppendTooLarge } from '../../../ports/event-store.ts';
import type { ReconcileDependencies } from './reconcile-router.ts';

/**
 * What a router keeps that a restored log does not explain, so that its customer can enable what the log has as enabled already; in parts where
 * that is more than the store takes at once.
 */
export async function recordKept(
  customerId: number,
  regionId: number,
  router: string,
  kept: RangeSet,
  { customers, ids }: Pick<ReconcileDependencies, 'customers' | 'ids'>,
): Promise<void> {
  const record = async (part: RangeSet, isMore: boolean): Promise<void> => {
    const data = { regionId, router, set: part, isMore };
    const context = { actor: 'system:drift', requestId: ids.uuid() };
    try {
      const answer = await customers.handle(customerId, { type: 'RecordKept', data }, context);
      if (isRefusal(answer) && answer.refused !== 'customer-not-found')
        throw new Error(`what ${router} keeps could not be recorded: ${answer.because}`);
    } catch (error) {
      if (!(error instanceof AppendTooLarge) || part.rangeCount < 2) throw error;
      const half = RangeSet.from([...part.ranges()].slice(part.rangeCount / 2));
      await record(part.difference(half), isMore);
      await record(half, true);
    }
  };
  await record(kept, false);
}
