import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommitSettled } from '../../../src/events/ip-control/customer.ts';
import type { WebhookDeliveryEvent } from '../../../src/events/ip-control/webhook-delivery.ts';
import {
  type DeliveryAttempt,
  webhookDeliveryLogProjection,
  webhookDeliveryProjection,
} from '../../../src/projections/ip-control/webhook-delivery-view.ts';
import { COMPLETED_AT, commitCompleted, commitFailed } from '../../commands/ip-control/customer-examples.ts';
import { recorded, specifyProjection } from '../../specification.ts';

type Shown = Parameters<typeof webhookDeliveryProjection.keysOf>[0];
type Told = Exclude<WebhookDeliveryEvent, { type: 'WebhookTested' }> | CommitSettled;

/** One event a second, from 12:00 on. */
const inOrder = (...events: readonly Told[]): readonly Shown[] =>
  events.map((event, second) => {
    const stream = event.type.startsWith('Webhook') ? 'webhookDelivery-c1' : 'customer-7';
    return recorded(event, `2026-11-27T12:00:${String(second).padStart(2, '0')}Z`, {
      stream,
      position: BigInt(second),
    });
  });
const given = (...events: readonly Told[]) => specifyProjection(webhookDeliveryProjection).given(...inOrder(...events));
const at = (second: number): string => `2026-11-27T12:00:${String(second).padStart(2, '0')}.000+00:00`;

const about = { commitSetId: 'c1', customerId: 7, regionId: 1, status: 'success' } as const;
const owed = {
  ...about,
  list: 'BLACKHOLE',
  completedAt: COMPLETED_AT,
  owedAt: at(0),
  requestedAgainAt: null,
  state: 'retrying',
  attempts: [],
} as const;
const completed = commitCompleted({}, true) as CommitSettled;
const failedTry = (attempt: number): Told => ({
  type: 'WebhookAttemptFailed',
  data: { ...about, attempt, because: 'answered 500', httpStatus: 500, milliseconds: 12 },
});
const shownFailure = (attempt: number, second: number): DeliveryAttempt => ({
  attempt,
  at: at(second),
  httpStatus: 500,
  because: 'answered 500',
  milliseconds: 12,
});
const delivered = (attempt: number): Told => ({
  type: 'WebhookDelivered',
  data: { ...about, attempt, httpStatus: 204 },
});
const shownDelivery = (attempt: number, second: number): DeliveryAttempt => ({
  attempt,
  at: at(second),
  httpStatus: 204,
  because: null,
  milliseconds: null,
});
const KEY = '7/c1/success';

test('a commit that is told is a delivery; one that is not is none', () => {
  given(completed).shows(KEY, owed);
  given(commitFailed({}, true) as CommitSettled).shows('7/c1/failed', { ...owed, status: 'failed' });
  given(commitCompleted({}, false) as CommitSettled).shows(KEY, undefined);
});

test('it has its tries, and how it ended', () => {
  given(completed, failedTry(1)).shows(KEY, { ...owed, attempts: [shownFailure(1, 1)] });
  given(completed, failedTry(1), delivered(2)).shows(KEY, {
    ...owed,
    state: 'delivered',
    attempts: [shownFailure(1, 1), shownDelivery(2, 2)],
  });
  const abandoned: Told = { type: 'WebhookAbandoned', data: { ...about, attempt: 1, because: 'no answer' } };
  given(completed, abandoned).shows(KEY, {
    ...owed,
    state: 'given_up',
    attempts: [{ attempt: 1, at: at(1), httpStatus: null, because: 'no answer', milliseconds: null }],
  });
});

test('it goes on when it is asked for again', () => {
  const again: Told = {
    type: 'WebhookRedeliveryRequested',
    data: { ...about, attempt: 2, list: 'BLACKHOLE', completedAt: COMPLETED_AT },
  };
  const attempts = [shownDelivery(1, 1)];
  given(completed, delivered(1), again).shows(KEY, { ...owed, requestedAgainAt: at(2), attempts });
  given(completed, delivered(1), again, delivered(2)).shows(KEY, {
    ...owed,
    requestedAgainAt: at(2),
    state: 'delivered',
    attempts: [...attempts, shownDelivery(2, 3)],
  });
});

test('the last twenty tries are kept', () => {
  const tries = Array.from({ length: 25 }, (_, index) => index + 1);
  given(completed, ...tries.map(failedTry)).shows(KEY, {
    ...owed,
    attempts: tries.slice(5).map((attempt) => shownFailure(attempt, attempt)),
  });
});

test('the log of deliveries names each by its place', () => {
  const events = inOrder(completed, commitFailed({ commitSetId: 'c2' }, true) as CommitSettled);
  const log = specifyProjection(webhookDeliveryLogProjection).given(
    ...events.filter(
      (event): event is Parameters<typeof webhookDeliveryLogProjection.keysOf>[0] => 'notify' in event.data,
    ),
  );
  for (const scope of ['all', 'customer/7']) {
    log.shows(`${scope}/9999999999999999999`, { customerId: 7, commitSetId: 'c1', status: 'success' });
    log.shows(`${scope}/9999999999999999998`, { customerId: 7, commitSetId: 'c2', status: 'failed' });
  }
  assert.equal(events.length, 2);
});

test.run();
