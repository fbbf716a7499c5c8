import { type RetireDependencies, retireWebhookSecret } from '../../commands/ip-control/retire-webhook-secret.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { RetireWebhookSecretDuty } from './retire-webhook-secrets.ts';

/** Takes an earlier webhook secret out of the secret store, and records that it has ended. */
export function performRetireWebhookSecret(dependencies: RetireDependencies): Perform<RetireWebhookSecretDuty> {
  return async ({ id, data: { customerId, secretId } }) => {
    const context = { actor: 'system:retire-webhook-secrets', requestId: id };
    const answer = await retireWebhookSecret(customerId, secretId, context, dependencies);
    if (isRefusal(answer)) throw new Error(`the webhook secret ${secretId} could not be retired: ${answer.because}`);
  };
}
