import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isDeliveryOf, withDeliveries } from '../../../src/application/ip-control/delivery-history.ts';
import { type CustomerEvent, customerEvents } from '../../../src/events/ip-control/customer.ts';
import type { WebhookDeliveryEvent } from '../../../src/events/ip-control/webhook-delivery.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { commitCompleted, commitFailed, disabled } from '../../commands/ip-control/customer-examples.ts';
import { recorded } from '../../specification.ts';

const CUSTOMER_TYPES = new Set<string>(customerEvents.map(({ type }) => type));
const INSTANT = '2026-11-27T12:00:00Z';

/** A log of one customer and its deliveries as it grows. `says` adds an event of the customer, `delivers` one of a commit set. */
function openLog() {
  const events: RecordedEvent[] = [];
  const streams = new Map<string, RecordedEvent[]>();
  const add = (stream: string, event: CustomerEvent | WebhookDeliveryEvent): void => {
    const own = streams.get(stream) ?? [];
    streams.set(stream, own);
    const place = { stream, revision: BigInt(own.length), position: BigInt(events.length * 3) };
    const added = recorded(event, INSTANT, place);
    own.push(added);
    events.push(added);
  };
  return {
    events,
    streams,
    says: (event: CustomerEvent): void => add('customer-7', event),
    delivers: (commitSetId: string, status: 'success' | 'failed', attempt = 1): void => {
      const data = { commitSetId, customerId: 7, regionId: 1, status, attempt, httpStatus: 200 };
      add(`webhookDelivery-${commitSetId}`, { type: 'WebhookDelivered', data });
    },
  };
}

/** What is read of a log in pages of this size. */
async function pagesOf(
  { streams }: Pick<ReturnType<typeof openLog>, 'streams'>,
  pageSize: number,
): Promise<readonly (readonly RecordedEvent[])[]> {
  const application = {
    store: {
      read: async function* (stream: string) {
        const all = streams.get(stream) ?? [];
        for (let at = 0; at < all.length; at += pageSize) yield all.slice(at, at + pageSize);
      },
    },
    isCustomerEvent: (event: { type: string }): event is CustomerEvent => CUSTOMER_TYPES.has(event.type),
  };
  const pages: (readonly RecordedEvent[])[] = [];
  for await (const page of withDeliveries(application, 7)) pages.push(page);
  return pages;
}

const notified = fc.record({ failedBefore: fc.boolean(), notify: fc.boolean(), later: fc.integer({ min: 0, max: 9 }) });

test('whatever is delivered when, history and deliveries come in the order of the log, each once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(notified, { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      async (commits, pageSize) => {
        const log = openLog();
        const owed: (() => void)[] = [];
        for (const [index, { failedBefore, notify, later }] of commits.entries()) {
          const commitSetId = `c${index}`;
          log.says(disabled(['192.0.2.1']));
          if (failedBefore) {
            log.says(commitFailed({ commitSetId }, notify));
            if (notify) owed.push(() => log.delivers(commitSetId, 'failed'));
            for (const deliver of owed.splice(0, later % 2)) deliver();
          }
          log.says(commitCompleted({ commitSetId }, notify));
          if (notify) owed.push(() => log.delivers(commitSetId, 'success'));
          for (const deliver of owed.splice(0, later)) deliver();
        }
        for (const deliver of owed) deliver();
        const read = (await pagesOf(log, pageSize)).flat();
        assert.equal(
          read.map(({ position }) => position),
          log.events.map(({ position }) => position),
        );
      },
    ),
  );
});

test('of a long history only a page is in memory', async () => {
  const log = openLog();
  for (let index = 0; index < 2_000; index += 1) {
    const commitSetId = `c${index}`;
    log.says(commitCompleted({ commitSetId }, true));
    log.delivers(commitSetId, 'success');
  }
  const pages = await pagesOf(log, 50);
  assert.is(pages.flat().length, 4_000);
  assert.ok(
    pages.every((page) => page.length <= 102),
    String(Math.max(...pages.map(({ length }) => length))),
  );
});

test("a delivery is told from another customer's, and from what is none", () => {
  const log = openLog();
  log.says(commitCompleted({}, true));
  log.delivers('c1', 'success');
  assert.equal(
    log.events.map((event) => [isDeliveryOf(7, event), isDeliveryOf(8, event)]),
    [
      [false, false],
      [true, false],
    ],
  );
});

test.run();
