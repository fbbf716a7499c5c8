/** One POST. `body` is the exact text that is sent and signed. */
export type WebhookRequest = Readonly<{
  url: string;
  /** Standard Webhooks message id: the same for every try of one notification. */
  messageId: string;
  /** Unix time in whole seconds, for the signature; asked when it is sent, which may be a while after it was begun. */
  timestampSeconds: () => number;
  body: string;
  /** `whsec_…` */
  secret: string;
  /** Those before it that sign too, while the receiver puts the new one in place; none where absent. */
  earlierSecrets?: readonly string[];
}>;

/** What came of one try. `delivered` is any 2xx. `because` is short, and holds nothing that the receiver sent but its status; `status`: where it answered. */
export type WebhookResult =
  | Readonly<{ delivered: true; status: number }>
  | Readonly<{ delivered: false; because: string; status?: number }>;

/** Sends one signed webhook within its deadline, once a connection to its receiver is free; never throws for what the network or the receiver does. */
export type WebhookSender = Readonly<{
  send: (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookResult>;
  close: () => Promise<void>;
}>;
