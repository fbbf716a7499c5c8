import { Secret, TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { hasChromium, logIn, openChromium, send, watchComplaints } from '../support/browser/chromium.ts';
import { furnish } from '../support/browser/furnished.ts';
import { OWN_PASSWORD } from '../support/http/pages-client.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

type Opened = { edgeward: Edgeward; base: string; browser: Browser; token: string; passwords: Map<string, string> };

const scenarios = suite<Opened>('administrators in Chromium');
const scenario = (name: string, test: Parameters<typeof scenarios>[1]): void =>
  hasChromium ? scenarios(name, test) : scenarios.skip(name, test);

if (hasChromium) {
  scenarios.before(async (context) => {
    context.edgeward = await openEdgeward();
    const { edgeward } = context;
    context.passwords = new Map();
    for (const name of ['ada', 'grace', 'edsger']) {
      const made = z.object({ password: z.string() }).parse(await edgeward.json('admin', 'create', name));
      context.passwords.set(name, made.password);
    }
    context.token = (await furnish(edgeward)).token;
    context.base = await edgeward.serve();
    context.browser = await openChromium();
  });
  scenarios.after(async ({ browser, edgeward }) => {
    await browser.close();
    await edgeward.remove();
  });
}

scenario('a customer, a subnet and a token are made; the token is shown once, and works', async (context) => {
  const { browser, base, passwords } = context;
  const own = await browser.newContext();
  const complaints = watchComplaints(own, base);
  const page = await own.newPage();
  await logIn(page, base, 'ada', passwords.get('ada') ?? '');
  await page.goto(`${base}/admin/customers`);
  await page.click('text=New customer');
  await page.fill('#name', 'Globex Inc.');
  await page.waitForSelector('text=Svc-GLOBEX-INC-BLACKHOLE');
  await send(page);
  assert.is(await page.locator('h1').innerText(), 'Globex Inc.');
  assert.match(await page.locator('.note').innerText(), /Globex Inc\. is registered/);
  await page.click('.tabs >> text=Subnets');
  await page.fill('#cidr', '198.51.100.1/24');
  await page.fill('#asn', '64501');
  await page.fill('#metro', 'fra');
  await send(page);
  assert.match(await page.locator('#cidr-error').innerText(), /198\.51\.100\.0\/24/);
  await page.fill('#cidr', '198.51.100.0/24');
  await send(page);
  assert.match(await page.locator('.note').innerText(), /198\.51\.100\.0\/24 is assigned in eu-west/);
  await page.click('.tabs >> text=Tokens');
  await page.fill('#label', 'ci');
  await send(page);
  const token = await page.locator('.once code').first().innerText();
  assert.match(token, /^edw_[\w-]{43}$/);
  const api = openApiClient(base, token);
  assert.is((await api.get('/subnets')).status, 200);
  await api.close();
  await page.goto(`${base}/admin/customers`);
  // Chromium asks whether the form is to be sent again, which answers nothing.
  await page.goBack().catch(() => undefined);
  let shown: string | undefined;
  await waitUntil('Back has come to a page', async () => {
    shown = await page.content().catch(() => undefined);
    return shown !== undefined;
  });
  assert.not.ok(shown?.includes(token), 'Back does not show it again');
  await page.goto(`${base}/admin/customers/4/tokens`);
  assert.not.ok((await page.content()).includes(token), 'nor does the page of tokens');
  // A form that was not right is answered with 422, which Chromium tells as an error.
  assert.equal(
    complaints.all().filter((text) => !/status of 422/.test(text)),
    [],
  );
  await own.close();
});

scenario('what customers change is seen without loading the page again', async ({ browser, base, token }) => {
  const own = await browser.newContext();
  const page = await own.newPage();
  await logIn(page, base, 'ada', OWN_PASSWORD);
  await page.goto(`${base}/admin/`);
  await page.waitForSelector('#live:has-text("live")');
  assert.match(await page.locator('#work').innerText(), /Everything that was changed is on the routers/);
  const api = openApiClient(base, token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
  await page.waitForSelector('#work >> text=quiet period', { timeout: 10_000 });
  assert.match(await page.locator('#work').innerText(), /Acme Corp\./);
  await api.close();
  await own.close();
});

scenario(
  'the map of a subnet changes while it is looked at, and its slider goes back',
  async ({ browser, base, token }) => {
    const own = await browser.newContext();
    const complaints = watchComplaints(own, base);
    const page = await own.newPage();
    await logIn(page, base, 'ada', OWN_PASSWORD);
    await page.goto(`${base}/admin/subnets/1`);
    await page.waitForSelector('#live:has-text("live")');
    const api = openApiClient(base, token);
    assert.is((await api.post('/ips/bulk', { action: 'disable', cidr: '203.0.113.64/27' })).status, 200);
    await page.waitForSelector('.legend >> text=to be disabled', { timeout: 10_000 });
    await page.reload();
    await page.focus('#step');
    await page.keyboard.press('Home');
    await page.waitForURL(/at=/);
    await page.waitForSelector('text=This is how it was then.');
    assert.match(await page.locator('.history p').first().innerText(), /^1 of \d+: .* 256 addresses assigned/);
    assert.is(await page.evaluate('document.activeElement.id'), 'step', 'the next key goes on from there');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.history p:has-text("2 of")');
    await page.goto(`${base}/admin/subnets/1`);
    await page.locator('.map > svg').hover({ position: { x: 112 + 11, y: 4 * 22 + 11 } });
    assert.is(await page.locator('#pointed-at').innerText(), '203.0.113.64: to be disabled');
    await page.goto(`${base}/admin/subnets/2`);
    for (const part of await page.locator('.map a').all()) {
      const digit = /^2001:db8:7:(?:([0-9a-f])000)?:/.exec((await part.getAttribute('aria-label')) ?? '')?.[1] ?? '0';
      await part.hover();
      const cell = /^2001:db8:7:([0-9a-f]{0,4}):/.exec(await page.locator('#pointed-at').innerText())?.[1] ?? '';
      assert.is(cell.padStart(4, '0').slice(0, 1), digit, 'the script and the drawing know one curve');
    }
    const cell = (await page.locator('#pointed-at').innerText()).replace(/: .*$/, '');
    await page.locator('.map a').last().click();
    await page.waitForURL(/block=/);
    assert.is(await page.locator('h1').innerText(), cell);
    await api.close();
    await own.close();
    assert.equal(complaints.all(), []);
  },
);

scenario(
  'a second factor is set up, asked for, and a recovery code replaces it once',
  async ({ browser, base, passwords }) => {
    const own = await browser.newContext();
    const page = await own.newPage();
    await logIn(page, base, 'grace', passwords.get('grace') ?? '');
    await page.goto(`${base}/admin/account/second-factor`);
    const secret = await page.locator('input[name=secret]').inputValue();
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    await page.fill('#code', '000000');
    await send(page);
    assert.match(await page.locator('#code-error').innerText(), /this code is not right/);
    await page.fill('#code', totp.generate());
    await send(page);
    const [recovery = ''] = (await page.locator('pre').innerText()).split('\n');
    assert.match(recovery, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    await send(page, 'header button');
    const enter = async (code: string) => {
      await page.goto(`${base}/admin/login`);
      await page.fill('#name', 'grace');
      await page.fill('#password', OWN_PASSWORD);
      await send(page);
      await page.fill('#code', code);
      await send(page);
      return page.url();
    };
    assert.is(await enter(recovery), `${base}/admin/`);
    await send(page, 'header button');
    await enter(recovery);
    assert.match(await page.locator('#code-error').innerText(), /used already/);
    await own.close();
  },
);

scenario('who logs out in one tab is logged out in the other', async ({ browser, base, passwords }) => {
  const own = await browser.newContext();
  const [first, second] = [await own.newPage(), await own.newPage()];
  await logIn(first, base, 'edsger', passwords.get('edsger') ?? '');
  await second.goto(`${base}/admin/customers`);
  assert.is(await second.locator('h1').innerText(), 'Customers');
  await send(first, 'header button');
  await second.goto(`${base}/admin/customers`);
  assert.match(second.url(), /\/admin\/login\?to=/);
  await second.fill('#name', 'edsger');
  await second.fill('#password', OWN_PASSWORD);
  await send(second);
  assert.is(second.url(), `${base}/admin/customers`);
  await own.close();
});

scenarios.run();
