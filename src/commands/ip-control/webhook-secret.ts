/** Bytes in the key of a webhook secret. */
export const WEBHOOK_SECRET_BYTES = 32;

/** A new Standard Webhooks signing secret from a source of secure random bytes: `whsec_` and the base64 of 32 of them. */
export function newWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return `whsec_${Buffer.from(random(WEBHOOK_SECRET_BYTES)).toString('base64')}`;
}
