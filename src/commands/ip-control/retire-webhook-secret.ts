import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Aggregate, CommandContext, Handled } from '../aggregate.ts';
import type { CustomerCommand } from './customer.ts';
import type { CustomerState } from './customer-state.ts';

export type RetireDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  secrets: Pick<Secrets, 'remove'>;
}>;

/** Ends an earlier webhook secret. It leaves the secret store before the event says so: whatever crashes in between, it is asked for again. */
export async function retireWebhookSecret(
  customerId: number,
  secretId: string,
  context: CommandContext,
  { customers, secrets }: RetireDependencies,
): Promise<Refusal | Handled<CustomerState, CustomerEvent>> {
  const { state } = await customers.state(customerId);
  // Only what a newer secret has replaced may go.
  if (state.phase === 'registered' && state.earlierWebhookSecrets.some((earlier) => earlier.secretId === secretId))
    await secrets.remove(secretId);
  return customers.handle(customerId, { type: 'RetireWebhookSecret', data: { secretId } }, context);
}
