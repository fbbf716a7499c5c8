import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAdministrators } from '../../../../support/http/administrators.ts';
import { openApiClient } from '../../../../support/http/api-client.ts';
import type { PagesClient } from '../../../../support/http/pages-client.ts';
import { addCustomer, openEdgeward } from '../../../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../../../support/wait-until.ts';

const edgeward = await openEdgeward();
const administrators = await createAdministrators(edgeward, {
  ada: 'administrator',
  otto: 'operator',
  iris: 'auditor',
});
const url = await edgeward.serve({ ROUTER_FILES_ROOT: edgeward.folder });

test.after(async () => {
  await administrators.close();
  await edgeward.remove();
});

const [otto, iris] = [await administrators.logIn(url, 'otto'), await administrators.logIn(url, 'iris')];

const ROUTER = '/admin/regions/1/routers/edge1';
const folder = join(edgeward.folder, 'edge1');

/** The page that follows a form. */
async function sent(client: PagesClient, path: string, form: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await client.post(path, form);
  assert.is(answer.status, 303, answer.text);
  return (await client.get(answer.location)).text;
}

test('a region is created, and its policy chosen', async () => {
  assert.match((await otto.get('/admin/regions')).text, /No regions yet/);
  for (const form of [
    { name: '', policy: 'each' },
    { name: 'eu-west', policy: 'some' },
  ]) {
    const wrong = await otto.post('/admin/regions', form);
    assert.is(wrong.status, 422);
    assert.match(wrong.text, /-error"/);
  }
  assert.match(await sent(otto, '/admin/regions', { name: 'eu-west', policy: 'each' }), /eu-west is created/);
  assert.is((await otto.post('/admin/regions', { name: 'eu-west', policy: 'each' })).status, 422);
  assert.match(await sent(otto, '/admin/regions/1/policy', { policy: 'all-or-nothing' }), /all routers or none/);
  assert.match((await iris.get('/admin/regions')).text, /all routers or none/);
  assert.is((await otto.get('/admin/regions/7')).status, 404);
});

test('a router is added with its options, which may reach no further than over the API', async () => {
  const at = '/admin/regions/1/add-router';
  const form = { router: 'edge1', driver: 'file', options: `path=${folder}`, repair: 'true' };
  for (const [wrong, field] of [
    [{ options: 'path' }, 'options'],
    [{ options: `path=${folder}\r\npath=${folder}` }, 'options'],
    [{ options: 'path=/etc' }, 'options'],
    [{ router: '' }, 'router'],
  ] as const) {
    const answer = await otto.post(at, { ...form, ...wrong });
    assert.is(answer.status, 422, JSON.stringify(wrong));
    assert.ok(answer.text.includes(`id="${field}-error"`), JSON.stringify(wrong));
  }
  assert.not.ok(existsSync(folder));
  assert.match(await sent(otto, at, form), /edge1 is added/);
  assert.ok(existsSync(folder));
  assert.match((await otto.post(at, form)).text, /has a router of this name already/);
  const page = (await iris.get('/admin/regions/1')).text;
  assert.ok(page.includes(`href="${ROUTER}"`) && page.includes('enabled'));
  assert.not.ok(page.includes('Add router'), 'an auditor only looks');
});

test('what a commit would change is compared with the routers; it is deployed now, and shown as it happens', async () => {
  const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
  await edgeward.shown();
  const api = openApiClient(url, acme.token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
  await api.close();
  for (const path of ['/admin/', '/admin/commits', '/admin/commits?customer=1', '/admin/commits?q=eu-west']) {
    const { text } = await otto.get(path);
    assert.match(text, /Deploy now/, path);
    assert.match(text, />Next try<[\s\S]*>in (?:59 min|1 h)</, path);
  }
  assert.not.match((await iris.get('/admin/')).text, /Deploy now/);
  const diff = '/admin/commits/diff?customer=1&region=1&list=BLACKHOLE';
  const difference = (await iris.get(diff)).text;
  assert.match(difference, /\+ 203\.0\.113\.7\/32/);
  assert.match(difference, /1 to come, 0 to go/);
  for (const wrong of ['customer=Nobody&region=1', 'customer=1&region=none', 'customer=1&region=1&list=x'])
    assert.is((await iris.get(`/admin/commits/diff?${wrong}`)).status, 422, wrong);
  const run = { customer: '1', region: '1', list: 'BLACKHOLE' };
  const answer = await otto.post('/admin/commits/run', run);
  assert.is(answer.status, 303, answer.text);
  assert.match(answer.location, /^\/admin\/commits\/[0-9a-f-]{36}$/);
  await waitUntil('it is on the router', async () => /on the routers/.test((await iris.get(answer.location)).text));
  const commit = (await iris.get(answer.location)).text;
  for (const shown of [
    'Acme',
    'eu-west',
    'deploy now',
    'admin:otto',
    '1 block',
    'edge1',
    'confirmed',
    'CommitCompleted',
  ])
    assert.ok(commit.includes(shown), shown);
  assert.match(readFileSync(join(folder, 'Svc-ACME-BLACKHOLE'), 'utf8'), /203\.0\.113\.7/);
  assert.match((await iris.get(diff)).text, /as it should be/);
  for (const filter of ['', '?customer=1', '?region=1', '?q=Acme', '?q=eu-west'])
    assert.ok((await iris.get(`/admin/commits${filter}`)).text.includes(answer.location), filter);
  assert.ok((await iris.get('/admin/commits')).text.includes('title="admin:otto"'), 'the list tells who asked for it');
  assert.ok((await iris.get('/admin/customers/1')).text.includes(answer.location));
  for (const path of ['/admin/customers/1', '/admin/regions/1/lists', '/admin/regions/1/lists?q=acme']) {
    const list = /<tr>(?:(?!<tr>)[\s\S])*Svc-ACME-BLACKHOLE[\s\S]*?<\/tr>/.exec((await iris.get(path)).text)?.[0] ?? '';
    assert.match(list, '<td class="number">1</td>', path);
    assert.ok(list.includes(`href="${answer.location}"`) && list.includes('on the routers'), `${path}: ${list}`);
  }
  assert.match((await iris.get('/admin/regions/1')).text, 'href="/admin/regions/1/lists"');
  assert.match((await iris.get('/admin/regions/1/lists?q=none')).text, 'No customer with a list here has “none”');
  assert.is((await iris.get(`/admin/search?q=${answer.location.slice(-36)}`)).location, answer.location);
  assert.is((await iris.get('/admin/search?q=edge1')).location, ROUTER);
  assert.is((await iris.get('/admin/commits?q=nobody')).status, 422);
  assert.is((await iris.get('/admin/commits/none')).status, 404);
  assert.match(await sent(otto, '/admin/commits/run', run), /hold everything that was changed/);
});

test('a router is tested and checked; drift is seen, put right, and told', async () => {
  assert.match(await sent(otto, `${ROUTER}/test`), /It answers, and takes our lists/);
  const { text } = await iris.get(ROUTER);
  assert.match(text, '<title>edge1 · eu-west · edgeward</title>', 'the tab of a browser says which router it is');
  const difference = '/admin/commits/diff?customer=1&region=1&list=BLACKHOLE';
  assert.ok(text.replaceAll('&amp;', '&').includes(`href="${difference}"`), 'each list is one step from what differs');
  assert.match(await sent(otto, `${ROUTER}/repair`, { repair: 'false' }), /left alone/);
  writeFileSync(join(folder, 'Svc-ACME-BLACKHOLE'), '198.51.100.0/24\n');
  const checked = async (): Promise<string> => {
    const answer = await otto.post(`${ROUTER}/check`, {});
    assert.match(answer.location, /\?operation=/);
    await waitUntil('the check is over', async () => /Check: /.test((await otto.get(answer.location)).text));
    return (await otto.get(answer.location)).text;
  };
  assert.match(await checked(), /1 drifted/);
  const drifted = (await iris.get(ROUTER)).text;
  assert.match(drifted, /DriftDetected/);
  assert.match(drifted, /1 missing|1 prefix missing/);
  assert.match((await iris.get('/admin/')).text, /href="\/admin\/regions\/1\/routers\/edge1"/);
  await sent(otto, `${ROUTER}/repair`, { repair: 'true' });
  assert.match(await checked(), /1 put right/);
  assert.match((await iris.get(ROUTER)).text, /DriftRepaired/);
  assert.not.match((await iris.get(ROUTER)).text, /Check now|Turn repair/, 'an auditor only looks');
});

test('lists of no customer are named before they are removed; where there are none, nothing is offered', async () => {
  const nothing = (await otto.get(`${ROUTER}/prune`)).text;
  assert.match(nothing, /Every list with our prefix on edge1 belongs to a customer/);
  assert.not.match(nothing, /Remove them/);
  writeFileSync(join(folder, 'Svc-NOBODY-BLACKHOLE'), '198.51.100.0/24\n');
  await otto.post(`${ROUTER}/check`, {});
  await waitUntil('they are seen', async () => /of no customer/.test((await otto.get('/admin/regions/1')).text));
  assert.match((await otto.get(`${ROUTER}/prune`)).text, /Svc-NOBODY-BLACKHOLE/);
  await otto.post(`${ROUTER}/prune`, {});
  await waitUntil('they are gone', () => !readdirSync(folder).includes('Svc-NOBODY-BLACKHOLE'));
});

test('a router is disabled, enabled and removed, the last after a warning in numbers', async () => {
  assert.match(await sent(otto, `${ROUTER}/disable`), /disabled/);
  await otto.post(`${ROUTER}/enable`, {});
  await waitUntil('it is enabled', async () => /✓<\/span> enabled/.test((await otto.get('/admin/regions/1')).text));
  assert.match((await otto.get(ROUTER)).text, /Take all lists off/);
  assert.match((await otto.get(`${ROUTER}/drain`)).text, /at least 1 list with addresses in force/);
  assert.is((await iris.post(`${ROUTER}/drain`, {})).status, 403);
  const drained = await otto.post(`${ROUTER}/drain`, {});
  await waitUntil('it is drained', async () => /Draining: .*1 removed/.test((await otto.get(drained.location)).text));
  assert.not.ok(readdirSync(folder).includes('Svc-ACME-BLACKHOLE'));
  await otto.post(`${ROUTER}/enable`, {});
  await waitUntil('its lists are back', () => readdirSync(folder).includes('Svc-ACME-BLACKHOLE'));
  const warning = (await otto.get(`${ROUTER}/remove`)).text;
  assert.match(warning, /At least 1 list stays on it/);
  assert.match(warning, /has no router then/);
  assert.match(await sent(otto, `${ROUTER}/remove`), /edge1 is removed from eu-west/);
  assert.is((await otto.get(ROUTER)).status, 404);
  const actors = (await edgeward.events())
    .filter(({ type }) => type.startsWith('Router') || type.startsWith('Region'))
    .map(({ metadata }) => metadata.actor);
  assert.ok(actors.includes('admin:otto'));
});

test('a customer is disabled, enabled and removed, with what goes with it in numbers; then its region', async () => {
  const ada = await administrators.logIn(url, 'ada');
  assert.match(await sent(ada, '/admin/customers/1/disable'), /disabled: its tokens are refused/);
  assert.match(await sent(ada, '/admin/customers/1/enable'), /of use again/);
  assert.match(await sent(ada, '/admin/regions/1/remove'), /still|subnet/, 'a region in which a subnet lies stays');
  const warning = (await ada.get('/admin/customers/1/remove')).text;
  assert.match(warning, /1 token</);
  assert.match(warning, /1 subnet, in which 1 address is disabled/);
  assert.match(await sent(ada, '/admin/customers/1/remove'), /Acme is removed/);
  assert.is((await ada.get('/admin/customers/1')).status, 404);
  assert.not.match((await ada.get('/admin/customers')).text, /Acme/);
  for (const path of ['disable', 'remove']) assert.is((await ada.post(`/admin/customers/1/${path}`, {})).status, 404);
  assert.match((await ada.get('/admin/regions/1')).text, 'href="/admin/regions/1/remove"');
  assert.match(await sent(ada, '/admin/regions/1/remove'), /eu-west is removed/);
  assert.is((await ada.get('/admin/regions/1')).status, 404);
});

test.run();
