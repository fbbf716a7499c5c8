import { RangeSet } from '../../../addresses/range-set.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { inParts } from '../in-parts.ts';
import type { ReconcileDependencies } from './reconcile-router.ts';

/** What a router keeps that a restored log does not explain, so that its customer can enable what the log has as enabled already. */
export async function recordKept(
  customerId: number,
  regionId: number,
  router: string,
  kept: RangeSet,
  { customers, ids }: Pick<ReconcileDependencies, 'customers' | 'ids'>,
): Promise<void> {
  await inParts([...kept.ranges()], async (part, isMore) => {
    const data = { regionId, router, set: RangeSet.from(part), isMore };
    const context = { actor: 'system:drift', requestId: ids.uuid() };
    const answer = await customers.handle(customerId, { type: 'RecordKept', data }, context);
    if (isRefusal(answer) && answer.refused !== 'customer-not-found')
      throw new Error(`what ${router} keeps could not be recorded: ${answer.because}`);
  });
}
