import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';

/**
 * An operator has put a secret into the secret store under this id, in place of the one that may have been there. What it is, no event says.
 * Secrets that other commands make (of webhooks, administrators, assets) are told by their own events.
 */
export const SecretStored = defineEvent(
  'SecretStored',
  1,
  z.strictObject({
    secretId: z.string(),
    /** Tells one storing from the next. */
    changeId: z.string(),
  }),
);

/** An operator has taken the secret out of the secret store. */
export const SecretRemoved = defineEvent('SecretRemoved', 1, z.strictObject({ secretId: z.string() }));

export const operatorSecretEvents = [SecretStored, SecretRemoved] as const;

export type OperatorSecretEvent = EventOf<(typeof operatorSecretEvents)[number]>;
