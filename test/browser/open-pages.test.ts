import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { hasChromium, logIn, openChromium, send } from '../support/browser/chromium.ts';
import { OWN_PASSWORD } from '../support/http/pages-client.ts';
import { freePort } from '../support/free-port.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

type Opened = { edgeward: Edgeward; base: string; port: string; browser: Browser; own: BrowserContext; first: Page };

/** What is fetched when it is rung may take its time on a busy machine. */
const SEEN = { timeout: 60_000 };
const LIVE = '#live:text-is("live")';

const open = suite<Opened>('pages that stay open');
const scenario = (name: string, test: Parameters<typeof open>[1]): void =>
  hasChromium ? open(name, test) : open.skip(name, test);

if (hasChromium) {
  open.before(async (context) => {
    context.edgeward = await openEdgeward();
    const { edgeward } = context;
    const made = z.object({ password: z.string() }).parse(await edgeward.json('admin', 'create', 'ada'));
    await edgeward.json('admin', 'create', 'grace');
    await edgeward.json('customer', 'create', 'Acme Corp.');
    context.port = String(await freePort());
    context.base = await edgeward.serve({ PORT: context.port });
    context.browser = await openChromium();
    context.own = await context.browser.newContext();
    context.first = await context.own.newPage();
    await logIn(context.first, context.base, 'ada', made.password);
    await context.first.goto('about:blank');
  });
  open.after(async ({ edgeward, browser }) => {
    await browser.close();
    await edgeward.remove();
  });
  open.after.each(async ({ own, first }) => {
    for (const page of own.pages()) if (page !== first) await page.close();
    await first.goto('about:blank');
  });
}

/** A browser without a screen shows all of its pages: hiding one is played. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`${hiddenIs(isHidden)}; document.dispatchEvent(new Event('visibilitychange'))`);
}

const hiddenIs = (isHidden: boolean): string =>
  `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${String(isHidden)} })`;

async function addCustomer({ edgeward }: Pick<Opened, 'edgeward'>, name: string): Promise<void> {
  await edgeward.json('customer', 'create', name);
}

scenario(
  'eight pages of one session are answered; four are live, and another one when one is hidden',
  async (opened) => {
    const pages: Page[] = [];
    for (let at = 0; at < 8; at += 1) {
      const page = await opened.own.newPage();
      await page.goto(`${opened.base}/admin/customers`);
      assert.is(await page.locator('h1').innerText(), 'Customers');
      await page.waitForSelector(at < 4 ? LIVE : '#live:has-text("not live since")', SEEN);
      pages.push(page);
    }
    const [hidden, , , , waiting] = pages;
    assert.ok(hidden !== undefined && waiting !== undefined);
    await addCustomer(opened, 'Of eight');
    for (const page of pages.slice(0, 4)) await page.waitForSelector('#customer-list >> text=Of eight', SEEN);
    for (const page of pages.slice(5)) await page.close();
    assert.is(await waiting.locator('text=Of eight').count(), 0);
    await setHidden(hidden, true);
    await waiting.waitForSelector('#customer-list >> text=Of eight', SEEN);
    assert.is(await waiting.locator('#live').innerText(), 'live', 'what it has missed is fetched once it is live');
  },
);

scenario('a page that is hidden, or opened behind another, is up to date once it is looked at', async (opened) => {
  const { own, first, base } = opened;
  await first.goto(`${base}/admin/customers`);
  await first.waitForSelector(LIVE, SEEN);
  await setHidden(first, true);
  const behind = await own.newPage();
  await behind.addInitScript(hiddenIs(true));
  await behind.goto(`${base}/admin/customers`);
  await addCustomer(opened, 'Behind');
  for (const page of [first, behind]) {
    assert.is(await page.locator('text=Behind').count(), 0, 'what is not looked at asks for nothing');
    await setHidden(page, false);
    await page.waitForSelector('#customer-list >> text=Behind', SEEN);
  }
});

scenario('what happens between a page and its stream is in the page a moment later', async (opened) => {
  const { own, first, base } = opened;
  await first.route('**/admin/live?*', async (route) => {
    await addCustomer(opened, 'Between');
    await waitUntil('other pages show it', async () => {
      return (await (await own.request.get(`${base}/admin/customers`)).text()).includes('Between');
    });
    await route.continue();
    await first.unrouteAll();
  });
  await first.goto(`${base}/admin/customers`);
  assert.is(await first.locator('text=Between').count(), 0);
  await first.waitForSelector('#customer-list >> text=Between', SEEN);
});

scenario(
  'a part that could not be fetched is fetched a moment later, though nothing rings for it again',
  async (opened) => {
    const { first, base } = opened;
    await first.goto(`${base}/admin/customers`);
    await first.waitForSelector(LIVE, SEEN);
    const answers = [
      (route: Route) => route.fulfill({ status: 503 }),
      (route: Route) => route.abort(),
      (route: Route) => route.fulfill({ status: 429 }),
    ];
    let asked = 0;
    await first.route('**/admin/customers*', async (route) => {
      const answer = answers[asked] ?? ((one: Route) => one.continue());
      asked += 1;
      await answer(route);
    });
    await addCustomer(opened, 'Later');
    await first.waitForSelector('#customer-list >> text=Later', SEEN);
    await first.unrouteAll();
  },
);

scenario('a server that starts again under an open page is found, with what happened meanwhile', async (opened) => {
  const { first, base, edgeward, port } = opened;
  await first.goto(`${base}/admin/customers`);
  await first.waitForSelector(LIVE, SEEN);
  await edgeward.stop();
  await first.waitForSelector('#live:has-text("not live since")', SEEN);
  assert.match(await first.locator('#live').innerText(), /^not live since \d\d:\d\d:\d\d \+00:00$/);
  await addCustomer(opened, 'Meanwhile');
  await edgeward.serve({ PORT: port });
  await first.waitForSelector('#customer-list >> text=Meanwhile', SEEN);
  await first.waitForSelector(LIVE, SEEN);
  await first.click('#customer-list >> text=Meanwhile');
  await first.waitForSelector('h1:has-text("Meanwhile")', SEEN);
});

scenario(
  'Back brings the filter and the place in the list back, and the page is live again',
  async ({ first, base }) => {
    await first.goto(`${base}/admin/customers`);
    await first.fill('#q', 'acme');
    await send(first, '.filter button');
    await first.click('#customer-list >> text=Acme Corp.');
    await first.waitForSelector('h1:has-text("Acme Corp.")', SEEN);
    await first.goBack();
    assert.is(await first.inputValue('#q'), 'acme');
    assert.is(await first.locator('#customer-list tbody tr').count(), 1);
    await first.waitForSelector(LIVE, SEEN);
    await first.goForward();
    await first.waitForSelector('h1:has-text("Acme Corp.")', SEEN);
    await first.waitForSelector(LIVE, SEEN);
  },
);

scenario('a session that ends under open pages: they say so, and the way leads back to them', async (opened) => {
  const { own, first, base, edgeward } = opened;
  await first.goto(`${base}/admin/customers`);
  await first.waitForSelector(LIVE, SEEN);
  const form = await own.newPage();
  await form.goto(`${base}/admin/customers/new`);
  await edgeward.json('admin', 'role', 'ada', 'operator');
  await first.waitForSelector('#live:has-text("not live since")', SEEN);
  await form.fill('#name', 'Never');
  await send(form);
  assert.match(await form.locator('.note').innerText(), /session is over.* Nothing of what you sent was done/);
  assert.not.match(
    JSON.stringify(await edgeward.events(), (_, value: unknown) => String(value)),
    /Never/,
  );
  await first.click('nav a:has-text("Subnets")');
  assert.match(await first.locator('.note').innerText(), /Your session is over/);
  await first.fill('#name', 'ada');
  await first.fill('#password', OWN_PASSWORD);
  await send(first);
  await waitUntil('the page that was asked for is there', () => first.url() === `${base}/admin/subnets`);
});

open.run();
