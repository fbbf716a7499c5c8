import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteEventStore } from '../../src/adapters/sqlite/event-store.ts';
import { createLog } from '../../src/adapters/log.ts';
import { epochMilliseconds } from '../../src/domain/instants.ts';
import { createCodec } from '../../src/events/codec.ts';
import { EVENT_CATALOGUE } from '../../src/main/contexts.ts';
import { type WorkerEvent, workerEvents } from '../../src/events/worker-pools/worker.ts';
import { type WorkRequestEvent, workRequestEvents } from '../../src/events/worker-pools/work-request.ts';
import { isHandled } from '../../src/kernel/event.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { randomFrom } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type EngineServer, type LoadedServer, loadServer, ServerGone } from './engine/engine-server.ts';
import type { PoolsCall } from './engine/messages.ts';
import { explainPaidSeconds, type PaidSeconds, type Span } from './engine/paid-seconds.ts';
import { playAgents } from './engine/played-agents.ts';
import { playProviders } from './engine/played-providers.ts';

export type EngineRun = Readonly<{
  seed: number;
  hours: number;
  pools: number;
  /** On average; most work comes by day. */
  tasksPerHour: number;
  /** Whether it ends after the hour that runs. */
  isStopped: () => boolean;
  /** Told after each hour. `explained`: what the log explains by then. */
  progress?: (hour: number, explained: () => Promise<PaidSeconds>) => void | Promise<void>;
}>;

/** What came of it. Seconds are the provider's own. */
export type EngineReport = Readonly<{
  launched: number;
  /** Runs that only the provider has, or only the log, when faults have ceased and instances still run. */
  onlyThere: readonly string[];
  onlyInTheLog: readonly string[];
  /** How many run at that moment. */
  running: number;
  /** Instances that the provider still has when all is ended. */
  leaked: number;
  paidSeconds: number;
  accountedSeconds: number;
  explained: PaidSeconds;
  /** Moments at which a pool had more instances at its provider than its bound. */
  boundsPassed: number;
  /** Servers that were killed, and those of them in the middle of calls to a provider. */
  kills: number;
  killsInCalls: number;
  /** How often each fault was played. */
  faults: Readonly<Record<string, number>>;
  /** Agents that hung while their instance ran on. */
  muted: number;
  /** Records of the engine that failed. */
  failedRecords: number;
  succeeded: number;
  failed: number;
  unfinished: number;
  events: number;
}>;

const ACCOUNTS = ['north', 'east', 'west'];
const START = '2026-11-01T07:00:00.000Z';
const MAX_ACTIVE = 4;
const STEP_SECONDS = 60;
const MONTH_SECONDS = 400_000;

/**
 * Runs pools for some hours: faults of every kind, and the server's process killed once in each of them. What is killed is the engine over
 * its files; the providers, the workers' agents and the clock are this process and live on.
 */
export async function runEngine(given: EngineRun): Promise<EngineReport> {
  const folder = await temporaryFolder();
  const run = openRun(given, folder.path);
  try {
    return await run.report();
  } finally {
    await run.end();
    await folder.remove();
  }
}

function openRun({ seed, hours, pools, tasksPerHour, isStopped, progress }: EngineRun, folder: string) {
  const random = randomFrom(seed);
  const providers = playProviders(ACCOUNTS, random);
  const agents = playAgents(providers, random);
  const records = poolsOf(pools);
  let now = epochMilliseconds(START);
  let [kills, killsInCalls, failedRecords, failedOfServer, boundsPassed] = [0, 0, 0, 0, 0];
  const away: Span[] = [];
  let next: LoadedServer | undefined = loadServer(providers.answer);
  let server: EngineServer | undefined;

  return { report, end };

  async function end(): Promise<void> {
    await Promise.all([server?.kill(), next?.kill()]);
  }

  async function report(): Promise<EngineReport> {
    let serving = await started();
    await serving.found({ pools: records });
    providers.setFaulty(true);
    for (let hour = 0; hour < hours && !isStopped(); hour += 1) {
      const killedIn = Math.floor(random() * 60);
      for (let minute = 0; minute < 60; minute += 1) {
        if (minute === killedIn) {
          serving = await killedInMinute(serving);
          await serving.edit({ accounts: ACCOUNTS, pools: records.map(({ name }) => name), hour });
          continue;
        }
        await submit(serving, hour);
        await minuteOf(serving, true);
      }
      await progress?.(hour, () => explainedUntil(now));
    }
    providers.setFaulty(false);
    // What was uncertain comes to its end within some minutes, while work goes on.
    for (let minute = 0; minute < 30; minute += 1) {
      await submit(serving, 0);
      await minuteOf(serving, false);
    }
    const there = new Set(providers.living().map(({ run }) => run));
    const inTheLog = await withLog(folder, runsInTheLog);
    // Nothing more is submitted: everything comes to its end.
    for (let minute = 0; minute < 240; minute += 1) await minuteOf(serving, false);
    const accounts = Object.values(await serving.accounts());
    await serving.stop();
    server = undefined;
    const all = providers.everyInstance();
    const paid = all.map(
      ({ createdAt, endedAt }) => epochMilliseconds(endedAt ?? createdAt) - epochMilliseconds(createdAt),
    );
    return {
      launched: all.length,
      onlyThere: [...there].filter((one) => !inTheLog.has(one)),
      onlyInTheLog: [...inTheLog].filter((one) => !there.has(one)),
      running: there.size,
      leaked: providers.living().length,
      paidSeconds: sum(paid) / 1000,
      accountedSeconds: sum(accounts) / 1000,
      explained: await explainedUntil(Infinity),
      boundsPassed,
      kills,
      killsInCalls,
      faults: providers.played(),
      muted: agents.muted(),
      failedRecords,
      ...(await withLog(folder, countsOf)),
    };
  }

  async function explainedUntil(until: number): Promise<PaidSeconds> {
    return withLog(folder, (store) => explainPaidSeconds(store.readAll(-1n), { away, until }));
  }

  async function started(): Promise<EngineServer> {
    const loaded = next ?? loadServer(providers.answer);
    failedOfServer = 0;
    server = await loaded.start({ folder, now: instant(now), seed: seed + kills });
    next = loadServer(providers.answer);
    return server;
  }

  /** A minute as any other, within which the process is killed wherever it is; some seconds later there is another one. */
  async function killedInMinute(serving: EngineServer): Promise<EngineServer> {
    const minute = minuteOf(serving, true).catch((error: unknown) => {
      if (!(error instanceof ServerGone)) throw error;
    });
    // At any moment, or in the middle of a call to a provider.
    if (random() < 0.4) {
      await pause(random() * 40);
    } else {
      const killedInCall = (): void => {
        killsInCalls += 1;
        void serving.kill();
      };
      providers.onCall(1 + Math.floor(random() * 6), killedInCall);
      await minute;
    }
    await serving.kill();
    await minute;
    kills += 1;
    // How far it came within its last minute is not known.
    const from = now;
    now += STEP_SECONDS * 1000 + Math.floor(random() * 90_000);
    away.push({ from, to: now });
    return started();
  }

  async function submit(serving: EngineServer, hour: number): Promise<void> {
    const isDay = hour % 24 < 10;
    const share = isDay ? 2 : 0.3;
    for (let due = (tasksPerHour * share) / 60; random() < due; due -= 1) {
      const scope = `scope-${Math.floor(random() * 3)}`;
      await serving.submit({ scope, expectedSeconds: 120 + Math.floor(random() * 1_800) });
    }
  }

  async function minuteOf(serving: EngineServer, isFaulty: boolean): Promise<void> {
    const at = instant(now);
    providers.passTo(at);
    if (isFaulty) {
      for (const { run } of providers.living()) if (random() < 0.0005) providers.interrupt(run);
    }
    await agents.act(serving, at, STEP_SECONDS);
    const passed = await serving.pass({ seconds: STEP_SECONDS, heard: [...agents.heard()], failing: isFaulty });
    now = epochMilliseconds(passed.now);
    failedRecords += passed.failedRecords - failedOfServer;
    failedOfServer = passed.failedRecords;
    const living = providers.living();
    boundsPassed += records.filter(({ name }) => living.filter(({ pool }) => pool === name).length > MAX_ACTIVE).length;
  }
}

function poolsOf(count: number): PoolsCall['pools'] {
  return Array.from({ length: count }, (_, index) => ({
    name: `pool-${index}`,
    account: ACCOUNTS[index % ACCOUNTS.length] ?? '',
    scope: `scope-${index % 3}`,
    priority: index,
    ephemeral: index % 5 === 4,
    maxActive: MAX_ACTIVE,
    maxIdleSeconds: index % 2 === 0 ? 600 : 1_800,
    // Some have used their month before it is over.
    monthSeconds: index % 4 === 3 ? MONTH_SECONDS : null,
  }));
}

/** The log as another process finds it, whoever writes it. */
async function withLog<T>(folder: string, look: (store: EventStore) => Promise<T>): Promise<T> {
  const log = createLog({ level: 'silent' });
  const store = openSqliteEventStore({ file: join(folder, 'events.db'), codec: createCodec(EVENT_CATALOGUE), log });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** The runs that have an instance by the log. */
async function runsInTheLog(store: EventStore): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  for await (const page of store.readAll(-1n)) {
    for (const event of page) {
      if (!isHandled<WorkerEvent>(OF_WORKERS, event)) continue;
      if (event.type === 'InstanceCreated') runs.add(event.data.run);
      if (event.type === 'InstanceTerminated') runs.delete(event.data.run);
    }
  }
  return runs;
}

/** How many events there are, and how the work has ended. */
async function countsOf(
  store: EventStore,
): Promise<Pick<EngineReport, 'events' | 'succeeded' | 'failed' | 'unfinished'>> {
  const counts = { events: 0, succeeded: 0, failed: 0, unfinished: 0 };
  for await (const page of store.readAll(-1n)) {
    counts.events += page.length;
    for (const event of page) {
      if (!isHandled<WorkRequestEvent>(OF_WORK, event)) continue;
      if (event.type === 'WorkRequestSubmitted') counts.unfinished += 1;
      if (event.type !== 'WorkRequestFinished') continue;
      counts.unfinished -= 1;
      counts[event.data.outcome] += 1;
    }
  }
  return counts;
}

const OF_WORKERS: ReadonlySet<string> = new Set(workerEvents.map(({ type }) => type));
const OF_WORK: ReadonlySet<string> = new Set(workRequestEvents.map(({ type }) => type));

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
