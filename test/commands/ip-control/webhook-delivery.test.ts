import { test } from 'uvu';
import {
  webhookDeliveryDecider,
  type WebhookDeliveryCommand,
} from '../../../src/commands/ip-control/webhook-delivery.ts';
import type { WebhookDeliveryEvent } from '../../../src/events/ip-control/webhook-delivery.ts';
import { specify } from '../../specification.ts';

const { given } = specify(webhookDeliveryDecider);

type Status = 'success' | 'failed';

const about = (attempt: number, status: Status) => ({ commitSetId: 'c1', customerId: 7, regionId: 1, status, attempt });
const because = 'no answer within 10 s';

const attemptFailed = (attempt: number, status: Status = 'success'): WebhookDeliveryEvent => ({
  type: 'WebhookAttemptFailed',
  data: { ...about(attempt, status), because },
});
const delivered = (attempt: number, status: Status = 'success'): WebhookDeliveryEvent => ({
  type: 'WebhookDelivered',
  data: { ...about(attempt, status), httpStatus: 204 },
});
const abandoned = (attempt: number, status: Status = 'success'): WebhookDeliveryEvent => ({
  type: 'WebhookAbandoned',
  data: { ...about(attempt, status), because },
});
const recordFailed = (attempt: number, status: Status = 'success'): WebhookDeliveryCommand => ({
  type: 'RecordWebhookAttemptFailed',
  data: { ...about(attempt, status), because },
});
const recordDelivered = (attempt: number, status: Status = 'success'): WebhookDeliveryCommand => ({
  type: 'RecordWebhookDelivered',
  data: { ...about(attempt, status), httpStatus: 204 },
});
const recordAbandoned = (attempt: number, status: Status = 'success'): WebhookDeliveryCommand => ({
  type: 'RecordWebhookAbandoned',
  data: { ...about(attempt, status), because },
});

const again = { commitSetId: 'c1', customerId: 7, regionId: 1, list: 'BLACKHOLE', completedAt: 'then' } as const;
const requestAgain = (status: Status = 'success'): WebhookDeliveryCommand => ({
  type: 'RequestWebhookRedelivery',
  data: { ...again, status },
});
const requestedAgain = (attempt: number, status: Status = 'success'): WebhookDeliveryEvent => ({
  type: 'WebhookRedeliveryRequested',
  data: { ...again, status, attempt },
});

test('what was delivered or given up is sent again when that is asked for, and its tries are counted on', () => {
  given(delivered(1)).when(requestAgain()).yields(requestedAgain(2));
  given(attemptFailed(1), abandoned(2)).when(requestAgain()).yields(requestedAgain(3));
  given(delivered(1), requestedAgain(2)).when(recordFailed(2)).yields(attemptFailed(2));
  given(delivered(1), requestedAgain(2), delivered(2)).when(requestAgain()).yields(requestedAgain(3));
  given(delivered(1), requestedAgain(2)).when(recordDelivered(1)).yieldsNothing();
});

test('what is on its way already is not asked for twice', () => {
  given().when(requestAgain()).yieldsNothing();
  given(attemptFailed(1)).when(requestAgain()).yieldsNothing();
  given(delivered(1), requestedAgain(2)).when(requestAgain()).yieldsNothing();
  given(delivered(1, 'failed')).when(requestAgain()).yieldsNothing();
});

test('a test is recorded once', () => {
  const data = { customerId: 7, delivered: false, because: 'answered 500', httpStatus: 500, milliseconds: 12 };
  given().when({ type: 'RecordWebhookTested', data }).yields({ type: 'WebhookTested', data });
  given({ type: 'WebhookTested', data }).when({ type: 'RecordWebhookTested', data }).yieldsNothing();
});

test('each try is recorded once', () => {
  given().when(recordFailed(1)).yields(attemptFailed(1));
  given(attemptFailed(1)).when(recordFailed(1)).yieldsNothing();
  given(attemptFailed(1)).when(recordFailed(2)).yields(attemptFailed(2));
  given(attemptFailed(1), attemptFailed(2)).when(recordFailed(1)).yieldsNothing();
});

test('a delivery ends it', () => {
  given().when(recordDelivered(1)).yields(delivered(1));
  given(attemptFailed(1)).when(recordDelivered(2)).yields(delivered(2));
  given(delivered(1)).when(recordFailed(2)).yieldsNothing();
  given(delivered(1)).when(recordDelivered(1)).yieldsNothing();
});

test('giving up ends it as well', () => {
  given(attemptFailed(1), attemptFailed(2), attemptFailed(3)).when(recordAbandoned(4)).yields(abandoned(4));
  given(abandoned(4)).when(recordAbandoned(4)).yieldsNothing();
  given(abandoned(4)).when(recordDelivered(5)).yieldsNothing();
});

test('of two records of one try the first one counts', () => {
  given(attemptFailed(1)).when(recordDelivered(1)).yieldsNothing();
});

test('the failure and the success of one commit set are told independently of each other', () => {
  given(abandoned(4, 'failed')).when(recordDelivered(1, 'success')).yields(delivered(1, 'success'));
  given(delivered(1, 'failed'), attemptFailed(1, 'success'))
    .when(recordDelivered(2, 'success'))
    .yields(delivered(2, 'success'));
});

test.run();
