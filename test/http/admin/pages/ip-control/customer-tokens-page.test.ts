import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../../../src/application/ip-control/customers.ts';
import { listTokens } from '../../../../../src/application/ip-control/tokens.ts';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';

const PATH = '/admin/customers/1/tokens';
const test = suite<{ pages: PagesOfAdministrator }>("the page of a customer's tokens");

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application } = context.pages;
  const created = await createCustomer({ name: 'Acme', settings: {} }, application.context, application);
  assert.not(isRefusal(created));
  await application.catchUp();
});
test.after(({ pages }) => pages.close());

async function only({ application }: PagesOfAdministrator) {
  const tokens = await listTokens(1, application);
  return isRefusal(tokens) ? undefined : tokens[0];
}

test('what a token can not be is told beside its field, and the form stays as it was', async ({ pages }) => {
  const form = { label: 'ci', expires: 'tomorrow', allowed_addresses: '', read_only: 'true' };
  const wrong = await pages.client.post(PATH, form);
  assert.is(wrong.status, 422);
  assert.match(wrong.text, 'must be an instant with an offset, or a duration, such as P90D.');
  assert.match(wrong.text, 'value="tomorrow"');
  const elsewhere = await pages.client.post(PATH, { ...form, expires: '', allowed_addresses: '192.0.2.7/24' });
  assert.is(elsewhere.status, 422);
  assert.match(elsewhere.text, 'the network is probably 192.0.2.0/24');
  assert.is(await only(pages), undefined);
});

test('a token says who issued it', async ({ pages: { client, application } }) => {
  const other = await createCustomer({ name: 'Other', settings: {} }, application.context, application);
  assert.not(isRefusal(other));
  await application.catchUp();
  assert.is((await client.post('/admin/customers/2/tokens', { label: 'by ada' })).status, 200);
  assert.match((await client.get('/admin/customers/2/tokens')).text, '<td>admin:ada</td>');
});

test('a token is issued that ends, may only read, and is of use from some networks', async ({ pages }) => {
  const form = { label: 'ci', expires: 'P90D', allowed_addresses: '192.0.2.0/24, 2001:db8::/32', read_only: 'true' };
  const issued = await pages.client.post(PATH, form);
  assert.is(issued.status, 200, issued.text);
  assert.match(issued.text, /edw_[\w-]{43}/);
  assert.match(issued.text, ' https://edgeward.example/api/v1/subnets<', 'it is tried where the service is for others');
  const token = await only(pages);
  assert.equal([token?.readOnly, token?.allowedAddresses], [true, ['192.0.2.0/24', '2001:db8::/32']]);
  assert.ok((token?.expiresAt ?? '') > (token?.issuedAt ?? ''));
  const { text } = await pages.client.get(PATH);
  for (const part of [token?.prefix ?? 'none', '192.0.2.0/24, 2001:db8::/32', '>read<', 'enabled', 'never'])
    assert.ok(text.includes(part), part);
});

test('where the pages have a port of their own, a token is tried on the other one', async () => {
  const apart = { host: '0.0.0.0', port: 8080 };
  const pages = await openPagesOfAdministrator({ customersApi: { publicUrl: undefined, apart } });
  const { application, client } = pages;
  assert.not(isRefusal(await createCustomer({ name: 'Acme', settings: {} }, application.context, application)));
  await application.catchUp();
  const { text } = await client.post(PATH, { label: 'ci' });
  assert.match(text, ' http://127.0.0.1:8080/api/v1/subnets<');
  assert.match(text, 'Where customers reach the service is not known here');
  await pages.close();
});

test('the list is fetched alone when the customer has changed, and holds no field', async ({ pages: { client } }) => {
  assert.match((await client.get(PATH)).text, 'data-live="customer:1"');
  const { text } = await client.get(PATH, { 'hx-request': 'true', 'hx-target': 'token-list' });
  assert.match(text, /^<div class="scroll"[\s\S]*>ci</);
  assert.not.match(text, /<html|<input|<select/);
});

test('a token is disabled, enabled and revoked', async ({ pages }) => {
  const { client } = pages;
  const id = (await only(pages))?.tokenId;
  assert.is((await client.post(`${PATH}/${id}/disable`, {})).location, PATH);
  assert.is((await only(pages))?.isDisabled, true);
  assert.match((await client.get(PATH)).text, /is refused until it is enabled again\.[\s\S]*disabled[\s\S]*>Enable</);
  assert.is((await client.post(`${PATH}/${id}/enable`, {})).location, PATH);
  assert.is((await only(pages))?.isDisabled, false);
  assert.ok((await client.get(PATH)).text.includes(`href="${PATH}/${id}/revoke"`));
  const warning = (await client.get(`${PATH}/${id}/revoke`)).text;
  assert.match(warning, /refused at once, and for good\. It was last used: never\./);
  assert.match(warning, 'Acme has no other token that is enabled.');
  assert.is((await client.get(`${PATH}/none/revoke`)).status, 404);
  assert.is((await client.post(`${PATH}/${id}/revoke`, {})).location, PATH);
  assert.is(await only(pages), undefined);
  for (const verb of ['disable', 'enable', 'revoke'])
    assert.is((await client.post(`${PATH}/${id}/${verb}`, {})).status, 404, verb);
});

test.run();
