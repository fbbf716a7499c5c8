import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { hasChromium, logIn, openChromium, watchComplaints } from '../support/browser/chromium.ts';
import { type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

type Opened = { edgeward: Edgeward; base: string; browser: Browser; page: Page; api: ApiClient };

const LIST = 'Svc-ACME-BLACKHOLE';
/** What is fetched when it is rung may take its time on a busy machine. */
const SEEN = { timeout: 60_000 };

const deployments = suite<Opened>('deployments in Chromium');
const scenario = (name: string, test: Parameters<typeof deployments>[1]): void =>
  hasChromium ? deployments(name, test) : deployments.skip(name, test);

if (hasChromium) {
  deployments.before(async (opened) => {
    opened.edgeward = await openEdgeward();
    const { edgeward } = opened;
    const made = await edgeward.json('admin', 'create', 'otto', '--role', 'operator');
    await addRegion(edgeward, 'eu-west');
    const { token } = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
    opened.base = await edgeward.serve();
    opened.api = openApiClient(opened.base, token);
    opened.browser = await openChromium();
    opened.page = await opened.browser.newPage();
    await logIn(opened.page, opened.base, 'otto', z.object({ password: z.string() }).parse(made).password);
  });
  deployments.after(async ({ edgeward, browser, api }) => {
    await browser.close();
    await api.close();
    await edgeward.remove();
  });
}

scenario(
  'what a customer disables comes up on the overview, is deployed from there, and ends on the router',
  async (opened) => {
    const { page, base, api, edgeward } = opened;
    const complaints = watchComplaints(page.context(), base);
    await page.goto(`${base}/admin/`);
    await page.waitForSelector('#live:has-text("live")', SEEN);
    assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
    await page.click('#work >> text=Deploy now', SEEN);
    await page.waitForURL(/\/admin\/commits\/[0-9a-f-]{36}$/, SEEN);
    await page.waitForSelector('#standing >> text=on the routers', SEEN);
    await page.waitForSelector('#lanes >> text=confirmed', SEEN);
    assert.match(readFileSync(join(edgeward.folder, 'eu-west', LIST), 'utf8'), /203\.0\.113\.7/);
    assert.equal(complaints.all(), []);
  },
);

scenario('a list of commits grows while it is looked at', async ({ page, base, api, edgeward }) => {
  await page.goto(`${base}/admin/commits`);
  await page.waitForSelector('#live:has-text("live")', SEEN);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.8' })).status, 200);
  await edgeward.json('commit', 'run', 'Acme', 'eu-west');
  await page.waitForSelector('#commit-list tbody tr:nth-child(2)', SEEN);
});

scenario('a router that drifts says so while its page is open, and is put right', async ({ page, base, edgeward }) => {
  const file = join(edgeward.folder, 'eu-west', LIST);
  const right = readFileSync(file, 'utf8');
  await page.goto(`${base}/admin/regions/1/routers/eu-west-edge1`);
  await page.waitForSelector('#live:has-text("live")', SEEN);
  writeFileSync(file, '198.51.100.0/24\n');
  await page.click('#check');
  await page.waitForURL(/\?operation=/, SEEN);
  await page.waitForSelector('#standing >> text=1 put right', SEEN);
  await page.waitForSelector('#happened >> text=DriftRepaired', SEEN);
  assert.is(readFileSync(file, 'utf8'), right);
});

deployments.run();
