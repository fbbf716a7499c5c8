import { type RetireDependencies, retireWebhookSecret } from '../../commands/ip-control/retire-webhook-secret.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** An earlier webhook secret, and how long it signs from the rotation on. */
type Earlier = Readonly<{ secretId: string; from: Mark; milliseconds: number }>;

/** The webhook secrets of one customer that are not retired yet. `current`: the newest, which stays as long as the customer does. */
export type RetireWebhookSecretsState = Readonly<{
  customerId: number;
  current: string | null;
  earlier: readonly Earlier[];
}>;

/** So long a removed customer can still be told that its lists are empty. */
const REMOVED_MILLISECONDS = 86_400_000;

export type RetireWebhookSecretDuty = Duty<'RetireWebhookSecret', Readonly<{ customerId: number; secretId: string }>>;

type Watched = Extract<CustomerEvent, { type: 'WebhookSecretRotated' | 'WebhookSecretRetired' | 'CustomerRemoved' }>;

/** Owes the end of each earlier webhook secret when its time is over, or a rotation has made all of them void; of a removed customer's newest, too. */
export const retireWebhookSecrets: Process<Watched, RetireWebhookSecretsState, RetireWebhookSecretDuty> = {
  name: 'retire-webhook-secrets',
  version: 2,
  handles: ['WebhookSecretRotated', 'WebhookSecretRetired', 'CustomerRemoved'],
  keysOf: (event) => [streamId(event.stream)],
  evolve,
  owed: ({ customerId, earlier }, since) =>
    earlier
      .filter((one) => remaining(one, since) <= 0)
      .map(({ secretId }) => ({
        type: 'RetireWebhookSecret',
        id: `${customerId}/${secretId}`,
        data: { customerId, secretId },
      })),
  wakesIn: ({ earlier }, since) => {
    const times = earlier.map((one) => remaining(one, since)).filter((milliseconds) => milliseconds > 0);
    return times.length === 0 ? undefined : Math.min(...times);
  },
};

function evolve(
  state: RetireWebhookSecretsState | undefined,
  event: RecordedEvent<Watched>,
): RetireWebhookSecretsState | undefined {
  const { current = null, earlier: known = [] } = state ?? {};
  const customerId = Number(streamId(event.stream));
  const left = (now: Omit<RetireWebhookSecretsState, 'customerId'>): RetireWebhookSecretsState | undefined =>
    now.current === null && now.earlier.length === 0 ? undefined : { customerId, ...now };
  switch (event.type) {
    case 'WebhookSecretRotated':
      return left({ current: event.data.secretId, earlier: afterRotation(known, event) });
    case 'WebhookSecretRetired': {
      const { secretId } = event.data;
      const earlier = known.filter((one) => one.secretId !== secretId);
      return left({ current: current === secretId ? null : current, earlier });
    }
    case 'CustomerRemoved': {
      if (current === null) return left({ current, earlier: known });
      const last = { secretId: current, from: markOf(event), milliseconds: REMOVED_MILLISECONDS };
      return left({ current: null, earlier: [...known, last] });
    }
  }
}

function afterRotation(
  known: readonly Earlier[],
  event: RecordedEvent<Extract<Watched, { type: 'WebhookSecretRotated' }>>,
): readonly Earlier[] {
  const { previous } = event.data;
  if (previous === undefined) return known.map((one) => ({ ...one, milliseconds: 0 }));
  const { secretId, signsForSeconds } = previous;
  return [...known, { secretId, from: markOf(event), milliseconds: signsForSeconds * 1000 }];
}

/** Milliseconds for which it still signs. */
function remaining({ from, milliseconds }: Earlier, since: Since): number {
  return milliseconds - since(from);
}

/** Takes an earlier webhook secret out of the secret store, and records that it has ended. */
export function performRetireWebhookSecret(dependencies: RetireDependencies): Perform<RetireWebhookSecretDuty> {
  return async ({ id, data: { customerId, secretId } }) => {
    const context = { actor: 'system:retire-webhook-secrets', requestId: id };
    const answer = await retireWebhookSecret(customerId, secretId, context, dependencies);
    if (isRefusal(answer)) throw new Error(`the webhook secret ${secretId} could not be retired: ${answer.because}`);
  };
}
