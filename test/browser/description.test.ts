import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasChromium, openChromium, watchComplaints } from '../support/browser/chromium.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

type Opened = { edgeward: Edgeward; base: string; browser: Browser };

const description = suite<Opened>('the page that shows the description');
const maybe = (name: string, test: Parameters<typeof description>[1]): void =>
  hasChromium ? description(name, test) : description.skip(name, test);
/** It has a megabyte of script to read, on a machine that may be busy. */
const PATIENCE = { timeout: 180_000 };

if (hasChromium) {
  description.before(async (context) => {
    context.edgeward = await openEdgeward();
    context.base = await context.edgeward.serve();
    context.browser = await openChromium();
  });
  description.after(async ({ browser, edgeward }) => {
    await browser.close();
    await edgeward.remove();
  });
}

maybe(
  'has what customers ask first, and the other APIs at a link; nothing is refused by its policy',
  async (context) => {
    const { base, browser } = context;
    const window = await browser.newContext({ viewport: { width: 400, height: 800 } });
    const complaints = watchComplaints(window, base);
    const page = await window.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
    await page.goto(`${base}/docs`);
    await page.locator('.opblock').first().waitFor(PATIENCE);
    const paths = await page.locator('.opblock-summary-path').allTextContents();
    assert.ok(paths.length >= 13);
    assert.equal(
      paths.filter((path) => path.startsWith('/') && !path.replaceAll('\u200b', '').startsWith('/api/v1/')),
      [],
    );
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'nothing is cut off at 400 px',
    );
    await page.getByRole('link', { name: 'For workers' }).click();
    await page.getByText('/api/worker/v1/').first().waitFor(PATIENCE);
    assert.equal(complaints.all(), []);
    await window.close();
  },
);

description.run();
