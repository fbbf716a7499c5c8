import type { CommitSettled } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';
import { newestFirst } from '../engine/newest-first.ts';

/** One try, and what came of it. `null`: not known, or there was none. */
export type DeliveryAttempt = Readonly<{
  attempt: number;
  at: string;
  httpStatus: number | null;
  because: string | null;
  milliseconds: number | null;
}>;

/** What a customer was to be told of a commit, and the tries to tell it. Key: `customer/commit set/status`. */
export type WebhookDeliveryView = Readonly<{
  commitSetId: string;
  customerId: number;
  regionId: number;
  list: ListKind;
  status: 'success' | 'failed';
  /** Of the commit. */
  completedAt: string;
  /** Since when it is to be told, and since when again. */
  owedAt: string;
  requestedAgainAt: string | null;
  /** `retrying`: there will be a next try, or a first. */
  state: 'retrying' | 'delivered' | 'given_up';
  /** The last ones, oldest first. */
  attempts: readonly DeliveryAttempt[];
}>;

const ATTEMPTS_MAX = 20;

type DeliveryEvent = Exclude<WebhookDeliveryEvent, { type: 'WebhookTested' }>;
type Shown = CommitSettled | DeliveryEvent;

export const webhookDeliveryProjection: Projection<Shown, WebhookDeliveryView> = {
  name: 'webhook-deliveries',
  version: 1,
  handles: [
    'CommitCompleted',
    'CommitFailed',
    'WebhookDelivered',
    'WebhookAttemptFailed',
    'WebhookAbandoned',
    'WebhookRedeliveryRequested',
  ],
  keysOf: (event) => {
    if (!isSettled(event)) return [deliveryKey(event.data)];
    return event.data.notify ? [deliveryKey(toldBy(event))] : [];
  },
  evolve: (view, event) => {
    if (isSettled(event)) return view ?? owedAfter(event);
    if (view === undefined) return undefined;
    switch (event.type) {
      case 'WebhookRedeliveryRequested':
        return { ...view, state: 'retrying', requestedAgainAt: event.metadata.at };
      case 'WebhookDelivered':
        return { ...withAttempt(view, event), state: 'delivered' };
      case 'WebhookAttemptFailed':
        return { ...withAttempt(view, event), state: 'retrying' };
      case 'WebhookAbandoned':
        return { ...withAttempt(view, event), state: 'given_up' };
    }
  },
};

/** What a customer was to be told, where a reader looks for the newest. Keys: `all/…`, `customer/<number>/…`, with its place in the log. */
export type WebhookDeliveryLogView = Readonly<{
  customerId: number;
  commitSetId: string;
  status: 'success' | 'failed';
}>;

export const webhookDeliveryLogProjection: Projection<CommitSettled, WebhookDeliveryLogView> = {
  name: 'webhook-delivery-log',
  version: 1,
  handles: ['CommitCompleted', 'CommitFailed'],
  keysOf: ({ stream, position, data }) => {
    const place = newestFirst(position);
    return data.notify ? [`all/${place}`, `customer/${streamId(stream)}/${place}`] : [];
  },
  evolve: (view, event) => view ?? toldBy(event),
};

/** The key of a delivery's view. */
export function deliveryKey(told: Pick<WebhookDeliveryView, 'customerId' | 'commitSetId' | 'status'>): string {
  return `${told.customerId}/${told.commitSetId}/${told.status}`;
}

function isSettled(event: RecordedEvent<Shown>): event is RecordedEvent<CommitSettled> {
  return event.type === 'CommitCompleted' || event.type === 'CommitFailed';
}

function toldBy({ type, stream, data }: RecordedEvent<CommitSettled>): WebhookDeliveryLogView {
  const status = type === 'CommitCompleted' ? 'success' : 'failed';
  return { customerId: Number(streamId(stream)), commitSetId: data.commitSetId, status };
}

function owedAfter(event: RecordedEvent<CommitSettled>): WebhookDeliveryView {
  const { regionId, list, completedAt } = event.data;
  return {
    ...toldBy(event),
    regionId,
    list,
    completedAt,
    owedAt: event.metadata.at,
    requestedAgainAt: null,
    state: 'retrying',
    attempts: [],
  };
}

function withAttempt(
  view: WebhookDeliveryView,
  { data, metadata }: RecordedEvent<Exclude<DeliveryEvent, { type: 'WebhookRedeliveryRequested' }>>,
): WebhookDeliveryView {
  const attempt: DeliveryAttempt = {
    attempt: data.attempt,
    at: metadata.at,
    httpStatus: data.httpStatus ?? null,
    because: 'because' in data ? data.because : null,
    milliseconds: data.milliseconds ?? null,
  };
  const others = view.attempts.filter((known) => known.attempt !== data.attempt);
  return { ...view, attempts: [...others, attempt].slice(-ATTEMPTS_MAX) };
}
