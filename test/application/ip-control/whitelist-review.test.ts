import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { type Review, reviewOf } from '../../../src/application/ip-control/review-queue.ts';
import {
  approveRequest,
  listRequests,
  placeOfRequest,
  rejectRequest,
} from '../../../src/application/ip-control/whitelist-review.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { submit } from '../../commands/ip-control/source-whitelist-examples.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

const test = suite<{ application: TestApplication; ids: readonly string[] }>('the review of whitelist requests');

const context = { actor: 'admin:grace', requestId: 'request-1' };
const SUBMITTED = 5;

function taken<T extends object>(answer: T): Exclude<T, { refused: string }> {
  assert.not(isRefusal(answer), isRefusal(answer) ? answer.because : '');
  return answer as Exclude<T, { refused: string }>;
}

test.before.each(async (at) => {
  const application = await openTestApplication();
  taken(await createRegion({ name: 'eu-west' }, context, application));
  taken(await createCustomer({ name: 'acme', settings: { allowSourceWhitelist: true } }, context, application));
  // The clock stands still: all are of one instant.
  for (let number = SUBMITTED; number > 0; number -= 1) {
    const command = submit(`192.31.196.${number}`, { requestId: `r${number}`, sha256: `a${number}` });
    taken(await application.customers.handle(1, command, context));
  }
  await application.catchUp();
  at.application = application;
  at.ids = Array.from({ length: SUBMITTED }, (_, index) => `r${index + 1}`);
});
test.after.each(({ application }) => application.close());

test('the queue leads through requests of the same instant, each once, and back the same way', async ({
  application,
  ids,
}) => {
  const walk = async (from: string, way: 'next' | 'previous'): Promise<readonly string[]> => {
    const seen: string[] = [];
    let id: string | undefined = from;
    while (id !== undefined && seen.length <= ids.length) {
      seen.push(id);
      const review: Review = taken(await reviewOf(id, application));
      id = review[way];
    }
    return seen;
  };
  const first = ids[0] ?? '';
  const forward = await walk(first, 'next');
  assert.equal(forward, ids);
  assert.equal(await walk(forward.at(-1) ?? '', 'previous'), forward.toReversed());
});

test('who decides the requests of a page goes on behind them, though they have left the list', async ({
  application,
  ids,
}) => {
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    const behind = after === undefined ? undefined : await placeOfRequest(after, application);
    const listed = taken(await listRequests({ status: 'pending_review', behind }, application));
    const page = listed.slice(0, 2).map(({ requestId }) => requestId);
    if (page.length === 0) break;
    seen.push(...page);
    for (const [index, id] of page.entries())
      taken(
        index === 0
          ? await approveRequest(id, context, application)
          : await rejectRequest({ id, reason: 'not yours' }, context, application),
      );
    after = page.at(-1);
  }
  assert.equal(seen.toSorted(), ids);
  assert.is(await placeOfRequest('r9', application), undefined);
});

test.run();
