import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openPagesClient } from '../../../../support/http/pages-client.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';
import { openEdgeward } from '../../../../support/servers/edgeward-server.ts';

const test = suite<{ pages: PagesOfAdministrator }>('the page of the system, and the own tokens');

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
});
test.after(({ pages }) => pages.close());

test('the system tells its version, its views, who leads and its settings', async ({ pages: { client } }) => {
  const { status, text } = await client.get('/admin/system');
  assert.is(status, 200);
  for (const part of ['0.0.0-test', 'leads', '<td>customers</td>', '<code>QUIET_PERIOD</code>', '<code>PT120S</code>'])
    assert.ok(text.includes(part), part);
});

test('of a server that runs it shows what is in force, without passwords', async () => {
  const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT5M' });
  const made = z.object({ password: z.string() }).parse(await edgeward.json('admin', 'create', 'ada'));
  const client = openPagesClient(await edgeward.serve());
  await client.logIn('ada', made.password);
  const { text } = await client.get('/admin/system');
  assert.match(text, /<code>QUIET_PERIOD<\/code><\/td><td><code>PT300S<\/code>/);
  assert.match(text, /<code>COMMIT_RETRY_DELAYS<\/code><\/td><td><code>PT\d+S, PT/);
  assert.ok(text.includes('<td>customers</td>'));
  await client.close();
  await edgeward.remove();
});

test('a token of the own account is issued for some scopes, shown once, and revoked', async ({ pages: { client } }) => {
  const path = '/admin/account/tokens';
  const issued = await client.post(path, { label: 'ci <b>', days: '30', scopes: 'read' });
  assert.is(issued.status, 200);
  assert.match(issued.text, /edwa_[\w-]{43}/);
  const list = await client.get(path);
  assert.not.match(list.text, /edwa_/);
  assert.ok(list.text.includes('ci &lt;b>'));
  const [, revoke = ''] = /href="(\/admin\/account\/tokens\/[^"]+\/revoke)"/.exec(list.text) ?? [];
  const asked = (await client.get(revoke)).text;
  assert.match(asked, 'Requests with this token are refused at once, and for good.');
  assert.ok(asked.includes(`method="post" action="${revoke}"`), 'it is revoked from there, and not before');
  assert.not.match((await client.get(path)).text, 'No tokens.');
  const revoked = await client.post(revoke, {});
  assert.is(revoked.location, path);
  assert.match((await client.get(path)).text, /worth nothing any more[\s\S]*No tokens\./);
  for (const answer of [await client.get(`${path}/none/revoke`), await client.post(`${path}/none/revoke`, {})])
    assert.is(answer.status, 404);
});

test('a token that can not be is not issued, and the form says why', async ({ pages: { client } }) => {
  for (const [form, because] of [
    [{ label: '', days: '30', scopes: 'read' }, 'Say what it is for.'],
    [{ label: 'x', days: '366', scopes: 'read' }, 'It must be a whole number from 1 to 365.'],
    [{ label: 'x', days: '30' }, 'A token needs one scope at least.'],
    [{ label: 'x', days: '30', scopes: 'everything' }, 'a scope is one of'],
    [{ label: 'x'.repeat(201), days: '30', scopes: 'read' }, '200'],
  ] as const) {
    const answer = await client.post('/admin/account/tokens', form);
    assert.is(answer.status, 422, JSON.stringify(form));
    assert.ok(answer.text.includes(because), because);
  }
});

test('a token may do no more than its account', async ({ pages }) => {
  const auditor = await pages.logIn('audrey', 'auditor');
  const { text } = await auditor.get('/admin/account/tokens');
  assert.ok(text.includes('value="events:export"'));
  assert.not.ok(text.includes('value="customers:write"'));
  const wanted = { label: 'x', days: '30', scopes: 'customers:write' };
  assert.is((await auditor.post('/admin/account/tokens', wanted)).status, 422);
});

test.run();
