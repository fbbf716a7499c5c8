import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../../src/application/ip-control/customers.ts';
import { createAdministrator } from '../../../../src/application/ip-control/administrators.ts';
import { createRegion } from '../../../../src/application/ip-control/regions.ts';
import { isRefusal } from '../../../../src/kernel/decider.ts';
import { openPagesOfAdministrator, type PagesOfAdministrator } from '../../../support/http/pages-of-administrator.ts';

const test = suite<{ pages: PagesOfAdministrator }>('what can not be undone asks first');

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application } = context.pages;
  const by = application.context;
  await createRegion({ name: 'eu-west' }, by, application);
  for (const settings of [{ webhookUrl: 'https://hooks.example/' }, {}])
    assert.not(
      isRefusal(await createCustomer({ name: `Acme ${Object.keys(settings).length}`, settings }, by, application)),
    );
  assert.not(isRefusal(await createAdministrator({ name: 'grace', role: 'reviewer' }, by, application)));
  await application.catchUp();
});
test.after(({ pages }) => pages.close());

/** What is done at one press: the opposite undoes it, it changes nothing of ours, or the page that it stands on is the question. */
const AT_ONCE: ReadonlySet<string> = new Set([
  '/customers/{id}/disable',
  '/customers/{id}/enable',
  '/customers/{id}/tokens/{token}/disable',
  '/customers/{id}/tokens/{token}/enable',
  '/customers/{id}/webhook/test',
  '/customers/{id}/webhook/{delivery}/resend',
  '/whitelist/{id}/approve',
  '/whitelist/{id}/reject',
  '/regions/{id}/policy',
  '/regions/{id}/routers/{router}/test',
  '/regions/{id}/routers/{router}/check',
  '/regions/{id}/routers/{router}/enable',
  '/regions/{id}/routers/{router}/disable',
  '/regions/{id}/routers/{router}/repair',
  '/commits/run',
  '/worker-pools/{pool}/enable',
  '/worker-pools/{pool}/disable',
  '/worker-pools/{pool}/launch',
  '/accounts/{name}/role',
  '/accounts/{name}/disable',
  '/accounts/{name}/enable',
  '/accounts/{name}/sessions/{session}/end',
  '/account/sessions/{session}/end',
]);

test('whatever a form does is asked for at its own address, but what these tests know to be undone', ({ pages }) => {
  const shown = new Set(pages.pages.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const atOnce = pages.pages.filter(({ method, path }) => method === 'POST' && !shown.has(path));
  assert.equal(new Set(atOnce.map(({ path }) => path)), AT_ONCE);
});

/** Each question: the page that leads to it by a link, its address, and what it says. */
const QUESTIONS = [
  ['/accounts/grace', '/accounts/grace/reset-password', 'The password of now is worth nothing any more.'],
  ['/regions/1', '/regions/1/remove', 'eu-west has no routers: nothing changes on any.'],
  ['/customers/1', '/customers/1/webhook-secret', 'with the one of now for 24 hours more'],
] as const;

for (const [page, address, says] of QUESTIONS) {
  test(`${address} says what comes of it, and is led to by a link`, async ({ pages: { client } }) => {
    assert.ok((await client.get(`/admin${page}`)).text.includes(`href="/admin${address}"`));
    const { status, text } = await client.get(`/admin${address}`);
    assert.is(status, 200);
    assert.ok(text.includes(says), text);
    assert.ok(text.includes(`<form class="form" method="post" action="/admin${address}"><p class="actions">`), text);
    assert.ok(text.includes('<button class="danger">') && text.includes('>Cancel</a>'));
  });
}

test('where there is nothing to be done, nothing is offered', async ({ pages: { client } }) => {
  for (const [address, says] of [
    ['/accounts/grace/remove-second-factor', 'grace has no second factor.'],
    ['/account/second-factor/remove', 'You have no second factor.'],
    ['/customers/2/webhook-secret', 'Acme 0 has no webhook.'],
  ] as const) {
    const { status, text } = await client.get(`/admin${address}`);
    assert.is(status, 200);
    assert.ok(text.includes(says), text);
    assert.not.match(text, 'class="danger"');
  }
  assert.is((await client.get('/admin/accounts/nobody/reset-password')).status, 404);
});

test('a password is reset by the form of its question, and shown once', async ({ pages: { client } }) => {
  const { status, text } = await client.post('/admin/accounts/grace/reset-password', {});
  assert.is(status, 200);
  assert.match(text, 'shown this once; it must be changed at the next login');
});

test.run();
