import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { request } from 'undici';
import { createAdministrator } from '../../../src/application/ip-control/administrators.ts';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { type PagesClient, openPagesClient } from '../../support/http/pages-client.ts';
import { openPagesUnderTest } from '../../support/http/pages-under-test.ts';
import { waitUntil } from '../../support/wait-until.ts';

type Heard = Readonly<{ heard: readonly string[]; hear: (what: string) => Promise<void>; leave: () => void }>;

type Opened = {
  opened: Awaited<ReturnType<typeof openPagesUnderTest>>;
  client: PagesClient;
  /** What is done to the log, until it can be read and the pages' follower knows of it. */
  make: (kind: 'customer' | 'administrator', ...names: readonly string[]) => Promise<void>;
  /** The stream of a page, as its script opens it for these topics. */
  listen: (topics: readonly string[], since?: string) => Promise<Heard>;
  stop: () => Promise<void>;
};

const since = suite<Opened>('what happens between a page and its stream');

since.before.each(async (context) => {
  const opened = await openPagesUnderTest();
  const { application, clock, live, url } = opened;
  const over = new AbortController();
  const running = live.run(over.signal);
  const client = openPagesClient(url);
  context.opened = opened;
  context.client = client;
  context.make = async (kind, ...names) => {
    for (const name of names) {
      const made =
        kind === 'customer'
          ? await createCustomer({ name, settings: {} }, application.context, application)
          : await createAdministrator({ name }, application.context, application);
      assert.not.ok(isRefusal(made));
    }
    await application.catchUp();
    const end = await application.store.end();
    await waitUntil('the pages know of it', async () => (await live.position()) === end);
  };
  const created = await createAdministrator({ name: 'ada' }, application.context, application);
  assert.not.ok(isRefusal(created));
  await application.catchUp();
  await client.logIn('ada', isRefusal(created) ? '' : created.password);
  await context.make('customer', 'First');

  context.listen = async (topics, from) => {
    const query = new URLSearchParams(topics.map((topic) => ['topic', topic]));
    if (from !== undefined) query.set('since', from);
    const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { body, statusCode } = await request(`${url}/admin/live?${query.toString()}`, { headers: { cookie } });
    assert.is(statusCode, 200);
    const heard: string[] = [];
    body.on('error', () => undefined);
    body.on('data', (bytes: Buffer) => {
      for (const [, event, data] of bytes.toString().matchAll(/event: (\w+)\ndata: ?(\S*)\n/g))
        heard.push(`${event} ${data}`.trim());
    });
    return {
      heard,
      hear: async (what) => {
        await waitUntil(`${what}, after ${heard.join(', ')}`, async () => {
          await clock.advance({ milliseconds: 250 });
          return heard.includes(what);
        });
      },
      leave: () => body.destroy(),
    };
  };
  context.stop = async () => {
    over.abort();
    await running;
  };
});

since.after.each(async ({ opened, client, stop }) => {
  await stop();
  await client.close();
  await opened.close();
});

async function sinceOf(client: PagesClient, path: string): Promise<string> {
  const { text } = await client.get(path);
  const [, from] = /data-live-since="(-?\d+)"/.exec(text) ?? [];
  assert.type(from, 'string', 'the page says up to where it was made');
  return from ?? '';
}

since('a change after the page was made is rung at once, by its topic alone', async ({ client, make, listen }) => {
  const from = await sinceOf(client, '/admin/customers');
  await make('customer', 'Meanwhile');
  const { heard, hear, leave } = await listen(['customers', 'accounts'], from);
  await hear('changed customers');
  await make('administrator', 'grace');
  await hear('changed accounts');
  assert.equal([...heard].toSorted(), ['changed accounts', 'changed customers', 'open']);
  leave();
});

since('what the page shows already is not rung', async ({ client, make, listen }) => {
  await make('customer', 'Before');
  const from = await sinceOf(client, '/admin/customers');
  const { heard, hear, leave } = await listen(['customers', 'accounts'], from);
  await hear('open');
  await make('administrator', 'grace');
  await hear('changed accounts');
  assert.equal(heard, ['open', 'changed accounts']);
  leave();
});

since('a stream that is opened again says no position, and is rung for nothing old: all is fetched', async (opened) => {
  const { client, make, listen } = opened;
  const first = await listen(['customers'], await sinceOf(client, '/admin/customers'));
  await first.hear('open');
  first.leave();
  await make('customer', 'While it was away');
  const again = await listen(['customers', 'accounts']);
  await again.hear('open');
  await make('administrator', 'grace');
  await again.hear('changed accounts');
  assert.equal(again.heard, ['open', 'changed accounts']);
  again.leave();
});

since('of a page of long ago all is rung: what happened is not known any more', async ({ client, make, listen }) => {
  const from = await sinceOf(client, '/admin/customers');
  // A customer is two events at least, of which the newest 200 are kept.
  await make('customer', ...Array.from({ length: 101 }, (_, at) => `Customer ${at} of many`));
  const { hear, leave } = await listen(['customers', 'accounts'], from);
  await hear('changed customers');
  await hear('changed accounts');
  leave();
});

since('a position that is none is as no position', async ({ listen }) => {
  for (const wrong of ['', '1e3', '-2', '99999999999999999999']) {
    const { heard, hear, leave } = await listen(['customers'], wrong);
    await hear('open');
    assert.equal(heard, ['open'], wrong);
    leave();
  }
});

since('what can be no topic is answered with no stream', async ({ client }) => {
  const { status } = await client.get(`/admin/live?since=-1&topic=${encodeURIComponent('work\nevent: open')}`);
  assert.is(status, 204);
});

since('a fragment carries no position of its own', async ({ client }) => {
  const { text } = await client.get('/admin/customers', { 'hx-request': 'true', 'hx-target': 'customer-list' });
  assert.match(text, 'First');
  assert.not.match(text, 'data-live-since');
});

since.run();
