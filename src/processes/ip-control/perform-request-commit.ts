import type { Aggregate } from '../../commands/handle.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { Ids } from '../../ports/ids.ts';
import type { RequestCommitDuty } from './quiet-period.ts';

/** Asks the customer's stream for a commit; it says no more than "nothing new" when there is nothing to deploy. */
export function performRequestCommit(
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>,
  ids: Ids,
): Perform<RequestCommitDuty> {
  return async (duty) => {
    const { customerId, regionId, list, reason } = duty.data;
    const answer = await customers.handle(
      customerId,
      { type: 'RequestCommit', data: { regionId, list, reason, commitSetId: ids.uuid() } },
      { actor: 'system:quiet-period', requestId: duty.id },
    );
    if (isRefusal(answer)) throw new Error(`commit ${duty.id} was refused: ${answer.because}`);
  };
}
