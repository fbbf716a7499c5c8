import type { Browser, BrowserContext } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import {
  axeViolations,
  hasChromium,
  logIn,
  LOOKS,
  openChromium,
  watchComplaints,
} from '../support/browser/chromium.ts';
import { furnish, furnishRunning } from '../support/browser/furnished.ts';
import { OWN_PASSWORD } from '../support/http/pages-client.ts';
import { pagesUnderTest } from '../support/http/pages-under-test.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

type Opened = { edgeward: Edgeward; base: string; browser: Browser; plain: BrowserContext; lenient: BrowserContext };

const every = suite<Opened>('every page in Chromium');
const maybe = (name: string, test: Parameters<typeof every>[1]): void =>
  hasChromium ? every(name, test) : every.skip(name, test);

if (hasChromium) {
  every.before(async (context) => {
    context.edgeward = await openEdgeward();
    const { edgeward } = context;
    const { password } = z.object({ password: z.string() }).parse(await edgeward.json('admin', 'create', 'ada'));
    const { token, tokenId } = await furnish(edgeward);
    const own = await edgeward.json('admin', 'token', 'create', 'ada', '--scopes', 'read', '--label', 'reports');
    EXAMPLES['/account/tokens/{token}/revoke'] = `/account/tokens/${z.object({ id: z.string() }).parse(own).id}/revoke`;
    EXAMPLES['/customers/{id}/tokens/{token}/revoke'] = `/customers/1/tokens/${tokenId}/revoke`;
    context.base = await edgeward.serve();
    const { requestId, commitSetId } = await furnishRunning(context.base, token);
    EXAMPLES['/whitelist/{id}'] = `/whitelist/${requestId}`;
    EXAMPLES['/commits/{set}'] = `/commits/${commitSetId}`;
    EXAMPLES['/customers/{id}/webhook/{delivery}'] = `/customers/1/webhook/msg_${commitSetId}_success`;
    context.browser = await openChromium();
    context.plain = await context.browser.newContext();
    await logIn(await context.plain.newPage(), context.base, 'ada', password);
    // Axe is a script that no page of ours would run.
    context.lenient = await context.browser.newContext({ bypassCSP: true });
    await logIn(await context.lenient.newPage(), context.base, 'ada', OWN_PASSWORD);
  });
  every.after(async ({ browser, edgeward }) => {
    await browser.close();
    await edgeward.remove();
  });
}

/** Pages of one thing, by what the furnished installation has. */
const EXAMPLES: Record<string, string> = {
  '/customers/{id}': '/customers/1',
  '/customers/{id}/edit': '/customers/1/edit',
  '/customers/{id}/webhook-secret': '/customers/1/webhook-secret',
  '/customers/{id}/remove': '/customers/1/remove',
  '/customers/{id}/tokens': '/customers/1/tokens',
  '/customers/{id}/subnets': '/customers/1/subnets',
  '/customers/{id}/subnets/{subnet}/release': '/customers/1/subnets/1/release',
  '/customers/{id}/webhook': '/customers/1/webhook',
  '/subnets/{subnet}': '/subnets/2',
  '/events/{position}': '/events/1',
  '/events/verify': '/events/verify?stream=customer-1',
  '/worker-pools/{pool}': '/worker-pools/small',
  '/worker-pools/{pool}/edit': '/worker-pools/small/edit',
  '/worker-pools/{pool}/delete': '/worker-pools/small/delete',
  '/worker-pools/{pool}/workers/{worker}/terminate': '/worker-pools/small/workers/small-001/terminate',
  '/worker-pools/{pool}/workers/{worker}/end': '/worker-pools/small/workers/small-001/end',
  '/scopes/{scope}': '/scopes/builds',
  '/scopes/{scope}/worker-pools/{pool}': '/scopes/builds/worker-pools/small',
  '/accounts/{name}': '/accounts/ada',
  '/accounts/{name}/reset-password': '/accounts/ada/reset-password',
  '/accounts/{name}/remove-second-factor': '/accounts/ada/remove-second-factor',
  '/regions/{id}': '/regions/1',
  '/regions/{id}/remove': '/regions/1/remove',
  '/regions/{id}/lists': '/regions/1/lists',
  '/regions/{id}/add-router': '/regions/1/add-router',
  '/regions/{id}/routers/{router}': '/regions/1/routers/edge1',
  '/regions/{id}/routers/{router}/drain': '/regions/1/routers/edge1/drain',
  '/regions/{id}/routers/{router}/prune': '/regions/1/routers/edge1/prune',
  '/regions/{id}/routers/{router}/remove': '/regions/1/routers/edge1/remove',
};

const paths = (await pagesUnderTest())
  .filter(({ method, isFile }) => method === 'GET' && isFile !== true)
  .map(({ path }) => path);

for (const path of ['/login', ...paths]) {
  maybe(`${path}: nothing to complain about, at any size, by day and by night`, async ({ plain, lenient, base }) => {
    const example = path.includes('{') ? EXAMPLES[path] : (EXAMPLES[path] ?? path);
    assert.ok(example, `EXAMPLES has one of ${path}, which furnish makes`);
    const complaints = watchComplaints(plain, base);
    const page = await plain.newPage();
    const judged = await lenient.newPage();
    for (const { scheme, width, height } of LOOKS) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const answer = await page.goto(`${base}/admin${example}`);
      assert.is(answer?.status(), 200);
      const overhang: unknown = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(overhang) <= 0, `nothing stands out at the right of ${width} pixels: ${String(overhang)}`);
    }
    await judged.goto(`${base}/admin${example}`);
    for (const scheme of ['light', 'dark'] as const) {
      // Without motion a colour is there at once.
      await judged.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      assert.equal(await axeViolations(judged), [], scheme);
    }
    await Promise.all([page.close(), judged.close()]);
    assert.equal(complaints.all(), []);
  });
}

maybe('every page says the same without scripts', async ({ browser, plain, base }) => {
  const without = await browser.newContext({ javaScriptEnabled: false, storageState: await plain.storageState() });
  const page = await without.newPage();
  for (const path of paths) {
    await page.goto(`${base}/admin${EXAMPLES[path] ?? path}`);
    assert.ok((await page.locator('h1').innerText()) !== '', path);
    assert.is(await page.locator('main form button, main table, main p').first().isVisible(), true, path);
  }
  await without.close();
});

every.run();
