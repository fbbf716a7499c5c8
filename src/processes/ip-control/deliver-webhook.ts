import type { Aggregate } from '../../commands/aggregate.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { RegionState } from '../../commands/ip-control/region-state.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { WebhookDeliveryCommand, WebhookDeliveryState } from '../../commands/ip-control/webhook-delivery.ts';
import type { CommitSettled, CustomerEvent } from '../../events/ip-control/customer.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import { deliveryId, notificationBody } from '../../domain/ip-control/webhook-notification.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { WebhookSender } from '../../ports/webhooks.ts';

export type Notification = Readonly<{
  customerId: number;
  regionId: number;
  commitSetId: string;
  list: ListKind;
  status: 'success' | 'failed';
  completedAt: string;
  /** The number of the next try, from 1. */
  attempt: number;
  /** The number of the first try since it was asked for again; absent: it was not. */
  first?: number;
  /** The last try, which failed: the next one keeps its distance from it. */
  failed: Mark | null;
}>;

/** What a customer is still to be told about a region, oldest first. */
export type DeliverWebhookState = Readonly<{ queue: readonly Notification[] }>;

export type DeliverWebhookDuty = Duty<'DeliverWebhook', Notification>;

type DeliveryEvent = Exclude<WebhookDeliveryEvent, { type: 'WebhookTested' }>;
type Watched = CommitSettled | DeliveryEvent;

/** Owes the oldest notification of each customer and region, so that they arrive in order; the next one only when it is delivered or given up. */
export function deliverWebhook(
  retryDelayMilliseconds: number,
): Process<Watched, DeliverWebhookState, DeliverWebhookDuty> {
  return {
    name: 'deliver-webhook',
    version: 2,
    handles: [
      'CommitCompleted',
      'CommitFailed',
      'WebhookDelivered',
      'WebhookAttemptFailed',
      'WebhookAbandoned',
      'WebhookRedeliveryRequested',
    ],
    keysOf: (event) => [
      'customerId' in event.data
        ? `${event.data.customerId}/${event.data.regionId}`
        : `${streamId(event.stream)}/${event.data.regionId}`,
    ],
    evolve,
    owed: ({ queue: [oldest] }, since) => {
      if (oldest === undefined || dueIn(oldest, since) > 0) return [];
      return [{ type: 'DeliverWebhook', id: `${oldest.commitSetId}/${oldest.status}#${oldest.attempt}`, data: oldest }];
    },
    wakesIn: ({ queue: [oldest] }, since) => (oldest === undefined ? undefined : dueIn(oldest, since)),
  };

  function dueIn({ failed }: Notification, since: Since): number {
    return failed === null ? 0 : retryDelayMilliseconds - since(failed);
  }
}

function evolve(
  state: DeliverWebhookState | undefined,
  event: RecordedEvent<Watched>,
): DeliverWebhookState | undefined {
  const queue = state?.queue ?? [];
  switch (event.type) {
    case 'CommitCompleted':
    case 'CommitFailed':
      return event.data.notify ? { queue: [...queue, notificationOf(event)] } : state;
    case 'WebhookDelivered':
    case 'WebhookAbandoned': {
      const rest = queue.filter((waiting) => !isAbout(waiting, event));
      return rest.length === 0 ? undefined : { queue: rest };
    }
    case 'WebhookRedeliveryRequested': {
      if (queue.some((waiting) => isAbout(waiting, event))) return state;
      return { queue: [...queue, { ...event.data, first: event.data.attempt, failed: null }] };
    }
    case 'WebhookAttemptFailed': {
      const attempt = event.data.attempt + 1;
      const failed = markOf(event);
      return (
        state && {
          queue: queue.map((waiting) => (isAbout(waiting, event) ? { ...waiting, attempt, failed } : waiting)),
        }
      );
    }
  }
}

function notificationOf(event: RecordedEvent<CommitSettled>): Notification {
  const { regionId, commitSetId, list, completedAt } = event.data;
  const status = event.type === 'CommitCompleted' ? 'success' : 'failed';
  const customerId = Number(streamId(event.stream));
  return { customerId, regionId, commitSetId, list, status, completedAt, attempt: 1, failed: null };
}

function isAbout(waiting: Notification, event: RecordedEvent<DeliveryEvent>): boolean {
  return waiting.commitSetId === event.data.commitSetId && waiting.status === event.data.status;
}

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

/** What is recorded of one try. */
type Outcome = Extract<
  WebhookDeliveryCommand,
  { type: 'RecordWebhookDelivered' | 'RecordWebhookAttemptFailed' | 'RecordWebhookAbandoned' }
>;

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
    const names = {
      customer: state.phase === 'registered' ? state.name : String(customerId),
      region: await regionName(regionId),
    };
    const fields = { customerId, regionId, ...names, commitSetId, status, attempt, result: command.type };
    if (command.type === 'RecordWebhookDelivered') log.info(fields, 'webhook');
    else if (command.type === 'RecordWebhookAbandoned')
      log.error({ ...fields, because: command.data.because }, 'webhook was given up');
    else log.warn({ ...fields, because: command.data.because }, 'webhook was not delivered');
    await deliveries.handle(commitSetId, command, { actor: 'system:deliver-webhook', requestId: id });
  };

  async function attemptDelivery(
    notification: Notification,
    state: CustomerState,
    { sender, clock }: DeliverWebhookDependencies,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { commitSetId, customerId, regionId, status, attempt, first = 1 } = notification;
    const about = { commitSetId, customerId, regionId, status, attempt };
    const abandoned = (because: string): Outcome => ({
      type: 'RecordWebhookAbandoned',
      data: { ...about, because },
    });
    if (state.phase === 'unregistered' || state.settings.webhookUrl === null)
      return abandoned('the customer has no webhook URL any more');
    const secret = state.webhookSecretId === undefined ? undefined : await secrets.get(state.webhookSecretId);
    if (secret === undefined) return abandoned('the webhook secret is missing; rotate it');
    const earlier = state.earlierWebhookSecrets.filter(({ signs }) => signs);
    const earlierSecrets = await Promise.all(earlier.map(({ secretId }) => secrets.get(secretId)));
    const began = clock.monotonicMilliseconds();
    const told = { ...notification, customer: state, region: await regionName(regionId) };
    const result = await sender.send(
      {
        url: state.settings.webhookUrl,
        messageId: deliveryId(commitSetId, status),
        timestampSeconds: () => Math.floor(clock.now().epochMilliseconds / 1000),
        body: notificationBody('commit_completed', told),
        secret,
        // One that is being retired has left the secret store a moment before its event.
        earlierSecrets: earlierSecrets.filter((value) => value !== undefined),
      },
      signal,
    );
    const milliseconds = Math.round(clock.monotonicMilliseconds() - began);
    if (result.delivered)
      return { type: 'RecordWebhookDelivered', data: { ...about, httpStatus: result.status, milliseconds } };
    const { because, status: httpStatus } = result;
    const data = { ...about, because, milliseconds, ...(httpStatus === undefined ? {} : { httpStatus }) };
    return { type: attempt - first >= retries ? 'RecordWebhookAbandoned' : 'RecordWebhookAttemptFailed', data };
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

const SECRETS_MAX = 10_000;
/** A value that replaces a secret is in use after this time at the latest. */
const REMEMBERED_MILLISECONDS = 1_000;

type Remembered = Readonly<{ value: Promise<string | undefined>; until: number }>;

/** Reads secrets that many need one after another: one that was read a moment ago is not read again. Only what was found is remembered. */
export function rememberedSecrets(
  secrets: Pick<Secrets, 'get'>,
  clock: Pick<Clock, 'monotonicMilliseconds'>,
): Pick<Secrets, 'get'> {
  const known = new BoundedMap<string, Remembered>(SECRETS_MAX);
  return {
    get: (id) => {
      const now = clock.monotonicMilliseconds();
      const remembered = known.get(id);
      if (remembered !== undefined && now < remembered.until) return remembered.value;
      const value = secrets.get(id);
      known.set(id, { value, until: now + REMEMBERED_MILLISECONDS });
      const forget = (): void => known.delete(id);
      value.then((found) => found === undefined && forget(), forget);
      return value;
    },
  };
}
