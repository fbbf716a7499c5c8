import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { WebhookDeliveryEvent } from '../../../src/events/ip-control/webhook-delivery.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { webhookBacklogProjection } from '../../../src/projections/ip-control/webhook-backlog-view.ts';
import { commitCompleted, commitFailed } from '../../commands/ip-control/customer-examples.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

type Shown = Parameters<typeof webhookBacklogProjection.keysOf>[0];
const handles = new Set<string>(webhookBacklogProjection.handles);

function given(...events: readonly (CustomerEvent | WebhookDeliveryEvent)[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
  return specifyProjection(webhookBacklogProjection).given(
    ...all.filter((event): event is Shown => isHandled(handles, event)),
  );
}

const failed = commitFailed({}, true);
const completed = commitCompleted({}, true);
const commitSetId = 'c1';
const told = { commitSetId, customerId: 7, regionId: 1, attempt: 1 } as const;
const since = { since: '2026-11-27T12:00:00.000+00:00' };

test('a webhook waits from the commit that it tells of until it is delivered or given up', () => {
  given(failed).shows(`${commitSetId}/failed`, since);
  given(failed, {
    type: 'WebhookAttemptFailed',
    data: { ...told, status: 'failed', because: 'refused' },
  }).shows(`${commitSetId}/failed`, since);
  given(failed, {
    type: 'WebhookAbandoned',
    data: { ...told, status: 'failed', because: 'refused' },
  }).shows(`${commitSetId}/failed`, undefined);
  given(completed, {
    type: 'WebhookDelivered',
    data: { ...told, status: 'success', httpStatus: 200 },
  }).shows(`${commitSetId}/success`, undefined);
});

test('one that is asked for again waits again', () => {
  const completedAt = '2026-11-27T12:00:00.000+00:00';
  const again = { ...told, status: 'failed', list: 'BLACKHOLE', completedAt } as const;
  given(
    failed,
    { type: 'WebhookAbandoned', data: { ...told, status: 'failed', because: 'refused' } },
    { type: 'WebhookRedeliveryRequested', data: again },
  ).shows(`${commitSetId}/failed`, { since: '2026-11-27T12:02:00.000+00:00' });
});

test('what the customer is not told of does not wait', () => {
  given(commitFailed()).shows(`${commitSetId}/failed`, undefined);
});

test.run();
