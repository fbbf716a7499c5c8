import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../../../src/application/ip-control/regions.ts';
import { addSubnet } from '../../../../../src/application/ip-control/subnets.ts';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import type { WebhookRequest, WebhookResult } from '../../../../../src/ports/webhooks.ts';
import { disable, one, recordCompleted, requestCommit } from '../../../../commands/ip-control/customer-examples.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';

type Opened = { pages: PagesOfAdministrator; sent: WebhookRequest[]; answers: WebhookResult[] };

const test = suite<Opened>('the pages of a webhook');
const ABOUT = { commitSetId: 'c1', customerId: 1, regionId: 1, status: 'success' } as const;
const DELIVERY = '/admin/customers/1/webhook/msg_c1_success';

test.before(async (context) => {
  context.sent = [];
  context.answers = [];
  const send = (request: WebhookRequest): Promise<WebhookResult> => {
    context.sent.push(request);
    return Promise.resolve(context.answers.shift() ?? { delivered: true, status: 204 });
  };
  context.pages = await openPagesOfAdministrator({ sender: { send } });
  const { application } = context.pages;
  const { context: by } = application;
  await createRegion({ name: 'eu-west' }, by, application);
  const settings = { webhookUrl: 'https://hooks.example/<b>' };
  assert.not(isRefusal(await createCustomer({ name: 'Acme', settings }, by, application)));
  assert.not(isRefusal(await createCustomer({ name: 'Silent', settings: {} }, by, application)));
  const subnet = { customer: 1, cidr: '203.0.113.0/24', region: 'eu-west', asn: 64_500, metro: 'ams' };
  assert.not(isRefusal(await addSubnet(subnet, by, application)));
  await application.customers.handle(1, disable(one('203.0.113.7')), by);
  await application.customers.handle(1, requestCommit(), by);
  await application.customers.handle(1, recordCompleted(), by);
  const failed = { because: 'HTTP 503', httpStatus: 503, milliseconds: 40 };
  await application.deliveries.handle(
    'c1',
    { type: 'RecordWebhookAttemptFailed', data: { ...ABOUT, ...failed, attempt: 1 } },
    by,
  );
  await application.catchUp();
});
test.after(({ pages }) => pages.close());

test('the list of customers says whether what they are told arrives', async ({ pages: { client, application } }) => {
  const { context: by } = application;
  const told = async (): Promise<readonly string[]> =>
    [...(await client.get('/admin/customers')).text.matchAll(/<tr>(?:(?!<tr>).)*<\/tr>/gs)].map(([row]) => row);
  const webhook = /delivering|failing|nothing told yet|none/;
  assert.equal(
    (await told()).slice(1).map((row) => webhook.exec(row)?.[0]),
    ['failing', 'none'],
  );
  const settings = { webhookUrl: 'https://hooks.example/' };
  assert.not(isRefusal(await createCustomer({ name: 'Untold', settings }, by, application)));
  await application.catchUp();
  assert.is(webhook.exec((await told())[3] ?? '')?.[0], 'nothing told yet');
});

test('each notification is a row, with a square for each try', async ({ pages: { client, application } }) => {
  const before = (await client.get('/admin/customers/1/webhook')).text;
  assert.ok(before.includes('will be tried again'));
  assert.match(before, />in \d+ s</, 'when');
  assert.match((await client.get(DELIVERY)).text, /next try: <time [^>]*>in \d+ s</);
  assert.not.ok(before.includes('Resend'), 'what will be tried again need not be asked for');
  const given = { because: 'gave up', milliseconds: 1, attempt: 2 };
  await application.deliveries.handle(
    'c1',
    { type: 'RecordWebhookAbandoned', data: { ...ABOUT, ...given } },
    application.context,
  );
  await application.catchUp();
  const { text } = await client.get('/admin/customers/1/webhook');
  for (const part of ['given up', 'eu-west', 'https://hooks.example/&lt;b>', 'Resend', 'Send test'])
    assert.ok(text.includes(part), part);
  assert.is([...text.matchAll(/class="try bad"/g)].length, 2);
  assert.not.ok(text.includes('href="https://hooks'), 'the address is the customer’s: it is text');
  assert.match((await client.get('/admin/customers/2/webhook')).text, /This customer has no webhook/);
});

test('one notification shows every try and what is sent, without the signature', async ({ pages: { client } }) => {
  const { status, text } = await client.get(DELIVERY);
  assert.is(status, 200);
  for (const part of ['HTTP 503', 'gave up', '&quot;commit_set_id&quot;:&quot;c1&quot;', 'webhook-id: msg_c1_success'])
    assert.ok(text.includes(part), part);
  assert.not.match(text, /webhook-signature: v1/);
  for (const id of ['msg_c9_success', 'x', 'msg_c1_failed'])
    assert.is((await client.get(`/admin/customers/1/webhook/${id}`)).status, 404, id);
});

test('it is sent again, once', async ({ pages: { client } }) => {
  const asked = await client.post(`${DELIVERY}/resend`, {});
  assert.is(asked.location, DELIVERY);
  assert.match((await client.get(DELIVERY)).text, /It is sent again, behind what is still to be sent/);
  await client.post(`${DELIVERY}/resend`, {});
  assert.match((await client.get(DELIVERY)).text, /It is on its way already/);
  assert.is((await client.post('/admin/customers/1/webhook/msg_c9_success/resend', {})).status, 404);
});

test('a test is sent at once, and what came of it is said', async ({ pages: { client }, sent, answers }) => {
  answers.push({ delivered: true, status: 200 }, { delivered: false, because: 'connection refused' });
  const asked = await client.post('/admin/customers/1/webhook/test', {});
  assert.is(asked.location, '/admin/customers/1/webhook');
  assert.match((await client.get(asked.location)).text, /The test was delivered: HTTP 200 after 0 ms\./);
  assert.match(sent[0]?.body ?? '', /"event":"test"/);
  await client.post('/admin/customers/1/webhook/test', {});
  assert.match((await client.get(asked.location)).text, /The test was not delivered after 0 ms: connection refused\./);
  const nowhere = await client.post('/admin/customers/2/webhook/test', {});
  assert.is(nowhere.status, 409);
  assert.match(nowhere.text, /customer Silent has no webhook URL/);
});

test('an operator looks and sends nothing', async ({ pages, sent }) => {
  const before = sent.length;
  const operator = await pages.logIn('oscar', 'operator');
  assert.not.ok((await operator.get('/admin/customers/1/webhook')).text.includes('Send test'));
  assert.is((await operator.post('/admin/customers/1/webhook/test', {})).status, 403);
  assert.is((await operator.post(`${DELIVERY}/resend`, {})).status, 403);
  assert.is(sent.length, before);
});

test('of a long answer the message says as much as a cookie holds', async ({ pages: { client }, answers }) => {
  answers.push({ delivered: false, because: '語'.repeat(10_000) });
  const { status, headers } = await client.post('/admin/customers/1/webhook/test', {});
  assert.is(status, 303);
  const [cookie = ''] = [headers['set-cookie'] ?? []].flat().filter((set) => set.startsWith('edgeward-message='));
  const [nameAndValue = ''] = cookie.split(';');
  assert.ok(nameAndValue.length > 0 && nameAndValue.length <= 4_096, String(nameAndValue.length));
  assert.match((await client.get('/admin/customers/1/webhook')).text, /The test was not delivered after .*語…/);
});

test.run();
