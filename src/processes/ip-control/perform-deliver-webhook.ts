import type { Aggregate } from '../../commands/handle.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CustomerState, Registered } from '../../commands/ip-control/customer-state.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { RegionState } from '../../commands/ip-control/region-state.ts';
import type { WebhookDeliveryCommand, WebhookDeliveryState } from '../../commands/ip-control/webhook-delivery.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import { prefixListName } from '../../events/ip-control/vocabulary.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Perform } from '../../kernel/process.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { WebhookSender } from '../../ports/webhooks.ts';
import type { DeliverWebhookDuty, Notification } from './deliver-webhook.ts';
import { rememberedSecrets } from './remembered-secrets.ts';

export type DeliverWebhookDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  deliveries: Aggregate<WebhookDeliveryCommand, WebhookDeliveryState, WebhookDeliveryEvent>;
  secrets: Secrets;
  sender: WebhookSender;
  clock: Clock;
  log: Log;
  /** Tries after the first one. */
  retries: number;
}>;

const REGIONS_MAX = 1_000;

/** Makes one try, and records what came of it. */
export function performDeliverWebhook(dependencies: DeliverWebhookDependencies): Perform<DeliverWebhookDuty> {
  const { customers, deliveries, log, retries } = dependencies;
  const secrets = rememberedSecrets(dependencies.secrets, dependencies.clock);
  const regionName = rememberedNames(dependencies.regions);
  return async ({ id, data }, signal) => {
    const { commitSetId, customerId, regionId, status, attempt } = data;
    const { state } = await customers.state(customerId);
    const command = await attemptDelivery(data, state, dependencies, signal);
    const fields = { customerId, regionId, commitSetId, status, attempt, result: command.type };
    if (command.type === 'RecordWebhookDelivered') log.info(fields, 'webhook');
    else log.warn({ ...fields, because: command.data.because }, 'webhook was not delivered');
    await deliveries.handle(commitSetId, command, { actor: 'system:deliver-webhook', requestId: id });
  };

  async function attemptDelivery(
    notification: Notification,
    state: CustomerState,
    { sender, clock }: DeliverWebhookDependencies,
    signal: AbortSignal,
  ): Promise<WebhookDeliveryCommand> {
    const { commitSetId, customerId, regionId, status, attempt } = notification;
    const about = { commitSetId, customerId, regionId, status, attempt };
    const abandoned = (because: string): WebhookDeliveryCommand => ({
      type: 'RecordWebhookAbandoned',
      data: { ...about, because },
    });
    if (state.phase === 'unregistered' || state.settings.webhookUrl === null)
      return abandoned('the customer has no webhook URL any more');
    const secret = state.webhookSecretId === undefined ? undefined : await secrets.get(state.webhookSecretId);
    if (secret === undefined) return abandoned('the webhook secret is missing; rotate it');
    const earlier = state.earlierWebhookSecrets.filter(({ signs }) => signs);
    const earlierSecrets = await Promise.all(earlier.map(({ secretId }) => secrets.get(secretId)));
    const result = await sender.send(
      {
        url: state.settings.webhookUrl,
        messageId: `msg_${commitSetId}_${status}`,
        timestampSeconds: () => Math.floor(clock.now().epochMilliseconds / 1000),
        body: notificationBody(notification, state, await regionName(regionId)),
        secret,
        // One that is being retired has left the secret store a moment before its event.
        earlierSecrets: earlierSecrets.filter((value) => value !== undefined),
      },
      signal,
    );
    if (result.delivered) return { type: 'RecordWebhookDelivered', data: { ...about, httpStatus: result.status } };
    const { because } = result;
    return attempt > retries ? abandoned(because) : { type: 'RecordWebhookAttemptFailed', data: { ...about, because } };
  }
}

/** A region's name, which never changes. */
function rememberedNames(regions: DeliverWebhookDependencies['regions']): (regionId: number) => Promise<string> {
  const names = new BoundedMap<number, string>(REGIONS_MAX);
  return async (regionId) => {
    const known = names.get(regionId);
    if (known !== undefined) return known;
    const { state } = await regions.state(regionId);
    if (state.phase !== 'created') return String(regionId);
    names.set(regionId, state.name);
    return state.name;
  };
}

/** The specification's seven fields, and nothing else. */
function notificationBody(notification: Notification, customer: Registered, region: string): string {
  return JSON.stringify({
    event: 'commit_completed',
    commit_set_id: notification.commitSetId,
    customer: customer.name,
    prefix_list_name: prefixListName(customer.listName, notification.list),
    region,
    status: notification.status,
    completed_at: notification.completedAt,
  });
}
