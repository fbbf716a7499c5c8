import { scale, type ScaleDependencies } from '../application/worker-pools/apply-scaling.ts';
import { pendingTasks } from '../application/worker-pools/scaling-snapshot.ts';
import { judgeSilence } from '../application/worker-pools/silent-workers.ts';
import { Ages } from '../concurrency/ages.ts';
import type { WorkersUrl } from '../domain/worker-pools/workers-url.ts';
import { canonicalJson } from '../events/hash-chain.ts';
import { levelOfFailure } from '../ports/event-store.ts';
import type { ExpectedRun, SweepAccount, SweptAccount } from '../processes/worker-pools/sweep.ts';
import type { Reached, ServerTools } from './process-wiring.ts';
import { viewsShow } from './views-show.ts';

export type PoolEngineOptions = Readonly<{
  sweepAccount: SweepAccount;
  workersUrl: WorkersUrl;
  /** Between two decisions, where nothing happens that asks for one. */
  decideEveryMilliseconds: number;
  reached: Reached;
}>;

/** Between two comparisons of one account with the log. */
const SWEEP_MILLISECONDS = 60_000;
/** What happens together is decided on together. */
const DECISION_REST_MILLISECONDS = 1_000;
const RETRY_MILLISECONDS = 1_000;
/** A decision that could not be made or recorded as a whole is not put off to the next round: what idles costs meanwhile. */
const DECISION_RETRY_MILLISECONDS = 5_000;
/** What an instance is expected to take from its creation to its first task, and to its first report at most. */
const BOOT_TIMES = { bootSeconds: 120, bootTimeoutSeconds: 1_800 } as const;

/** After these another decision may be due at once. */
const BELLS: ReadonlySet<string> = new Set([
  'WorkRequestSubmitted',
  'WorkRequestReturned',
  'WorkRequestCancelled',
  'TaskFinished',
  'WorkerConnected',
  'InstanceReleased',
  'WorkerPoolCreated',
  'WorkerPoolEdited',
  'WorkerPoolScopeAdmitted',
  'ScopeWorkerPoolEdited',
  'AssetConfigured',
  'AssetCredentialsReplaced',
]);

/**
 * Runs the pools for as long as one server leads: decides in its rhythm and on demand what to launch and to end, and compares each provider
 * account with the log each minute. Accounts are looked at beside each other: one that hangs holds up itself.
 */
export async function runPoolEngine(
  tools: ServerTools,
  options: PoolEngineOptions,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const early = openBell();
  await Promise.all([
    decideOnAndOn(tools, options, stop, abort),
    sweepOnAndOn(tools, options, early, stop, abort),
    judgeSilenceOnceShown(tools, options, early.ring, stop, abort),
  ]);
}

async function decideOnAndOn(
  tools: ServerTools,
  options: PoolEngineOptions,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { clock, log } = tools;
  const bell = openBell();
  const ringing = ringOnEvents(bell.ring, tools, stop);
  const ages = new Ages(clock);
  while (!stop.aborted) {
    bell.hush();
    let nextIn = options.decideEveryMilliseconds;
    try {
      await decide(tools, ages, options);
    } catch (error) {
      nextIn = Math.min(nextIn, DECISION_RETRY_MILLISECONDS);
      if (!abort.aborted)
        log[levelOfFailure(error)](
          { error },
          'what to launch and to end could not be decided as a whole; trying again',
        );
    }
    await clock.wait(DECISION_REST_MILLISECONDS, stop).catch(() => undefined);
    await bell.rung(nextIn - DECISION_REST_MILLISECONDS, clock, stop);
  }
  await ringing;
}

async function decide(tools: ServerTools, ages: Ages, { workersUrl, reached }: PoolEngineOptions): Promise<void> {
  const { aggregates, views, clock, ids } = tools;
  const catchUp = (): Promise<void> => viewsShow(tools, reached);
  const dependencies: ScaleDependencies = { ...aggregates, views, clock, ids, catchUp, workersUrl, ages };
  const context = { actor: 'system:scaling', requestId: `scaling/${clock.nowText()}` };
  await catchUp();
  const queue = pendingTasks((await views.openWork.list()).map(({ view }) => view));
  await scale(queue, { ...BOOT_TIMES, dryRun: false }, context, dependencies);
}

/** An event that the reading leaves out costs the time until the next decision: what is decided goes by the views, not by what rang. */
async function ringOnEvents(ring: () => void, { store, clock, log }: ServerTools, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      for await (const page of store.follow(await store.end(), stop)) {
        if (page.some(({ type }) => BELLS.has(type))) ring();
      }
    } catch (error) {
      if (stop.aborted) return;
      log.debug({ error }, 'what asks for a decision can not be seen; trying again');
      await clock.wait(RETRY_MILLISECONDS, stop).catch(() => undefined);
    }
  }
}

type Bell = Readonly<{
  ring: () => void;
  hush: () => void;
  /** Resolves when it has rung since it was hushed, or after the time, or on `stop`. */
  rung: (milliseconds: number, clock: Pick<ServerTools['clock'], 'wait'>, stop: AbortSignal) => Promise<void>;
}>;

function openBell(): Bell {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    hush: () => void (rung = new AbortController()),
    rung: (milliseconds, clock, stop) =>
      clock.wait(Math.max(0, milliseconds), AbortSignal.any([rung.signal, stop])).catch(() => undefined),
  };
}

async function sweepOnAndOn(
  tools: ServerTools,
  { sweepAccount, reached }: PoolEngineOptions,
  early: Bell,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { clock, log } = tools;
  const underWay = new Map<string, Promise<void>>();
  while (!stop.aborted) {
    early.hush();
    try {
      await viewsShow(tools, reached);
      for (const [place, account] of await sweptAccounts(tools)) {
        // One that is not done with the round before has this one as well.
        if (!underWay.has(place)) underWay.set(place, sweepOne(place, account));
      }
    } catch (error) {
      if (!abort.aborted)
        log[levelOfFailure(error)]({ error }, 'which provider accounts there are could not be read; trying again');
    }
    await early.rung(SWEEP_MILLISECONDS, clock, stop);
  }
  await Promise.all(underWay.values());

  async function sweepOne(place: string, account: SweptAccount): Promise<void> {
    try {
      await sweepAccount(account, abort);
    } catch (error) {
      const fields = { account: account.providerAccount, error };
      if (!abort.aborted) log.warn(fields, 'what a provider account holds could not be compared with the log');
    } finally {
      underWay.delete(place);
    }
  }
}

/** Views that show half of what the log tells of workers would have workers given up that were heard of. */
async function judgeSilenceOnceShown(
  tools: ServerTools,
  { reached }: PoolEngineOptions,
  ask: () => void,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<void> {
  const { aggregates, clock, log } = tools;
  while (!stop.aborted) {
    try {
      await viewsShow(tools, reached);
      return await judgeSilence({ ...tools, workers: aggregates.workers }, ask, stop, abort);
    } catch (error) {
      if (!abort.aborted)
        log[levelOfFailure(error)]({ error }, 'which workers are silent can not be judged yet; trying again');
      // Views that can't go on say so at once.
      await clock.wait(DECISION_REST_MILLISECONDS, stop).catch(() => undefined);
    }
  }
}

/** Every account as it is configured now, and as it was for the runs that have an instance: a region that was left still holds them. */
async function sweptAccounts({ aggregates, views }: ServerTools): Promise<ReadonlyMap<string, SweptAccount>> {
  const places = new Map<string, SweptAccount & Readonly<{ expected: ExpectedRun[] }>>();
  const placeOf = (providerAccount: string, configuration: Readonly<Record<string, unknown>>) => {
    const place = `${providerAccount} ${canonicalJson(configuration)}`;
    const known = places.get(place) ?? { providerAccount, accountConfiguration: configuration, expected: [] };
    places.set(place, known);
    return known;
  };
  for (const { view } of await views.assets.list()) {
    if (view.category === 'cloud-provider-account') placeOf(view.name, view.configuration);
  }
  for (const { view } of await views.workers.list()) {
    if (view.instanceCreatedAt === null) continue;
    const { instance } = (await aggregates.workers.state(view.worker)).state;
    if (instance?.created === undefined) continue;
    const { providerAccount, run, created } = instance;
    const present = (await views.assets.get(providerAccount))?.configuration ?? {};
    const { expected } = placeOf(providerAccount, instance.accountConfiguration ?? present);
    expected.push({ worker: view.worker, run, instanceCreatedAt: created.instanceCreatedAt });
  }
  return places;
}
