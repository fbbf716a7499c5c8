import type { Browser, BrowserContext, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { submissionOf, submitForm } from '../http/customer/source-whitelist-examples.ts';
import { hasChromium, logIn, openChromium, watchComplaints } from '../support/browser/chromium.ts';
import { type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { pdf, png } from '../support/http/multipart-form.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

type Opened = {
  edgeward: Edgeward;
  base: string;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  api: ApiClient;
};

const review = suite<Opened>('the review of whitelist requests in Chromium');
const scenario = (name: string, test: Parameters<typeof review>[1]): void =>
  hasChromium ? review(name, test) : review.skip(name, test);

if (hasChromium) {
  review.before(async (opened) => {
    opened.edgeward = await openEdgeward();
    const { edgeward } = opened;
    const made = await edgeward.json('admin', 'create', 'grace', '--role', 'reviewer');
    await addRegion(edgeward, 'eu-west');
    const { token } = await addCustomer(edgeward, 'Acme', [], ['--allow-source-whitelist']);
    opened.base = await edgeward.serve();
    opened.api = openApiClient(opened.base, token);
    opened.browser = await openChromium();
    opened.context = await opened.browser.newContext();
    opened.page = await opened.context.newPage();
    await logIn(opened.page, opened.base, 'grace', z.object({ password: z.string() }).parse(made).password);
  });
  review.after(async ({ edgeward, browser, api }) => {
    await browser.close();
    await api.close();
    await edgeward.remove();
  });
}

/** One black square on a page, and a script that would speak up where scripts of documents run. */
function drawnPdf(): Buffer {
  const drawing = '0 0 0 rg 20 20 160 160 re f';
  return Buffer.from(
    [
      '%PDF-1.7',
      '1 0 obj <</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert("run"))>>>> endobj',
      '2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj',
      '3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>> endobj',
      `4 0 obj <</Length ${drawing.length}>> stream\n${drawing}\nendstream endobj`,
      'trailer <</Root 1 0 R>>',
      '%%EOF',
    ].join('\n'),
  );
}

async function submit(api: ApiClient, ip: string, evidence: Buffer, fileName: string): Promise<string> {
  return submissionOf(await submitForm(api, { ip, evidence, fileName })).data.request_id;
}

scenario(
  'an image is shown; a PDF is drawn where nothing of it runs; what can not be drawn says so',
  async (opened) => {
    const { context, page, base, api } = opened;
    const complaints = watchComplaints(context, base);
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const image = await submit(api, '192.31.196.1', png(), 'letter.png');
    const drawn = await submit(api, '192.31.196.2', drawnPdf(), 'letter.pdf');
    const broken = await submit(api, '192.31.196.3', pdf(), 'broken.pdf');

    await page.goto(`${base}/admin/whitelist/${image}`);
    await page.waitForFunction('document.querySelector("img.evidence").naturalWidth === 1');

    await page.goto(`${base}/admin/whitelist/${drawn}`);
    const frame = page.frameLocator('iframe.evidence');
    await frame.locator('canvas').waitFor({ timeout: 60_000 });
    await frame.locator('#state').waitFor({ state: 'hidden', timeout: 60_000 });
    const pixel: unknown = await frame.locator('canvas').evaluate((canvas) => {
      if (!('getContext' in canvas) || !('width' in canvas)) return undefined;
      return String(
        Object(canvas)
          .getContext('2d')
          .getImageData(Number(canvas.width) / 2, 100, 1, 1).data,
      );
    });
    assert.is(pixel, '0,0,0,255', 'the square is black');
    const origin: unknown = await frame.locator('body').evaluate('self.origin');
    assert.is(origin, 'null');

    await page.goto(`${base}/admin/whitelist/${broken}`);
    await frame.locator('#state', { hasText: 'can not be drawn' }).waitFor({ timeout: 60_000 });
    assert.equal(dialogs, []);
    assert.equal(complaints.all(), []);
  },
);

scenario('keys lead through the queue: next, reject with a reason, approve', async ({ page, base, api }) => {
  const ids = [];
  for (const at of [11, 12, 13]) ids.push(await submit(api, `192.31.196.${at}`, png(), 'letter.png'));
  const [first, second, third] = ids;
  const at = (id: string | undefined): Promise<void> => page.waitForURL(`${base}/admin/whitelist/${id}`);
  await page.goto(`${base}/admin/whitelist/${first}`);
  await page.keyboard.press('j');
  await at(second);
  await page.keyboard.press('r');
  await page.keyboard.type('a reason with j, a and r');
  assert.is(await page.inputValue('#reason'), 'a reason with j, a and r');
  await page.keyboard.press('Enter');
  await at(third);
  assert.match(await page.locator('.note').innerText(), /192\.31\.196\.12 of Acme is rejected/);
  await page.keyboard.press('k');
  await at(first);
  await page.keyboard.press('a');
  await at(third);
  assert.match(await page.locator('.note').innerText(), /192\.31\.196\.11 of Acme is approved/);
});

scenario('what another person decides is seen at once', async ({ page, base, api, edgeward }) => {
  const id = await submit(api, '192.31.196.20', png(), 'letter.png');
  await page.goto(`${base}/admin/whitelist/${id}`);
  await page.waitForSelector('#live:has-text("live")');
  await edgeward.json('whitelist', 'reject', id, '--reason', 'not yours');
  await page.waitForSelector('#standing >> text=not yours', { timeout: 30_000 });
});

review.run();
