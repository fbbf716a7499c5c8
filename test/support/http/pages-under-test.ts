import { once } from 'node:events';
import { join } from 'node:path';
import { openEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { createOpenRouter, ROUTER_DRIVERS } from '../../../src/adapters/routers/open-router.ts';
import { openPasswordChecks } from '../../../src/application/ip-control/admin-passwords.ts';
import { administrationRouter } from '../../../src/http/admin/administration.ts';
import { openAssets } from '../../../src/http/admin/assets.ts';
import { openSigner } from '../../../src/http/admin/cookies.ts';
import { openLive } from '../../../src/http/admin/live.ts';
import { openLoginThrottle, THROTTLE_MILLISECONDS } from '../../../src/http/admin/login-throttle.ts';
import { allPages } from '../../../src/http/admin/pages/all-pages.ts';
import type { PageRoute } from '../../../src/http/admin/pages/page.ts';
import type { CustomersApi } from '../../../src/http/admin/customers-api.ts';
import { openSessions } from '../../../src/http/admin/session.ts';
import { windowCounts } from '../../../src/http/middleware/window-counts.ts';
import { createAdministrationServer } from '../../../src/http/app.ts';
import { createInstruments } from '../../../src/http/operations/instruments.ts';
import type { OpenRouter } from '../../../src/ports/routers.ts';
import type { WebhookSender } from '../../../src/ports/webhooks.ts';
import { createManualClock } from '../manual-clock.ts';
import { openTestApplication } from '../test-application.ts';

const unasked = (): Promise<never> => Promise.reject(new Error('these tests ask no router'));

const UNREACHABLE: Pick<WebhookSender, 'send'> = {
  send: () => Promise.resolve({ delivered: false, because: 'connection refused' }),
};

/** The pages of administrators over a clock that stands still until a test moves it. */
export async function openPagesUnderTest(
  settings: Readonly<{
    isSecondFactorRequired?: boolean;
    ownOrigin?: string;
    trustProxy?: boolean;
    /** What differs of where customers are served. */
    customersApi?: Partial<CustomersApi>;
    /** Where webhooks go; without it they reach nothing. */
    sender?: Pick<WebhookSender, 'send'>;
    /** How routers are reached; without it by their drivers. */
    openRouter?: OpenRouter;
  }> = {},
) {
  const clock = createManualClock();
  const application = await openTestApplication(clock);
  const { log, store, secrets, ids } = application;
  const signer = await openSigner(secrets, ids);
  const more = {
    ...application,
    signer,
    passwords: openPasswordChecks(),
    throttle: openLoginThrottle(windowCounts(clock, THROTTLE_MILLISECONDS), clock),
    live: openLive({
      store,
      reached: () => Promise.resolve(true),
      position: () => Promise.resolve(application.shownPosition()),
      clock,
      log,
    }),
    shown: application.catchUp,
    sender: settings.sender ?? UNREACHABLE,
    server: {
      version: '0.0.0-test',
      node: process.versions.node,
      readModels: 'views.db',
      leads: () => true,
      settings: [['QUIET_PERIOD', 'PT120S']] as const,
    },
    projections: {
      names: [],
      status: () => Promise.resolve([{ name: 'customers', version: 3, position: 7n, behind: 0n }]),
      rebuild: unasked,
    },
    evidence: openEvidenceFiles(join(application.folder, 'evidence')),
    openRouter: settings.openRouter ?? createOpenRouter({ secrets, clock, ids }),
    routerReach: { drivers: ROUTER_DRIVERS, root: undefined },
    makeFolder: unasked,
    routerChecks: { check: unasked, enable: unasked },
    commitNow: unasked,
    lookupUrl: 'https://registry.example/{cidr}',
    commitTimes: { quietMilliseconds: 120_000, retryMilliseconds: [60_000, 120_000] },
    customersApi: { publicUrl: 'https://edgeward.example', apart: undefined, ...settings.customersApi },
    webhookRetryMilliseconds: 30_000,
  };
  const pages = allPages(more);
  const { isSecondFactorRequired = false, ownOrigin, trustProxy = false } = settings;
  const router = administrationRouter({
    ...more,
    sessions: openSessions(more),
    assets: openAssets(),
    pages,
    ownOrigin,
    isSecondFactorRequired,
    isReadable: () => true,
    outageOf: () => undefined,
  });
  const instruments = createInstruments({ version: '0.0.0-test', node: process.versions.node });
  const dependencies = {
    log,
    trustProxy,
    outageOf: () => undefined,
    clock,
    isCaughtUp: () => true,
    untilShown: () => undefined,
    instruments,
  };
  const { server, connections } = createAdministrationServer({ pages: router }, dependencies);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    application,
    clock,
    pages,
    /** It follows the log while a test lets it run. */
    live: more.live,
    url: `http://127.0.0.1:${port}`,
    close: async (): Promise<void> => {
      await connections.close(1_000);
      await application.close();
    },
  };
}

/** Every page that is served, by its address and what it needs. */
export async function pagesUnderTest(): Promise<readonly Pick<PageRoute, 'method' | 'path' | 'scope' | 'isFile'>[]> {
  const { pages, close } = await openPagesUnderTest();
  await close();
  return pages;
}
