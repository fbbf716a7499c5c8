import { render } from 'preact-render-to-string';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureAsset } from '../../../../../src/application/worker-pools/assets.ts';
import type { PoolUsage } from '../../../../../src/application/worker-pools/pool-usage.ts';
import { ensurePool } from '../../../../../src/application/worker-pools/pools.ts';
import { addScopeWorkerPool, createScope } from '../../../../../src/application/worker-pools/scopes.ts';
import { checkAsset, givenPool } from '../../../../../src/domain/worker-pools/documents.ts';
import { listQueryOf } from '../../../../../src/http/admin/pages/parts/list.tsx';
import { DayBars } from '../../../../../src/http/admin/pages/worker-pools/day-bars.tsx';
import { poolListPage } from '../../../../../src/http/admin/pages/worker-pools/pool-list.tsx';
import { poolPage } from '../../../../../src/http/admin/pages/worker-pools/pool-page.tsx';
import { scopePage } from '../../../../../src/http/admin/pages/worker-pools/scope-pages.tsx';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';
import { POOL_DOCUMENT } from '../../../../support/worker-pools/records.ts';

const test = suite<{ pages: PagesOfAdministrator }>('the pages of worker pools and scopes');
const POOL = '/admin/worker-pools/small';

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application } = context.pages;
  const { context: by } = application;
  const account = checkAsset(
    'cloud-provider-account',
    { name: 'cloud', provider_type: 'hetzner', configuration: {}, credentials: { api_token: 'very-secret' } },
    application.cloudDrivers,
  );
  assert.ok(account.ok);
  if (account.ok) assert.not(isRefusal(await ensureAsset(account.value, by, application)));
  const given = givenPool(
    {
      ...POOL_DOCUMENT,
      limits: { max_active_instances: 3, target_max_seconds_per_month: 36_000 },
    },
    'whole',
    application.cloudDrivers,
  );
  assert.ok(given.ok);
  if (given.ok) assert.not(isRefusal(await ensurePool('small', given.value, { dryRun: false }, by, application)));
  await createScope('builds', by, application);
  const terms = { priority: 5, limits: { target_max_seconds_per_month: 7_200, target_latency_seconds: null } };
  assert.not(isRefusal(await addScopeWorkerPool({ scope: 'builds', pool: 'small' }, terms, by, application)));
  const decision = {
    decidedAt: application.clock.nowText(),
    launches: [{ scope: 'builds', architecture: 'arm64', count: 2, because: 'two tasks wait for <b>longer' }],
    terminations: [],
    refusals: [{ scope: 'builds', architecture: 'arm64', unmet: 4, code: 'limit', because: 'the pool is full' }],
  };
  const decide = { type: 'RecordScalingDecision', data: decision } as const;
  assert.not(isRefusal(await application.workerPools.handle('small', decide, by)));
  await application.catchUp();
});
test.after(({ pages }) => pages.close());

test('pools are listed with what is active and what the month has used, of how much', async ({ pages: { client } }) => {
  const { status, text } = await client.get('/admin/worker-pools');
  assert.is(status, 200);
  for (const part of [`href="${POOL}"`, 'hetzner', '0 of 3', '0.0 of 10.0', 'No worker is connected'])
    assert.ok(text.includes(part), part);
});

test('a pool tells what was decided about it, and why', async ({ pages: { client } }) => {
  const { text } = await client.get(POOL);
  for (const part of [
    '2 arm64 for builds: two tasks wait for &lt;b>longer',
    '4 arm64 for builds: the pool is full',
    'Target for a month: 10.0 h.',
    'href="/admin/scopes/builds"',
  ])
    assert.ok(text.includes(part), part);
  assert.is((await client.get('/admin/worker-pools/none')).status, 404);
});

test('a pool is disabled and enabled; workers are launched, and ended', async ({ pages: { client } }) => {
  const said = async (): Promise<string> =>
    /<p class="note[\s\S]*?<\/p>/.exec((await client.get(POOL)).text)?.[0] ?? '';
  assert.is((await client.post(`${POOL}/disable`, {})).location, POOL);
  assert.match(await said(), /small is disabled/);
  const refused = await client.post(`${POOL}/launch`, { count: '1' });
  assert.is(refused.status, 422, 'a pool that is disabled launches nothing');
  await client.post(`${POOL}/enable`, {});
  assert.match(await said(), /small is enabled/);
  for (const count of ['0', '1001', 'x', ''])
    assert.is((await client.post(`${POOL}/launch`, { count })).status, 422, count);
  assert.is((await client.post(`${POOL}/launch`, { count: '2' })).location, POOL);
  assert.match(await said(), /2 launched: /);
  const { text } = await client.get(POOL);
  assert.ok(text.includes('2 of 3'));
  assert.is((await client.post(`${POOL}/workers/none/terminate`, {})).status, 404);
});

function plain(escaped: string): string {
  return escaped.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

test('a pool that another person has disabled since its form was shown stays so, whatever else is saved', async ({
  pages: { client, application },
}) => {
  const { text } = await client.get(`${POOL}/edit`);
  const seen = plain(/ name="seen" value="([^"]*)"/.exec(text)?.[1] ?? '');
  const document = plain(/<textarea[^>]*>([^<]*)/.exec(text)?.[1] ?? '').trim();
  const shown: Readonly<Record<string, unknown>> = Object(JSON.parse(document));
  assert.is(shown['enabled'], true);
  assert.is((await client.post(`${POOL}/disable`, {})).status, 303);
  const limits = { max_active_instances: 4, target_max_seconds_per_month: 36_000 };
  const edited = JSON.stringify({ ...shown, limits });
  assert.is((await client.post(`${POOL}/edit`, { seen, document: edited })).status, 303);
  const record = async () => (await application.views.workerPools.get('small'))?.record;
  assert.equal([(await record())?.enabled, (await record())?.limits.max_active_instances], [false, 4]);
  // What is sent without what was seen is meant as a whole.
  const whole = { ...shown, limits: { ...limits, max_active_instances: 3 } };
  assert.is((await client.post(`${POOL}/edit`, { seen: 'no JSON', document: JSON.stringify(whole) })).status, 303);
  assert.equal([(await record())?.enabled, (await record())?.limits.max_active_instances], [true, 3]);
});

test('a pool is edited as a document; what is wrong is named by field', async ({ pages: { client } }) => {
  const { text } = await client.get(`${POOL}/edit`);
  assert.ok(text.includes('&quot;max_active_instances&quot;: 3'));
  const save = (document: string) => client.post(`${POOL}/edit`, { document });
  for (const [document, because] of [
    ['{', 'document: must be a JSON object.'],
    ['[]', 'document: must be a JSON object.'],
    ['{"name": "other"}', 'name: can not be changed.'],
    ['{"size": 3}', 'size: is not a known field.'],
    ['{"limits": {"max_active_instances": -1}}', 'limits.max_active_instances:'],
  ] as const) {
    const answer = await save(document);
    assert.is(answer.status, 422, document);
    assert.ok(answer.text.includes(because), document);
  }
  assert.is((await save('{"limits": {"max_active_instances": 7}}')).status, 303);
  assert.ok((await client.get(POOL)).text.includes('of 7'));
});

test('a pool is created from a document; what is wrong is named, and a name is given once', async ({
  pages: { client },
}) => {
  const { text } = await client.get('/admin/new-worker-pool');
  assert.ok(text.includes('Provider accounts: cloud.'));
  const specifications = { provider_type: 'hetzner', server_type: 'cax11', image_name: 'debian-12', location: 'fsn1' };
  const whole = {
    provider_account: 'cloud',
    architectures: ['arm64'],
    specifications: { ...specifications, networks: [], ssh_keys: [] },
  };
  const create = (name: string, document: unknown) =>
    client.post('/admin/new-worker-pool', { name, document: JSON.stringify(document) });
  for (const [name, document, because] of [
    ['', whole, 'id="name-error"'],
    ['small', whole, 'There is a pool of this name already.'],
    ['large', [], 'document: must be a JSON object.'],
    ['large', { ...whole, colour: 'red' }, 'colour: is not a known field.'],
    ['large', { ...whole, name: 'other' }, 'differs from the document.'],
    ['large', { ...whole, provider_account: 'none' }, 'cloud-provider-account none not found.'],
  ] as const) {
    const answer = await create(name, document);
    assert.is(answer.status, 422, because);
    assert.ok(answer.text.includes(because), because);
  }
  assert.is((await create('large', whole)).location, '/admin/worker-pools/large');
  assert.match((await client.get('/admin/worker-pools/large')).text, /large is created\./);
});

test('a worker is ended at once after it was asked once more, and a pool with workers is deleted with them', async ({
  pages: { client, application },
}) => {
  const pool = '/admin/worker-pools/large';
  await client.post(`${pool}/launch`, { count: '1' });
  const { context: by } = application;
  const [at, architectures] = [application.clock.nowText(), ['arm64'] as const];
  const worker = { worker: 'large-001', pool: 'large', architectures, at };
  await application.workers.handle('large-001', { type: 'RegisterWorker', data: worker }, by);
  const asked = { run: 'r', providerAccount: 'cloud', architectures, activationSha256: 'x', because: 'asked', at };
  await application.workers.handle('large-001', { type: 'RequestLaunch', data: asked }, by);
  await application.catchUp();
  const end = `${pool}/workers/large-001/end`;
  assert.ok((await client.get(pool)).text.includes(`href="${end}"`));
  assert.ok((await client.get(end)).text.includes('It runs no task.'));
  const later = `${pool}/workers/large-001/terminate`;
  assert.ok((await client.get(pool)).text.includes(`href="${later}"`));
  assert.match((await client.get(later)).text, 'It runs no task: its instance is ended now at the provider.');
  for (const path of ['end', 'terminate'])
    assert.is((await client.get(`${pool}/workers/none/${path}`)).status, 404, path);
  assert.is((await client.post(later, {})).location, pool);
  const ending = (await client.get(pool)).text;
  assert.match(ending, /large-001 ends now\./);
  assert.ok(!ending.includes(`href="${later}"`) && ending.includes(`href="${end}"`), 'it can only be hastened then');
  assert.is((await client.post(end, {})).location, pool);
  const { text } = await client.get(pool);
  assert.match(text, /large-001 ends now\./);
  assert.not.ok(text.includes(`href="${end}"`));
  assert.match((await client.get(`${pool}/delete`)).text, /1 worker of it runs and is ended at once/);
  assert.is((await client.post(`${pool}/delete`, {})).status, 409);
  assert.is((await client.post(`${pool}/delete`, { force: 'true' })).location, '/admin/worker-pools');
  assert.match((await client.get('/admin/worker-pools')).text, /large is deleted\. Being ended: large-00/);
  assert.is((await client.get(pool)).status, 404);
});

test('a pool called new has its page like any other; where there is none, links to the form that were kept lead there', async ({
  pages: { client },
}) => {
  assert.is((await client.get('/admin/worker-pools/new')).location, '/admin/new-worker-pool');
  assert.is((await client.get('/admin/new-worker-pool')).status, 200);
  const specifications = { provider_type: 'hetzner', server_type: 'cax11', image_name: 'debian-12', location: 'fsn1' };
  const document = JSON.stringify({
    provider_account: 'cloud',
    architectures: ['arm64'],
    specifications: { ...specifications, networks: [], ssh_keys: [] },
  });
  assert.is(
    (await client.post('/admin/new-worker-pool', { name: 'new', document })).location,
    '/admin/worker-pools/new',
  );
  const { status, text } = await client.get('/admin/worker-pools/new');
  assert.is(status, 200);
  assert.match(text, '<h1>new</h1>');
  assert.is((await client.post('/admin/worker-pools/new/delete', {})).status, 303);
});

/** Of a pool with a target of ten hours. */
function usage(hours: number, projected: number): PoolUsage {
  return {
    worker_pool: 'small',
    month: '2026-11',
    used_seconds: hours * 3600,
    projected_seconds: projected * 3600,
    target_max_seconds_per_month: 36_000,
    running_instances: 0,
    scopes: [],
  };
}

function over(shown: string): string {
  return `<span class="badge warn"><span aria-hidden="true">▲</span> ${shown}</span>`;
}

test('what is used beyond its target stands out: of a pool, of what its month comes to, of a scope', async ({
  pages: { application },
}) => {
  const { views, clock } = application;
  const pool = await views.workerPools.get('small');
  const scope = await views.scopes.get('builds');
  assert.ok(pool !== undefined && scope !== undefined);
  if (pool === undefined || scope === undefined) return;
  const query = listQueryOf({}, 'pool');
  const listed = (hours: number) => {
    const rows = [{ pool, usage: usage(hours, hours) }];
    return render(poolListPage({ architectures: [], rows, query, mayWrite: false }).body);
  };
  assert.not.match(listed(10), 'badge warn');
  assert.match(listed(12.5), over('12.5 of 10.0'));
  const now = clock.now();
  const nothing = { days: [], workers: [], decisions: [], mayWrite: false, mayOperate: false, errors: {} } as const;
  const shown = render(poolPage({ pool, usage: [usage(9, 11), usage(10, 10)], query, now, ...nothing }).body);
  assert.is(shown.split('badge warn').length, 2);
  assert.match(shown, over('11.0'));
  const page = (hours: number) =>
    render(scopePage({ row: { scope, hours: new Map([['small', hours]]) }, mayWrite: false, now }).body);
  assert.not.match(page(2), 'badge warn');
  assert.match(page(2.5), over('2.5'));
});

test('a day of a minute has a bar, and is not said to be nothing', () => {
  const bars = render(DayBars({ days: [{ day: '2026-11-28', used_seconds: 60 }] }));
  assert.match(bars, 'less than 0.1 h</text>');
  assert.match(bars, '2026-11-28: less than 0.1 h');
});

test('the hours of each day are bars, and are told to those who do not see them', () => {
  const html = render(
    DayBars({
      days: [
        { day: '2026-11-26', used_seconds: 0 },
        { day: '2026-11-27', used_seconds: 86_400 },
        { day: '2026-11-28', used_seconds: 43_200 },
      ],
    }),
  );
  const heights = [...html.matchAll(/<rect [^>]*height="(\d+)"/g)].map(([, height]) => Number(height));
  assert.equal(heights, [0, 64, 32]);
  assert.match(html, 'aria-label="Hours of instances a day. 2026-11-27: 24.0 h, 2026-11-28: 12.0 h"');
  assert.match(
    render(DayBars({ days: [{ day: '2026-11-28', used_seconds: 0 }] })),
    'Nothing has run in the last 1 day:',
  );
});

test('a scope shows its pools and their terms, which are changed', async ({ pages: { client } }) => {
  assert.ok((await client.get('/admin/scopes')).text.includes('href="/admin/scopes/builds"'));
  const { text } = await client.get('/admin/scopes/builds');
  for (const part of [`href="${POOL}"`, '>5<', '2.0']) assert.ok(text.includes(part), part);
  const terms = '/admin/scopes/builds/worker-pools/small';
  assert.ok((await client.get(terms)).text.includes('value="7200"'));
  for (const wrong of [
    { priority: 'x', target: '', latency: '' },
    { priority: '1', target: '-1', latency: '' },
    { priority: '1', target: '', latency: '1.5' },
  ])
    assert.is((await client.post(terms, wrong)).status, 422);
  const saved = await client.post(terms, { priority: '9', target: '', latency: '30' });
  assert.is(saved.location, '/admin/scopes/builds');
  assert.match((await client.get(saved.location)).text, /The terms are saved\.[\s\S]*>9</);
  assert.is((await client.get('/admin/scopes/none')).status, 404);
  assert.is((await client.get('/admin/scopes/builds/worker-pools/none')).status, 404);
});

test('a reviewer looks and changes nothing', async ({ pages }) => {
  const reviewer = await pages.logIn('rita', 'reviewer');
  const { text } = await reviewer.get(POOL);
  for (const part of ['Disable', 'Launch', '/edit', '/delete', '/end']) assert.not.ok(text.includes(part), part);
  assert.is((await reviewer.post(`${POOL}/launch`, { count: '1' })).status, 403);
});

test.run();
