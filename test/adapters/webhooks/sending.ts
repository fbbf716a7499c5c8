import { Temporal } from '@js-temporal/polyfill';
import { createWebhookSender, type WebhookSenderOptions } from '../../../src/adapters/webhooks/webhook-sender.ts';
import type { WebhookRequest, WebhookSender } from '../../../src/ports/webhooks.ts';
import { createManualClock } from './manual-clock.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0123456789A=';

/** A request with everything that does not matter to the test filled in. */
export function requestTo(url: string, changes: Partial<WebhookRequest> = {}): WebhookRequest {
  return {
    url,
    messageId: 'msg_018f2d7c',
    timestampSeconds: () => Math.floor(Temporal.Now.instant().epochMilliseconds / 1000),
    body: '{"event":"commit_completed"}',
    secret: SECRET,
    ...changes,
  };
}

/** A sender that is closed at the end of its block. Ten seconds, no guard, and a clock that stands still, unless said otherwise. */
export function openSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender & AsyncDisposable {
  const sender = createWebhookSender({
    clock: createManualClock(),
    timeoutMilliseconds: 10_000,
    allowPrivate: true,
    ...options,
  });
  return { ...sender, [Symbol.asyncDispose]: sender.close };
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}
