import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ADMIN_ROLES, SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { type PagesClient, openPagesClient } from '../../support/http/pages-client.ts';
import { pagesUnderTest } from '../../support/http/pages-under-test.ts';
import { type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

const every = suite<{ edgeward: Edgeward; clients: Map<string, PagesClient>; stranger: PagesClient }>('every page');
const pages = await pagesUnderTest();

every.before(async (context) => {
  context.edgeward = await openEdgeward();
  const passwords = new Map<string, string>();
  for (const role of ADMIN_ROLES) {
    const made = await context.edgeward.json('admin', 'create', `the-${role}`, '--role', role);
    passwords.set(role, z.object({ password: z.string() }).parse(made).password);
  }
  const url = await context.edgeward.serve();
  context.clients = new Map();
  for (const [role, password] of passwords) {
    const client = openPagesClient(url);
    await client.logIn(`the-${role}`, password);
    context.clients.set(role, client);
  }
  context.stranger = openPagesClient(url);
});

every.after(async ({ edgeward, clients, stranger }) => {
  for (const client of [...clients.values(), stranger]) await client.close();
  await edgeward.remove();
});

/** Nothing of these names is there, so that whoever may do it changes nothing. */
const pathOf = (path: string): string => `/admin${path.replaceAll(/\{\w+\}/g, '999999')}`;

for (const { method, path, scope } of pages) {
  every(`${method} ${path}: ${scope}`, async ({ clients, stranger }) => {
    for (const role of ADMIN_ROLES) {
      const client = clients.get(role);
      assert.ok(client);
      const mayDo = scope === 'own' || SCOPES_OF_ROLE[role].includes(scope);
      const answer = method === 'GET' ? await client.get(pathOf(path)) : await client.post(pathOf(path), {});
      assert.is(answer.status === 403, !mayDo, `${role}: ${answer.status}`);
      assert.ok(answer.status < 500, `${role}: ${answer.status} ${answer.text}`);
      if (!mayDo) assert.ok(answer.text.includes(`this needs the scope ${scope}.`), role);
    }
    const unknown = method === 'GET' ? await stranger.get(pathOf(path)) : await stranger.post(pathOf(path), {});
    assert.is(unknown.status, 303);
    assert.ok(unknown.location.startsWith('/admin/login'), unknown.location);
  });
}

for (const { path } of pages.filter(({ method }) => method === 'POST')) {
  every(`POST ${path} from elsewhere changes nothing`, async ({ clients }) => {
    const client = clients.get('administrator');
    assert.ok(client);
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ]) {
      const answer = await client.post(pathOf(path), {}, headers);
      assert.is(answer.status, 403, JSON.stringify(headers));
      assert.ok(answer.text.includes('Nothing was changed.'));
    }
  });
}

every('every answer says what browsers may do with it', async ({ clients, stranger }) => {
  const client = clients.get('auditor');
  assert.ok(client);
  const answers = [await client.get('/admin/'), await client.get('/admin/nowhere'), await stranger.get('/admin/login')];
  for (const { headers } of answers) {
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self';/);
    assert.is(headers['x-content-type-options'], 'nosniff');
    assert.is(headers['cache-control'], 'no-store');
    assert.is(headers['referrer-policy'], 'same-origin');
    assert.is(headers['cross-origin-opener-policy'], 'same-origin');
  }
  assert.equal(
    answers.map(({ status }) => status),
    [200, 404, 200],
  );
});

every.run();
