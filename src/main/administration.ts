import type { ServedApplication } from '../application/application.ts';
import { withoutPasswords } from '../adapters/without-passwords.ts';
import { openPasswordChecks } from '../application/ip-control/admin-passwords.ts';
import type { Config } from '../config.ts';
import { administrationRouter } from '../http/admin/administration.ts';
import { openAssets } from '../http/admin/assets.ts';
import { openSigner } from '../http/admin/cookies.ts';
import { openLive } from '../http/admin/live.ts';
import { openLoginThrottle, THROTTLE_MILLISECONDS } from '../http/admin/login-throttle.ts';
import { allPages } from '../http/admin/pages/all-pages.ts';
import type { ServerFacts } from '../http/admin/pages/operations/system.tsx';
import { openSessions } from '../http/admin/session.ts';
import { type Administration, createAdministrationServer, type Outage } from '../http/app.ts';
import { sharedCounts } from '../http/middleware/shared-counts.ts';
import { windowCounts } from '../http/middleware/window-counts.ts';
import type { Instruments } from '../http/operations/instruments.ts';
import type { Log } from '../ports/log.ts';
import { commitTimes } from './ip-control.ts';
import { listen } from './listen.ts';
import type { Runners } from './runners.ts';
import { openServedApplication } from './served-application.ts';
import type { Stores } from './stores.ts';
import { VERSION } from './version.ts';

const LIVE_MILLISECONDS = 5_000;
const REQUESTS_END_MILLISECONDS = 10_000;

/** What administrators use: beside the customer API, or on a port of its own, or nowhere. */
export type ServedAdministration = Readonly<{
  beside: Administration | undefined;
  /** Listens on the port of its own, where it has one. */
  listen: () => Promise<void>;
  /** Ends live pages, and answers under way. */
  stop: () => Promise<void>;
  /** Closes what was opened for it, once no request uses it any more. */
  close: () => Promise<void>;
}>;

const NOWHERE: ServedAdministration = {
  beside: undefined,
  listen: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** Opens the administration as the settings want it. */
export async function openAdministration(
  config: Config,
  log: Log,
  stores: Stores,
  runners: Runners & Readonly<{ instruments: Instruments }>,
  outageOf: (error: unknown) => Outage | undefined,
): Promise<ServedAdministration> {
  const { adminEnabled, adminPort, host, trustProxy } = config;
  if (!adminEnabled) return NOWHERE;
  const opened = openServedApplication(config, stores, runners, log);
  const { pages, stop } = await openPages(
    config,
    log,
    opened.application,
    { ...runners, loginCounts: stores.loginCounts, server: serverFacts(config, runners.leads) },
    outageOf,
  );
  const { application, rehearse } = opened;
  const { reading, views } = runners;
  const { clock } = application;
  const api = { application, rehearse, views, shown: reading.shown, log };
  const administration = { pages, api };
  const { close } = opened;
  if (adminPort === undefined) return { beside: administration, listen: () => Promise.resolve(), stop, close };
  const { server, connections } = createAdministrationServer(administration, {
    log,
    trustProxy,
    outageOf,
    clock,
    isCaughtUp: reading.isReadable,
    isCatchingUp: reading.isCatchingUp,
    untilShown: reading.untilShown,
    instruments: runners.instruments,
    ...(stores.rateLimits === undefined ? {} : { rateLimitStore: sharedCounts(stores.rateLimits, { clock, log }) }),
  });
  return {
    beside: undefined,
    listen: async () =>
      log.info({ url: `${await listen(server, host, adminPort)}/admin/` }, 'administration is served'),
    stop: async () => {
      await stop();
      await connections.close(REQUESTS_END_MILLISECONDS);
    },
    close,
  };
}

/** What the page of the system shows. No setting is a secret but the passwords in addresses of stores. */
function serverFacts(config: Config, leads: () => boolean): ServerFacts {
  return {
    version: VERSION,
    node: process.versions.node,
    readModels: withoutPasswords(config.readModelUrl),
    leads,
    settings: Object.entries(config).map(([name, value]) => [settingName(name), settingText(name, value)]),
  };
}

/** As it is set: `quietPeriodMilliseconds` is `QUIET_PERIOD`. */
function settingName(name: string): string {
  return name
    .replace('Milliseconds', '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase();
}

function settingText(name: string, value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((one: unknown) => settingText(name, one)).join(', ');
  if (name.includes('Milliseconds') && typeof value === 'number') return `PT${value / 1_000}S`;
  return withoutPasswords(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The pages over the same rules and views as everything else, and the follower that makes them live. */
async function openPages(
  config: Config,
  log: Log,
  served: ServedApplication,
  {
    reading,
    loginCounts,
    server,
  }: Pick<Runners, 'reading'> & Pick<Stores, 'loginCounts'> & Readonly<{ server: ServerFacts }>,
  outageOf: (error: unknown) => Outage | undefined,
): Promise<Readonly<{ pages: Administration['pages']; stop: () => Promise<void> }>> {
  const { clock, ids, secrets, store } = served;
  const signer = await openSigner(secrets, ids);
  const throttle = openLoginThrottle(
    loginCounts === undefined
      ? windowCounts(clock, THROTTLE_MILLISECONDS)
      : sharedCounts(loginCounts, { clock, log, windowMilliseconds: THROTTLE_MILLISECONDS }),
    clock,
  );
  const passwords = openPasswordChecks();
  const shown = async (): Promise<void> => void (await reading.shown(await store.end()));
  const application = { ...served, passwords, throttle, shown, log, signer, server };
  const sessions = openSessions(application);
  const reached = (position: bigint) => reading.reached(position, LIVE_MILLISECONDS);
  const live = openLive({ store, reached, position: reading.position, clock, log });
  const stopping = new AbortController();
  const running = live.run(stopping.signal);
  const pages = administrationRouter({
    ...application,
    sessions,
    live,
    assets: openAssets(),
    pages: allPages({
      ...application,
      live,
      lookupUrl: config.lookupUrl,
      commitTimes: commitTimes(config),
      customersApi: {
        publicUrl: config.publicUrl,
        apart: config.adminPort === undefined ? undefined : { host: config.host, port: config.port },
      },
      webhookRetryMilliseconds: config.webhookRetryDelayMilliseconds,
    }),
    ownOrigin: config.adminUrl,
    isSecondFactorRequired: config.adminSecondFactor === 'required',
    isReadable: reading.isReadable,
    outageOf,
  });
  return {
    pages,
    // Pages that are live would keep their connections for ever.
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
