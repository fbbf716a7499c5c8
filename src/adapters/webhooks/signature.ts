import { createHmac } from 'node:crypto';

/** The key of a `whsec_` secret (Standard Webhooks: base64 of 24 to 64 bytes), or `undefined` when it is not one. */
export function signingKey(secret: string): Buffer | undefined {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (encoded === undefined) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** The `webhook-signature` of a message that several keys sign: a receiver needs to know one of them. */
export function signaturesOf(
  keys: readonly Buffer[],
  messageId: string,
  timestampSeconds: number,
  body: Buffer,
): string {
  return keys.map((key) => signatureOf(key, messageId, timestampSeconds, body)).join(' ');
}

/**
 * The `webhook-signature` of a message after Standard Webhooks: `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`.
 * Node's own HMAC, because the reference library's JavaScript one takes three times as long; tests verify with that library.
 */
export function signatureOf(key: Buffer, messageId: string, timestampSeconds: number, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${messageId}.${timestampSeconds}.`).update(body).digest('base64')}`;
}
