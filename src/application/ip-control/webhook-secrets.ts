import { Temporal } from '@js-temporal/polyfill';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { retireWebhookSecret } from '../../commands/ip-control/retire-webhook-secret.ts';
import { writtenText } from '../../domain/instants.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';

export type WebhookSecretDependencies = Pick<Application, 'customers' | 'secrets' | 'ids'>;

/** What was done about a customer's webhook secrets. */
export type WebhookSecretChange = Readonly<{
  /** The new secret, which is shown once. */
  secret?: string;
  /** Until when the one before signs too. */
  previousUntil?: string;
  /** How many earlier ones were ended. */
  ended: number;
}>;

const WEBHOOK_SECRET_BYTES = 32;

/**
 * Gives a customer a new webhook secret. The one before signs beside it for a day, or ends `immediately`, with all earlier ones. The secret is stored
 * before the event names it: a crash in between leaves an unused file, never an event without its secret.
 */
export async function rotateWebhookSecret(
  { customerId, immediately }: Readonly<{ customerId: number; immediately: boolean }>,
  context: CommandContext,
  dependencies: WebhookSecretDependencies,
): Promise<WebhookSecretChange | Refusal> {
  const { customers, secrets, ids } = dependencies;
  const secretId = `webhook-${customerId}-${ids.uuid()}`;
  const secret = newWebhookSecret(ids.random);
  await secrets.put(secretId, secret);
  const command = { type: 'RotateWebhookSecret', data: { secretId, keepsPrevious: !immediately } } as const;
  const answer = await customers.handle(customerId, command, context);
  if (isRefusal(answer)) {
    await secrets.remove(secretId);
    return answer;
  }
  const { events, state } = answer;
  const ended = state.phase === 'registered' ? await retire(state, (signs) => !signs, context, dependencies) : 0;
  if (typeof ended === 'object') return ended;
  const [event] = events;
  const previous = event?.type === 'WebhookSecretRotated' ? event.data.previous : undefined;
  if (event === undefined || previous === undefined) return { secret, ended };
  return { secret, ended, previousUntil: later(event.metadata.at, previous.signsForSeconds) };
}

/** Ends the webhook secrets of a customer that sign beside the newest. */
export async function endEarlierWebhookSecrets(
  customer: Registered,
  context: CommandContext,
  dependencies: WebhookSecretDependencies,
): Promise<WebhookSecretChange | Refusal> {
  const ended = await retire(customer, () => true, context, dependencies);
  return typeof ended === 'object' ? ended : { ended };
}

/** A new Standard Webhooks signing secret from a source of secure random bytes: `whsec_` and the base64 of 32 of them. */
export function newWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return `whsec_${Buffer.from(random(WEBHOOK_SECRET_BYTES)).toString('base64')}`;
}

async function retire(
  { customerId, earlierWebhookSecrets }: Registered,
  which: (signs: boolean) => boolean,
  context: CommandContext,
  dependencies: WebhookSecretDependencies,
): Promise<number | Refusal> {
  const ending = earlierWebhookSecrets.filter(({ signs }) => which(signs));
  for (const { secretId } of ending) {
    const answer = await retireWebhookSecret(customerId, secretId, context, dependencies);
    if (isRefusal(answer)) return answer;
  }
  return ending.length;
}

function later(at: string, seconds: number): string {
  return writtenText(Temporal.Instant.from(at).add({ seconds }));
}
