import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { WebhookDeliveryEvent } from '../../../src/events/ip-control/webhook-delivery.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import type { Mark } from '../../../src/kernel/process.ts';
import { deliverWebhook } from '../../../src/processes/ip-control/deliver-webhook.ts';
import { dutiesAfter, recorded, specifyProcess } from '../../specification.ts';
import { COMPLETED_AT, commitCompleted, commitFailed } from '../../commands/ip-control/customer-examples.ts';

const process = deliverWebhook(30_000);
const handles = new Set<string>(process.handles);
type Watched = Parameters<typeof process.keysOf>[0];
type Happening = readonly [time: string, event: CustomerEvent | WebhookDeliveryEvent, customerId?: number];

const at = (time: string): string => `2026-11-27T${time}Z`;

function watched(history: readonly Happening[]): readonly Watched[] {
  return history
    .map(([time, event, customerId = 7], index): RecordedEvent => {
      const stream = event.type.startsWith('Webhook') ? 'webhookDelivery-c1' : `customer-${customerId}`;
      return recorded(event, at(time), { stream, revision: BigInt(index) });
    })
    .filter((event): event is Watched => isHandled(handles, event));
}

const given = (...history: readonly Happening[]) => specifyProcess(process).given(...watched(history));

type About = Readonly<{ commitSetId?: string; regionId?: number; status?: 'success' | 'failed'; attempt?: number }>;

const aboutOf = ({ commitSetId = 'c1', regionId = 1, status = 'success', attempt = 1 }: About) => ({
  commitSetId,
  customerId: 7,
  regionId,
  status,
  attempt,
});
const delivered = (about: About = {}): WebhookDeliveryEvent => ({
  type: 'WebhookDelivered',
  data: { ...aboutOf(about), httpStatus: 200 },
});
const attemptFailed = (about: About = {}): WebhookDeliveryEvent => ({
  type: 'WebhookAttemptFailed',
  data: { ...aboutOf(about), because: 'no answer' },
});
const abandoned = (about: About = {}): WebhookDeliveryEvent => ({
  type: 'WebhookAbandoned',
  data: { ...aboutOf(about), because: 'no answer' },
});

/** The duty to make one try, after one that failed. */
const delivery = (about: About, failed: Mark | null = null, customerId = 7) =>
  ({
    type: 'DeliverWebhook',
    data: { ...aboutOf(about), customerId, list: 'BLACKHOLE', completedAt: COMPLETED_AT, failed },
  }) as const;

const recordedAt = (time: string): string => `2026-11-27T${time}.000+00:00`;

test('a commit that is to be told owes a notification at once', () => {
  given(['12:00:00', commitCompleted({}, true)])
    .at(at('12:00:00'))
    .owes(delivery({}));
  given(['12:00:00', commitFailed({}, true)])
    .at(at('12:00:00'))
    .owes(delivery({ status: 'failed' }));
});

test('the first try waits for no clock that was set back', () => {
  given(['12:00:00', commitCompleted({}, true)])
    .at(at('11:00:00'))
    .owes(delivery({}));
});

test('one that is not to be told owes none', () => {
  given(['12:00:00', commitCompleted({}, false)], ['12:00:01', commitFailed({}, false)]).isOver();
});

test('a delivery ends it, and so does giving up', () => {
  given(['12:00:00', commitCompleted({}, true)], ['12:00:01', delivered()]).isOver();
  given(['12:00:00', commitCompleted({}, true)], ['12:00:01', abandoned()]).isOver();
});

test('each failed try is followed by another, 30 seconds later, as long as nobody gives up', () => {
  const history: Happening[] = [['12:00:00', commitCompleted({}, true)]];
  for (const [attempt, failedAt, dueAt] of [
    [1, '12:00:10', '12:00:40'],
    [2, '12:00:50', '12:01:20'],
    [3, '12:01:30', '12:02:00'],
  ] as const) {
    history.push([failedAt, attemptFailed({ attempt })]);
    const failed = given(...history);
    failed.at(at(dueAt)).owes(delivery({ attempt: attempt + 1 }, { position: attempt, at: recordedAt(failedAt) }));
    failed.wakesAt(at(dueAt));
    failed.at(at(failedAt)).owesNothing();
  }
  given(...history, ['12:02:10', abandoned({ attempt: 4 })]).isOver();
});

test('notifications of one region are delivered in order: the next when the one before is over', () => {
  const both: readonly Happening[] = [
    ['12:00:00', commitCompleted({}, true)],
    ['12:05:00', commitCompleted({ commitSetId: 'c2' }, true)],
  ];
  given(...both)
    .at(at('12:05:00'))
    .owes(delivery({}));
  given(...both, ['12:05:01', attemptFailed()])
    .at(at('12:05:02'))
    .owesNothing();
  given(...both, ['12:05:01', delivered()])
    .at(at('12:05:02'))
    .owes(delivery({ commitSetId: 'c2' }));
  given(...both, ['12:05:01', abandoned()])
    .at(at('12:05:02'))
    .owes(delivery({ commitSetId: 'c2' }));
});

test('the failure of a commit set is told before its success', () => {
  const both: readonly Happening[] = [
    ['12:00:00', commitFailed({}, true)],
    ['12:01:00', commitCompleted({ attempt: 2 }, true)],
  ];
  given(...both)
    .at(at('12:01:00'))
    .owes(delivery({ status: 'failed' }));
  given(...both, ['12:01:01', delivered({ status: 'failed' })])
    .at(at('12:01:02'))
    .owes(delivery({ status: 'success' }));
});

test('regions and customers do not wait for each other', () => {
  given(
    ['12:00:00', commitCompleted({}, true)],
    ['12:00:00', commitCompleted({ commitSetId: 'c2', regionId: 2 }, true)],
    ['12:00:00', commitCompleted({ commitSetId: 'c3' }, true), 8],
  )
    .at(at('12:00:00'))
    .owes(delivery({}), delivery({ commitSetId: 'c2', regionId: 2 }), delivery({ commitSetId: 'c3' }, null, 8));
});

const askedAgain = (about: About = {}): WebhookDeliveryEvent => ({
  type: 'WebhookRedeliveryRequested',
  data: { ...aboutOf(about), list: 'BLACKHOLE', completedAt: COMPLETED_AT },
});

test('what is asked for again comes after all that waits, and needs no commit to be known', () => {
  const again = delivery({ attempt: 2 });
  given(['12:00:00', askedAgain({ attempt: 2 })])
    .at(at('12:00:00'))
    .owes({ ...again, data: { ...again.data, first: 2 } });
  const history: readonly Happening[] = [
    ['12:00:00', commitCompleted({}, true)],
    ['12:00:01', delivered()],
    ['12:05:00', commitCompleted({ commitSetId: 'c2' }, true)],
    ['12:05:01', askedAgain({ attempt: 2 })],
  ];
  given(...history)
    .at(at('12:05:01'))
    .owes(delivery({ commitSetId: 'c2' }));
  given(...history, ['12:05:02', delivered({ commitSetId: 'c2' })])
    .at(at('12:05:02'))
    .owes({ ...again, data: { ...again.data, first: 2 } });
  given(...history, ['12:05:02', delivered({ commitSetId: 'c2' })], ['12:05:03', delivered({ attempt: 2 })]).isOver();
});

test('each try is a debt of its own', () => {
  const first: readonly Happening[] = [['12:00:00', commitCompleted({}, true)]];
  const [one] = dutiesAfter(process, watched(first), at('12:00:00'));
  const [two] = dutiesAfter(process, watched([...first, ['12:00:10', attemptFailed()]]), at('12:01:00'));
  assert.is.not(one?.id, two?.id);
});

test('a record of something that is over already changes nothing', () => {
  given(['12:00:00', delivered()]).isOver();
  given(['12:00:00', commitCompleted({}, true)], ['12:00:01', delivered()], ['12:00:02', attemptFailed()]).isOver();
});

test.run();
