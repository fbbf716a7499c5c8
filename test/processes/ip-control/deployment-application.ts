import { setMaxListeners } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { type Config, readConfig } from '../../../src/config.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openAggregates, openViews, wireProcesses } from '../../../src/main/contexts.ts';
import { openRouterDrivers } from '../../../src/main/router-drivers.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { type RouterDriver, RouterFailure } from '../../../src/ports/routers.ts';
import type { WebhookRequest, WebhookResult, WebhookSender } from '../../../src/ports/webhooks.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { assigned, registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';

/** Turns of the event loop in which nothing happens. */
const QUIET_TURNS = 25;

/** How a router behaves: as it should, ten seconds late, refusing, silent until it is told to stop, unable to save what it holds, or taking ten new entries at a time (three times, and silent then). */
export type Behaviour = 'fine' | 'late' | 'refusing' | 'silent' | 'forgetful' | 'narrow' | 'narrow thrice';

const NARROW = 10;

/**
 * Log, views, processes and routers (directories) of one region, under a clock that a test moves. Processes can be stopped
 * or killed, and started again as another process over the same files.
 */
export async function openDeploymentApplication(
  variables: Readonly<Record<string, string>> = {},
  sender?: Pick<WebhookSender, 'send'>,
) {
  const log = await openEmbeddedLog();
  const config = readConfig(variables);
  const behaviours = new Map<string, Behaviour>();
  const changes: string[] = [];
  const busy = { routers: 0 };
  const sent: WebhookRequest[] = [];
  const answers: WebhookResult[] = [];
  const started: Awaited<ReturnType<typeof startProcesses>>[] = [];
  const aggregates = openAggregates(log.dependencies());
  const secretValues = new Map<string, string>();
  const secrets = {
    get: async (id: string) => secretValues.get(id),
    put: async (id: string, value: string) => void secretValues.set(id, value),
    putIfAbsent: async (id: string, value: string) => {
      if (!secretValues.has(id)) secretValues.set(id, value);
    },
    remove: async (id: string) => void secretValues.delete(id),
    list: async () => [...secretValues.keys()].map((id) => ({ id, since: log.clock.nowText() })),
  };
  const openRouter = createOpenRouter({ secrets, clock: systemClock, ids: systemIds });
  const context = { actor: 'token:test', requestId: 'test' };

  return {
    ...aggregates,
    log,
    config,
    secrets,
    sent,
    /** Answers of the receiver of webhooks, in order; then it takes everything. */
    answers,
    /** Changes that routers were asked to make, by router. */
    changes,
    behave: (router: string, behaviour: Behaviour) => void behaviours.set(router, behaviour),
    /** A directory as a router of the region. */
    addRouter: async (name: string, driver = 'file', regionId = 1) => {
      const path = join(log.folder, name);
      mkdirSync(path, { recursive: true });
      await log.append(`region-${regionId}`, {
        type: 'RouterAdded',
        data: { regionId, router: name, driver, options: { path } },
      });
    },
    /** What a router holds, list by list. */
    held: (router: string): Readonly<Record<string, readonly string[]>> => {
      const path = join(log.folder, router);
      const names = readdirSync(path).filter((name) => name.startsWith('Svc-'));
      return Object.fromEntries(
        names.map((name) => [
          name,
          readFileSync(join(path, name), 'utf8')
            .split('\n')
            .filter((line) => line !== ''),
        ]),
      );
    },
    ask: async (command: CustomerCommand, customerId = 7) => {
      const answer = await aggregates.customers.handle(customerId, command, context);
      if (isRefusal(answer)) throw new Error(answer.because);
      return answer;
    },
    /** The types of what happened in a stream, from a revision on. */
    history: async (stream = 'customer-7', from = 0) => (await log.events(stream)).slice(from).map(({ type }) => type),
    start: async () => {
      const processes = await startProcesses(log, config, {
        aggregates,
        secrets,
        driverOf: (name, driver) => behaving(name, driver, behaviours, changes, busy, log.clock),
        openRouter,
        busy,
        send: async (request, signal) => {
          if (sender !== undefined) return sender.send(request, signal);
          const sentAt = request.timestampSeconds();
          sent.push({ ...request, timestampSeconds: () => sentAt });
          return answers.shift() ?? { delivered: true, status: 204 };
        },
      });
      started.push(processes);
      return processes;
    },
    close: async () => {
      for (const processes of started) await processes.stop(false);
      await log.close();
    },
  };
}

export type DeploymentApplication = Awaited<ReturnType<typeof openDeploymentApplication>>;

/** Region 1, ams, with the routers core1 and core2, and customer 7 with 192.0.2.0/24 there. */
export async function foundRegion({ log, addRouter }: DeploymentApplication): Promise<void> {
  const customer = registered();
  await log.append(
    'directory-main',
    { type: 'RegionNameReserved', data: { regionId: 1, name: 'ams' } },
    { type: 'CustomerNameReserved', data: customer.data },
  );
  await log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await log.append('customer-7', customer, assigned(1, '192.0.2.0/24'));
  await addRouter('core1');
  await addRouter('core2');
}

type Parts = Readonly<{
  aggregates: ReturnType<typeof openAggregates>;
  secrets: Parameters<typeof wireProcesses>[1]['secrets'];
  driverOf: (name: string, driver: RouterDriver) => RouterDriver;
  openRouter: Parameters<typeof openRouterDrivers>[0];
  busy: Readonly<{ routers: number }>;
  send: WebhookSender['send'];
}>;

async function startProcesses(log: EmbeddedLog, config: Config, parts: Parts) {
  const readModels = log.readModels();
  const drivers = openRouterDrivers(parts.openRouter);
  const views = openViews({ ...log, readModels });
  const wired = wireProcesses(readModels, {
    config,
    aggregates: parts.aggregates,
    routerDrivers: {
      ...drivers,
      driverOf: (regionId, router) => parts.driverOf(router.name, drivers.driverOf(regionId, router)),
    },
    sender: { send: parts.send, close: async () => undefined },
    cloudDrivers: [],
    openCloud: () => {
      throw new Error('no cloud here');
    },
    store: log.store,
    secrets: parts.secrets,
    clock: log.clock,
    ids: systemIds,
    log: log.log,
    isLogWhole: async () => true,
    lastHeard: () => undefined,
    areShared: false,
    views,
  });
  const projector = openProjector(
    [...Object.values(views).map((view) => view.newViewCache()), ...wired.map(({ viewCache }) => viewCache)],
    { store: log.store, readModels, clock: log.clock, log: log.log, writes: true },
  );
  await projector.open();
  for (const view of Object.values(views)) view.readViewCache();
  const running = new Map(wired.map(({ viewCache, start }) => [viewCache.name, start(projector)]));
  projector.onTouched((touched, position) => {
    for (const { viewCache, keys } of touched) running.get(viewCache)?.touched(keys, position);
  });
  const [stop, abort, stopProjector] = [new AbortController(), new AbortController(), new AbortController()];
  setMaxListeners(0, stop.signal, abort.signal);
  const following = projector.run(stopProjector.signal);
  const processing = Promise.all([...running.values()].map((process) => process.run(stop.signal, abort.signal)));
  return {
    /** Lets time pass, second by second, and everything happen that follows from it. */
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await settle(log, projector, parts.busy);
        await log.clock.advance({ seconds: 1 });
      }
      await settle(log, projector, parts.busy);
    },
    settle: () => settle(log, projector, parts.busy),
    /** As a server stops: what is under way is finished; `isPatient` false: it is broken off. */
    stop: async (isPatient = true) => {
      if (stop.signal.aborted) return;
      stop.abort();
      if (!isPatient) abort.abort(new Error('stopped in the middle'));
      await processing;
      stopProjector.abort();
      await following;
      await drivers.close();
    },
  };
}

/** Waits until nothing happens any more without time passing: no router is busy, the log and the views stand still. */
async function settle(
  log: EmbeddedLog,
  projector: Readonly<{ position: () => bigint }>,
  busy: Readonly<{ routers: number }>,
): Promise<void> {
  let last = -2n;
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
    const end = await log.store.end();
    if (end !== last || projector.position() < end || busy.routers > 0) quietTurns = 0;
    last = end;
  }
}

function behaving(
  name: string,
  driver: RouterDriver,
  behaviours: ReadonlyMap<string, Behaviour>,
  changes: string[],
  busy: { routers: number },
  clock: Clock,
): RouterDriver {
  const working = async <T>(work: Promise<T>): Promise<T> => {
    busy.routers += 1;
    try {
      return await work;
    } finally {
      busy.routers -= 1;
    }
  };
  const before = async (signal: AbortSignal): Promise<void> => {
    const behaviour = behaviours.get(name) ?? 'fine';
    if (behaviour === 'refusing') throw new RouterFailure('unreachable', `${name} is down`);
    if (behaviour === 'silent') await untilAborted(signal);
    if (behaviour === 'late') await clock.wait(10_000);
  };
  const save = async (signal: AbortSignal): Promise<void> => {
    await before(signal);
    if (behaviours.get(name) === 'forgetful') throw new RouterFailure('not-saved', 'was not saved: permission denied');
  };
  const isNarrow = (): boolean => ['narrow', 'narrow thrice'].includes(behaviours.get(name) ?? 'fine');
  const refuseTooMany = async (list: string, prefixes: readonly string[], signal: AbortSignal): Promise<void> => {
    if (!isNarrow()) return;
    const held = await working(driver.read(list, signal));
    const known = new Set(held === 'absent' ? [] : held);
    if (prefixes.filter((prefix) => !known.has(prefix)).length > NARROW)
      throw new RouterFailure('too-large', `${name} is narrow`, { possible: NARROW * 3 });
  };
  const { text } = driver;
  return {
    ...driver,
    ...(text === undefined
      ? {}
      : {
          text: {
            read: async (list, signal) => {
              await before(signal);
              return working(text.read(list, signal));
            },
            replace: async (list, wanted, signal) => {
              await before(signal);
              changes.push(`${name} ${list}`);
              await working(text.replace(list, wanted, signal));
              await save(signal);
            },
          },
        }),
    save,
    prepare: async (list, prefixes, signal) => {
      await refuseTooMany(list, prefixes, signal);
      return undefined;
    },
    read: async (list, signal) => {
      await before(signal);
      return working(driver.read(list, signal));
    },
    lists: async (signal) => {
      await before(signal);
      return working(driver.lists(signal));
    },
    remove: async (list, signal) => {
      await before(signal);
      await working(driver.remove(list, signal));
      await save(signal);
    },
    replace: async (list, prefixes, signal, options) => {
      await before(signal);
      await refuseTooMany(list, prefixes, signal);
      if (behaviours.get(name) === 'narrow thrice' && changes.filter((change) => change.startsWith(name)).length >= 3)
        await untilAborted(signal);
      changes.push(`${name} ${list}`);
      await working(driver.replace(list, prefixes, signal, options));
      await save(signal);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new RouterFailure('timed-out', 'no answer', { cause: signal.reason }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
