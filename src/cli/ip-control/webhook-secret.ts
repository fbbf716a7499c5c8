import { Temporal } from '@js-temporal/polyfill';
import type { CommandContext } from '../../commands/handle.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { retireWebhookSecret } from '../../commands/ip-control/retire-webhook-secret.ts';
import { newWebhookSecret } from '../../commands/ip-control/webhook-secret.ts';
import type { Application } from '../../application/application.ts';
import { accepted, counted } from '../output.ts';

/** What was done about a customer's webhook secrets. */
export type SecretChange = Readonly<{
  /** The new secret, which is shown once. */
  secret?: string;
  /** Until when the one before signs too. */
  previousUntil?: string;
  /** How many earlier ones were ended. */
  ended: number;
}>;

/**
 * Gives a customer a new webhook secret. The one before signs beside it for a day, or ends `immediately`, with all earlier ones. The secret is stored
 * before the event names it: a crash in between leaves an unused file, never an event without its secret.
 */
export async function rotateWebhookSecret(
  application: Application,
  customerId: number,
  immediately: boolean,
  context: CommandContext,
): Promise<SecretChange> {
  const secretId = `webhook-${customerId}-${application.ids.uuid()}`;
  const secret = newWebhookSecret(application.ids.random);
  await application.secrets.put(secretId, secret);
  const command = { type: 'RotateWebhookSecret', data: { secretId, keepsPrevious: !immediately } } as const;
  const answer = await application.customers.handle(customerId, command, context);
  if ('refused' in answer) await application.secrets.remove(secretId);
  const { events, state } = accepted(answer);
  const ended = state.phase === 'registered' ? await retire(application, state, (signs) => !signs, context) : 0;
  const [event] = events;
  const previous = event?.type === 'WebhookSecretRotated' ? event.data.previous : undefined;
  if (event === undefined || previous === undefined) return { secret, ended };
  return { secret, ended, previousUntil: later(event.metadata.at, previous.signsForSeconds) };
}

/** Ends the webhook secrets of a customer that sign beside the newest. */
export async function endEarlierSecrets(
  application: Application,
  customer: Registered,
  context: CommandContext,
): Promise<SecretChange> {
  return { ended: await retire(application, customer, () => true, context) };
}

/** What is told of it, by line. */
export function secretLines({ secret, previousUntil, ended }: SecretChange): readonly string[] {
  return [
    ...(ended === 0 ? [] : [`${counted(ended, 'earlier webhook secret')} ended`]),
    ...(secret === undefined ? [] : [`webhook secret (shown once): ${secret}`]),
    ...(previousUntil === undefined ? [] : [`the one before it signs too until ${previousUntil}, or --immediately`]),
  ];
}

/** What is told of it, for machines. */
export function secretFields({ secret, previousUntil, ended }: SecretChange) {
  return {
    ...(secret === undefined ? {} : { webhook_secret: secret }),
    ...(previousUntil === undefined ? {} : { previous_webhook_secret_until: previousUntil }),
    ...(ended === 0 ? {} : { ended_webhook_secrets: ended }),
  };
}

async function retire(
  application: Application,
  { customerId, earlierWebhookSecrets }: Registered,
  which: (signs: boolean) => boolean,
  context: CommandContext,
): Promise<number> {
  const ending = earlierWebhookSecrets.filter(({ signs }) => which(signs));
  for (const { secretId } of ending) accepted(await retireWebhookSecret(customerId, secretId, context, application));
  return ending.length;
}

function later(at: string, seconds: number): string {
  return Temporal.Instant.from(at).add({ seconds }).toString({ smallestUnit: 'millisecond', timeZone: 'UTC' });
}
