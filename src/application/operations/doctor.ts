import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { RouterFailure } from '../../ports/routers.ts';
import type { Application } from '../application.ts';

/** What was looked at, and what came of it: where it is not ok, `advice` says what to do. */
export type Finding = Readonly<{ check: string; ok: boolean; about: string; advice?: string }>;

type Examined = Pick<
  Application,
  'store' | 'clock' | 'views' | 'directory' | 'regions' | 'openRouter' | 'projections' | 'catchUp'
>;

/** Clocks of two machines are rarely nearer than this. */
const CLOCK_SECONDS_MAX = 5;
const BEHIND_MAX = 10_000n;
const ROUTER_MILLISECONDS = 15_000;
const ROUTERS_AT_ONCE = 8;

/** Looks at everything that an open installation has: its clock, views, routers, lists and webhooks. Changes nothing. */
export async function examine(application: Examined): Promise<readonly Finding[]> {
  await application.catchUp();
  return [
    await clockFinding(application),
    await viewsFinding(application),
    ...(await routerFindings(application)),
    ...(await listFindings(application)),
    ...(await webhookFindings(application)),
    await restoredFinding(application),
  ];
}

async function clockFinding({ store, clock }: Examined): Promise<Finding> {
  // Where others write to the store as well the log may end behind its newest event: then there is none.
  for await (const [event] of store.readAll((await store.end()) - 1n)) {
    if (event === undefined) break;
    const ahead = (epochMilliseconds(event.metadata.at) - clock.now().epochMilliseconds) / 1000;
    if (ahead <= CLOCK_SECONDS_MAX) break;
    const about = `the newest event was recorded ${Math.round(ahead)} seconds in the future of this machine's clock`;
    return {
      check: 'clock',
      ok: false,
      about,
      advice: 'set the clock of this machine, or of the one that wrote it, by NTP',
    };
  }
  return { check: 'clock', ok: true, about: 'not behind the newest event' };
}

async function viewsFinding({ projections }: Examined): Promise<Finding> {
  const late = (await projections.status()).filter(({ behind }) => behind > BEHIND_MAX);
  if (late.length === 0) return { check: 'views', ok: true, about: 'what is saved is near the end of the log' };
  const about = `far behind the log: ${late.map(({ name, behind }) => `${name} by ${behind} positions`).join(', ')}`;
  return { check: 'views', ok: false, about, advice: 'is a server running? Otherwise: edgeward projections rebuild' };
}

async function routerFindings({ directory, regions, openRouter }: Examined): Promise<readonly Finding[]> {
  const { state } = await directory.state(DIRECTORY_ID);
  const looks: (() => Promise<Finding>)[] = [];
  for (const [regionId, region] of state.regions) {
    const opened = (await regions.state(regionId)).state;
    if (opened.phase !== 'created') continue;
    for (const { router, driver, options, phase } of opened.routers.values()) {
      looks.push(async () => {
        const about = `${router} in ${region}`;
        if (phase === 'disabled') return { check: 'router', ok: true, about: `${about}: disabled, not asked` };
        const because = await problemOf(openRouter, { name: router, driver, options });
        if (because === undefined)
          return { check: 'router', ok: true, about: `${about}: reachable, lists can be written` };
        return { check: 'router', ok: false, about: `${about}: ${because}`, advice: `edgeward router test ${router}` };
      });
    }
  }
  const found: Finding[] = [];
  for (let from = 0; from < looks.length; from += ROUTERS_AT_ONCE) {
    found.push(...(await Promise.all(looks.slice(from, from + ROUTERS_AT_ONCE).map((look) => look()))));
  }
  return found;
}

async function problemOf(
  openRouter: Application['openRouter'],
  router: Parameters<Application['openRouter']>[0],
): Promise<string | undefined> {
  try {
    const driver = openRouter(router);
    try {
      await driver.check(AbortSignal.timeout(ROUTER_MILLISECONDS));
    } finally {
      await driver.close();
    }
    return undefined;
  } catch (error) {
    if (error instanceof RouterFailure) return `${error.code}: ${error.message}`;
    throw error;
  }
}

async function listFindings({ views }: Examined): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const bad = (about: string, advice: string): void => void found.push({ check: 'lists', ok: false, about, advice });
  for (const { view } of await views.waitingChanges.list()) {
    const { failingOn = [], customerId, regionId, list } = view;
    if (failingOn.length === 0) continue;
    const customer = (await views.customers.get(String(customerId)))?.name ?? String(customerId);
    const region = (await views.regions.get(String(regionId)))?.name ?? String(regionId);
    bad(
      `${list} of ${customer} is not on ${failingOn.join(', ')} in ${region}`,
      'edgeward commit list --json has the reason',
    );
  }
  for (const { view } of await views.routerUpkeep.list()) {
    for (const { name, drifted, unowned, unsavedSince } of view.routers) {
      const where = `${name} in ${view.region}`;
      if (drifted.length > 0)
        bad(`${where} holds ${drifted.join(', ')} otherwise than it should`, `edgeward router check ${name}`);
      if (unowned > 0)
        bad(`${where} has ${unowned} with our prefix that belong to no customer`, `edgeward router prune ${name}`);
      if (unsavedSince !== null)
        bad(`${where} holds what it could not save: a restart of it loses that`, `edgeward router test ${name}`);
    }
  }
  return found.length > 0
    ? found
    : [{ check: 'lists', ok: true, about: 'every router holds its lists, and no others' }];
}

async function webhookFindings({ views }: Examined): Promise<readonly Finding[]> {
  const newest = new Map<number, Readonly<{ owedAt: string; state: string; because: string | null }>>();
  for (const { view } of await views.webhookDeliveries.list()) {
    const { customerId, owedAt, state, attempts } = view;
    if (owedAt < (newest.get(customerId)?.owedAt ?? '')) continue;
    newest.set(customerId, { owedAt, state, because: attempts.at(-1)?.because ?? null });
  }
  const found: Finding[] = [];
  for (const [customerId, { state, because }] of newest) {
    if (state !== 'given_up') continue;
    const customer = (await views.customers.get(String(customerId)))?.name ?? String(customerId);
    const advice = 'tell the customer, and see whether the address is right: edgeward customer show';
    found.push({
      check: 'webhooks',
      ok: false,
      about: `the newest of ${customer} was given up: ${because ?? 'no reason is known'}`,
      advice,
    });
  }
  return found.length > 0 ? found : [{ check: 'webhooks', ok: true, about: 'no customer was left untold' }];
}

async function restoredFinding({ directory }: Examined): Promise<Finding> {
  const { state } = await directory.state(DIRECTORY_ID);
  if (state.restored === undefined) return { check: 'log', ok: true, about: 'not a restored one' };
  return {
    check: 'log',
    ok: false,
    about: 'it was restored from an older copy: routers keep what it does not explain',
    advice: 'edgeward restore status, then edgeward restore accept',
  };
}
