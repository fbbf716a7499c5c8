import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RecordedEvent } from '../../src/kernel/event.ts';
import { eventMetrics, withMeasuredAppends } from '../../src/main/event-metrics.ts';
import { type EventStore, WrongExpectedRevision } from '../../src/ports/event-store.ts';
import { commitCompleted, commitFailed, commitRequested, disabled } from '../commands/ip-control/customer-examples.ts';
import { recordedInOrder } from '../specification.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** What was measured, one line each. */
function measured() {
  const lines: string[] = [];
  const told = eventMetrics(
    {
      commitCompleted: ({ region, list }, seconds) => lines.push(`${region} ${list} ${seconds}`),
      webhookTried: (outcome) => lines.push(`webhook ${outcome}`),
      launchEnded: (pool, outcome) => lines.push(`${pool} ${outcome}`),
    },
    (regionId) => Promise.resolve(regionId === 1 ? 'ams' : undefined),
  );
  return { lines, told };
}

test('a commit is measured from the newest change that it carries, through all of its tries', async () => {
  const { lines, told } = measured();
  const events: readonly RecordedEvent[] = recordedInOrder(
    [
      disabled(['192.0.2.1']),
      disabled(['192.0.2.2']),
      commitRequested(),
      disabled(['192.0.2.3']),
      commitFailed(),
      commitRequested({ attempt: 2 }),
      commitCompleted({ attempt: 2 }),
    ],
    '2026-11-27T12:00:00Z',
    60,
  );
  const settled = events.map((event) =>
    event.type === 'CommitCompleted'
      ? { ...event, data: { ...event.data, completedAt: '2026-11-27T12:06:30.000+00:00' } }
      : event,
  );
  for (const event of settled) told(event);
  await Promise.resolve();
  // The third change was captured by the second try.
  assert.equal(lines, ['ams BLACKHOLE 210']);
});

test('tries of webhooks and launches are counted by their outcome', () => {
  const { lines, told } = measured();
  const [event] = recordedInOrder([disabled(['192.0.2.1'])], '2026-11-27T12:00:00Z', 60);
  assert.ok(event);
  for (const type of ['WebhookDelivered', 'WebhookAttemptFailed', 'WebhookAbandoned']) told({ ...event, type });
  told({ ...event, type: 'InstanceCreated', data: { pool: 'p1' } });
  told({ ...event, type: 'InstanceLaunchFailed', data: { pool: 'p1' } });
  assert.equal(lines, ['webhook delivered', 'webhook failed', 'webhook given_up', 'p1 created', 'p1 failed']);
});

test('each append is measured by how it ended', async () => {
  const lines: string[] = [];
  const clock = createManualClock();
  const answers = [undefined, new WrongExpectedRevision('customer-1', 1n, 2n), new Error('away')];
  const store = withMeasuredAppends(
    {
      append: async () => {
        await clock.advance({ milliseconds: 20 });
        const answer = answers.shift();
        if (answer !== undefined) throw answer;
        return { revision: 1n, position: 1n };
      },
    } as Partial<EventStore> as EventStore,
    { appendEnded: (outcome, seconds) => lines.push(`${outcome} ${seconds}`) },
    clock,
  );
  for (let call = 0; call < 3; call += 1) await store.append('customer-1', 0n, []).catch(() => undefined);
  assert.equal(lines, ['success 0.02', 'conflict 0.02', 'failed 0.02']);
});

test.run();
