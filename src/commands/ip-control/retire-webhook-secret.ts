import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Aggregate, CommandContext, Handled } from '../aggregate.ts';
import type { CustomerCommand } from './customer.ts';
import { type CustomerState, mayRetire } from './customer-state.ts';

export type RetireDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  secrets: Pick<Secrets, 'remove'>;
}>;

/** Ends an earlier webhook secret, or one of a removed customer. It leaves the secret store before the event says so: whatever crashes in between, it is asked for again. */
export async function retireWebhookSecret(
  customerId: number,
  secretId: string,
  context: CommandContext,
  { customers, secrets }: RetireDependencies,
): Promise<Refusal | Handled<CustomerState, CustomerEvent>> {
  const { state } = await customers.state(customerId);
  if (state.phase === 'registered' && mayRetire(secretId, state)) await secrets.remove(secretId);
  return customers.handle(customerId, { type: 'RetireWebhookSecret', data: { secretId } }, context);
}
