import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer, updateCustomer } from '../../../../../src/application/ip-control/customers.ts';
import type { CustomerSettings } from '../../../../../src/events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';

const PATH = '/admin/customers/1/edit';
const test = suite<{ pages: PagesOfAdministrator }>("the form of a customer's settings");

test.before.each(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application } = context.pages;
  assert.not(
    isRefusal(await createCustomer({ name: 'A "quoted" <b>', settings: {} }, application.context, application)),
  );
  await application.catchUp();
});
test.after.each(({ pages }) => pages.close());

type Form = Record<string, string>;

const TEXTS: Readonly<Record<string, string>> = { '&quot;': '"', '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** What a browser would send of the form as it is shown. */
async function formOf({ client }: PagesOfAdministrator): Promise<Form> {
  const { text } = await client.get(PATH);
  const [main = ''] = /<form class="form"[\s\S]*?<\/form>/.exec(text) ?? [];
  const form: Form = {};
  for (const [tag] of main.matchAll(/<input (?:[^">]|"[^"]*")*>/g)) {
    const [, name = ''] = / name="([^"]*)"/.exec(tag) ?? [];
    const [, value = ''] = / value="([^"]*)"/.exec(tag) ?? [];
    if (!/ type="checkbox"/.test(tag) || / checked[ =/>]/.test(tag))
      form[name] = value.replaceAll(/&(?:quot|lt|gt|amp);/g, (entity) => TEXTS[entity] ?? entity);
  }
  return form;
}

async function settings({ application }: PagesOfAdministrator): Promise<CustomerSettings | undefined> {
  const { state } = await application.customers.state(1);
  return state.phase === 'registered' ? state.settings : undefined;
}

test('a form that is sent as it was shown changes nothing', async ({ pages }) => {
  const before = await pages.application.store.end();
  const { status, text } = await pages.client.post(PATH, await formOf(pages));
  assert.is(status, 303, text);
  assert.is(await pages.application.store.end(), before);
  assert.match((await pages.client.get('/admin/customers/1')).text, 'Nothing was changed.');
});

test('what another administrator has changed since the form was shown stays, also where the form was wrong once', async ({
  pages,
}) => {
  const { application, client } = pages;
  const form = await formOf(pages);
  const changes = { rateLimitPerMinute: 7, allowSynchronous: true };
  const other = { customer: 1, changes, rotateWebhookSecret: false, immediately: false };
  assert.not(isRefusal(await updateCustomer(other, application.context, application)));
  await application.catchUp();
  const wrong = await client.post(PATH, { ...form, whitelist_limit: 'many' });
  assert.is(wrong.status, 422);
  assert.match(wrong.text, 'name="seen"');
  assert.is((await client.post(PATH, { ...form, whitelist_limit: '5' })).status, 303);
  const after = await settings(pages);
  assert.equal([after?.rateLimitPerMinute, after?.allowSynchronous, after?.whitelistLimit], [7, true, 5]);
});

test('without what was seen all of the form is meant', async ({ pages }) => {
  const { seen: _seen, ...form } = await formOf(pages);
  for (const seen of [undefined, 'no JSON', '{"name":1}']) {
    const more = seen === undefined ? {} : { seen };
    const limit = String(10 + (seen?.length ?? 0));
    assert.is((await pages.client.post(PATH, { ...form, ...more, rate_limit: limit })).status, 303);
    assert.is((await settings(pages))?.rateLimitPerMinute, Number(limit));
  }
});

test.run();
