import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../../../src/application/ip-control/regions.ts';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import type { RouterDriver } from '../../../../../src/ports/routers.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';
import { waitUntil } from '../../../../support/wait-until.ts';

function unasked(): Promise<never> {
  return Promise.reject(new Error('looking changes nothing'));
}

/** A router that does not answer before a test says so, and how many ask it at once. */
function openSlowRouter() {
  let [asking, most] = [0, 0];
  const waiting: (() => void)[] = [];
  let answers = false;
  const driver: RouterDriver = {
    read: async () => {
      asking += 1;
      most = Math.max(most, asking);
      if (!answers) await new Promise<void>((resolve) => waiting.push(resolve));
      asking -= 1;
      return 'absent';
    },
    replace: unasked,
    remove: unasked,
    lists: unasked,
    check: unasked,
    close: () => Promise.resolve(),
  };
  return {
    openRouter: () => driver,
    asking: () => asking,
    most: () => most,
    answer: () => {
      answers = true;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

const test = suite<{ pages: PagesOfAdministrator; router: ReturnType<typeof openSlowRouter> }>('long reads of pages');

test.before(async (context) => {
  context.router = openSlowRouter();
  context.pages = await openPagesOfAdministrator({ openRouter: context.router.openRouter });
  const { application } = context.pages;
  const { context: by } = application;
  assert.not(isRefusal(await createRegion({ name: 'eu-west' }, by, application)));
  const router = { router: 'edge1', driver: 'file', options: {} };
  assert.not(isRefusal(await application.regions.handle(1, { type: 'AddRouter', data: router }, by)));
  assert.not(isRefusal(await createCustomer({ name: 'Acme', settings: {} }, by, application)));
  await application.catchUp();
});
test.after(({ pages }) => pages.close());

const MANY = 60;

test('however many look at what a commit would change, a router is asked by a few of them at once', async ({
  pages,
  router,
}) => {
  const auditor = await pages.logIn('vera', 'auditor');
  let refused = 0;
  const looks = Array.from({ length: MANY }, async () => {
    const { status, headers } = await auditor.get('/admin/commits/diff?customer=1&region=1');
    if (status === 503 && headers['retry-after'] !== undefined) refused += 1;
    return status;
  });
  await waitUntil('some look', () => router.asking() > 0 && router.asking() + refused >= MANY / 3);
  router.answer();
  const statuses = await Promise.all(looks);
  assert.ok(router.most() <= 4, `${router.most()} at once`);
  assert.ok(refused > 0, 'those for whom there is no turn are told so');
  assert.is(statuses.filter((status) => status === 200).length, MANY - refused);
});

test.run();
