import { Webhook } from 'standardwebhooks';
import type { webhooks } from './api.ts';

/** What a webhook tells: that a commit has completed, or, with `event: 'test'`, nothing but that you can be reached. */
export type Notification = webhooks[keyof webhooks]['post']['requestBody']['content']['application/json'];

/**
 * Checks that edgeward has sent this, within the last five minutes, and gives what it says. While a secret is being replaced, a delivery has
 * a signature of each; one that matches is enough.
 * @param secret `whsec_…`, as the administrator was shown it
 * @param headers of the request, names in lower case
 * @param body as it came, to the byte: not parsed and written again
 * @throws WebhookVerificationError for anything else: answer 400
 */
export function verifyWebhook(
  secret: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Buffer,
): Notification {
  const single = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]));
  // What is signed is what the description of the API says.
  return new Webhook(secret).verify(body, single) as Notification;
}
