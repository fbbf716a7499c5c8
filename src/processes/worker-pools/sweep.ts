import type { CommandContext } from '../../commands/aggregate.ts';
import { Ages } from '../../concurrency/ages.ts';
import type { ProviderAccounts, WorkerPools, Workers } from '../../commands/worker-pools/aggregates.ts';
import { sameJson } from '../../commands/worker-pools/same-json.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CloudInstance } from '../../ports/clouds.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { VISIBLE_AFTER_MILLISECONDS } from './create-instance.ts';
import { REPORTS_MILLISECONDS } from './instance-lifecycle.ts';
import type { AccountOfRun, WithAccount } from './provider-accounts.ts';

/** A run that has an instance by the log. */
export type ExpectedRun = Readonly<{ worker: string; run: string; instanceCreatedAt: string }>;

/** One account with one configuration, and the runs that have an instance there by the log. */
export type SweptAccount = AccountOfRun & Readonly<{ expected: readonly ExpectedRun[] }>;

export type SweepDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  providerAccounts: ProviderAccounts;
  store: Pick<EventStore, 'read'>;
  withAccount: WithAccount;
  installation: () => Promise<string>;
  /** Every run that has a place in a pool. */
  activeRuns: () => Promise<ReadonlySet<string>>;
  /** Whether the log may be taken for the whole truth: a restored one does not know what came after its copy was made. */
  isLogWhole: () => Promise<boolean>;
  /** When this server last heard of a worker, in monotonic milliseconds. */
  lastHeard: (worker: string) => number | undefined;
  clock: Clock;
  log: Log;
}>;

/** Compares one account with the log. */
export type SweepAccount = (account: SweptAccount, signal: AbortSignal) => Promise<void>;

/**
 * Opens the comparison of provider accounts with the log, for one server's term. An instance of ours whose run is over or unknown is ended; a
 * run whose instance is gone is closed. Both only when two listings, a minute and more apart, say the same of something that is older than
 * the time in which a provider's reads may lag; a listing that fails says nothing.
 */
export function openSweep(dependencies: SweepDependencies): SweepAccount {
  const sightings = new Map<string, Sightings>();
  return async (account, signal) => {
    const { providerAccount, accountConfiguration = {} } = account;
    const place = `${providerAccount} ${canonicalJson(accountConfiguration)}`;
    const seen = sightings.get(place) ?? { unknown: new Set(), missing: new Set(), ages: new Ages(dependencies.clock) };
    sightings.set(place, seen);
    await sweep(account, seen, signal, dependencies);
  };
}

/** What the listing before has shown: runs with an instance and without a place, and the other way round. */
type Sightings = { unknown: ReadonlySet<string>; missing: ReadonlySet<string>; readonly ages: Ages };

async function sweep(
  account: SweptAccount,
  before: Sightings,
  signal: AbortSignal,
  dependencies: SweepDependencies,
): Promise<void> {
  const { withAccount, installation, activeRuns, isLogWhole, log } = dependencies;
  const { providerAccount, expected } = account;
  const context = { actor: 'system:sweep', requestId: `sweep/${providerAccount}` };
  const mark = await installation();
  // The provider first: what it shows and the log does not is no instance whose run was recorded meanwhile.
  const listed = await withAccount(account, (cloud) => cloud.list(mark, signal));
  const ageOf = before.ages.look();
  const isOld = ({ run, createdAt }: Readonly<{ run: string; createdAt: string }>): boolean =>
    ageOf(`${run} ${createdAt}`, epochMilliseconds(createdAt)) >= VISIBLE_AFTER_MILLISECONDS;
  const runs = new Map<string, CloudInstance[]>();
  for (const instance of listed) runs.set(instance.run, [...(runs.get(instance.run) ?? []), instance]);
  const unknown: CloudInstance[] = [];
  for (const instance of listed) {
    const ofRun = runs.get(instance.run) ?? [];
    if (ofRun.length > 1 && (await isSurplus(instance, ofRun, dependencies))) {
      if (instance.state !== 'ended' && isOld(instance)) unknown.push(instance);
    } else if (instance.state === 'ended') await closeEnded(instance, context, dependencies);
    else if (isOld(instance) && !(await isKnown(instance, dependencies))) unknown.push(instance);
  }
  const missing = expected.filter(
    ({ run, instanceCreatedAt }) => !runs.has(run) && isOld({ run, createdAt: instanceCreatedAt }),
  );
  const mayEnd = unknown.length === 0 || (await isLogWhole());
  for (const instance of mayEnd ? unknown : []) {
    if (!before.unknown.has(instance.run)) continue;
    await endUnknown(account, instance, context, signal, dependencies);
  }
  for (const known of missing) {
    if (before.missing.has(known.run)) await closeVanished(account, known, context, signal, dependencies);
  }
  before.unknown = new Set(unknown.map(({ run }) => run));
  before.missing = new Set(missing.map(({ run }) => run));
  const active = await activeRuns();
  const isOver = (left: Readonly<{ run: string; createdAt: string }>): boolean => !active.has(left.run) && isOld(left);
  const removed = await withAccount(account, (cloud) => cloud.removeLeftovers(mark, isOver, signal));
  if (removed > 0)
    log.info({ account: providerAccount, removed }, 'what launches left behind at a provider is removed');
}

/** A run is known while it has its place in the pool's stream: from its reservation until it has ended. */
async function isKnown(
  { pool, run }: Pick<CloudInstance, 'pool' | 'run'>,
  { workerPools }: SweepDependencies,
): Promise<boolean> {
  return (await workerPools.state(pool)).state.slots.some((slot) => slot.run === run && slot.isActive);
}

/** One that a provider made beside the one that is recorded for the run, which is there as well. */
async function isSurplus(
  { worker, run, data }: CloudInstance,
  ofRun: readonly CloudInstance[],
  { workers }: SweepDependencies,
): Promise<boolean> {
  const { instance } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created === undefined) return false;
  const { workerPoolData: recorded } = instance.created;
  return !sameJson(data, recorded) && ofRun.some((other) => sameJson(other.data, recorded));
}

/** The provider shows that it has ended: its account is closed at the provider's instant. */
async function closeEnded(
  { worker, run, endedAt, because }: Pick<CloudInstance, 'worker' | 'run' | 'endedAt' | 'because'>,
  context: CommandContext,
  { workers, clock }: SweepDependencies,
): Promise<void> {
  const { instance } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created === undefined) return;
  const end = { run, because: because ?? 'the provider ended it', at: endedAt ?? clock.nowText() };
  await workers.handle(worker, { type: 'RecordInstanceTerminated', data: end }, context);
}

/** A listing goes by marks, which may be lost, here or there: a run is closed only when its instance is asked for by itself and is not there. */
async function closeVanished(
  account: SweptAccount,
  { worker, run }: ExpectedRun,
  context: CommandContext,
  signal: AbortSignal,
  dependencies: SweepDependencies,
): Promise<void> {
  const { workers, withAccount, lastHeard, clock, log } = dependencies;
  const about = { account: account.providerAccount, worker, run };
  const { instance } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created === undefined) return;
  const { workerPoolData } = instance.created;
  try {
    const found = await withAccount(account, (cloud) => cloud.inspect(workerPoolData, signal));
    if (found?.state === 'ended') return await closeEnded({ ...found, worker, run }, context, dependencies);
    if (found !== undefined) {
      log.error(
        { ...about, found },
        'an instance is there that the listing by the mark of this installation does not show; its run goes on',
      );
      return;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ ...about, error }, 'an instance that is not listed could not be asked for by itself');
    return;
  }
  const heard = lastHeard(worker);
  if (heard !== undefined && clock.monotonicMilliseconds() - heard < REPORTS_MILLISECONDS) {
    log.error(
      about,
      'an instance reports that its provider does not show: are the credentials those of another account?',
    );
    return;
  }
  const end = { run, because: 'the provider shows no such instance any more', at: clock.nowText() };
  const answer = await workers.handle(worker, { type: 'RecordInstanceTerminated', data: end }, context);
  if (!isRefusal(answer) && answer.events.length > 0) log.warn({ worker, run }, 'an instance has vanished');
}

async function endUnknown(
  account: SweptAccount,
  { pool, worker, run, data: instance, createdAt }: CloudInstance,
  context: CommandContext,
  signal: AbortSignal,
  { withAccount, providerAccounts, store, clock, log }: SweepDependencies,
): Promise<void> {
  const { providerAccount } = account;
  try {
    const { endedAt } = await withAccount(account, (cloud) => cloud.terminate(instance, signal));
    const ended = { providerAccount, pool, worker, run, instance: { ...instance }, createdAt };
    const accountedUntil = await endInLog(worker, run, instance, store);
    const accounted = accountedUntil === undefined ? ended : { ...ended, accountedUntil };
    const data = { ...accounted, endedAt: endedAt ?? clock.nowText() };
    await providerAccounts.handle(providerAccount, { type: 'RecordUnknownInstanceEnded', data }, context);
    log.warn(
      { account: providerAccount, worker, run, createdAt },
      'an instance that belonged to no run was found and ended',
    );
  } catch (error) {
    // One that can't be ended keeps none of the others from it; it is looked at again in the next round.
    if (signal.aborted) throw error;
    log.error(
      { account: providerAccount, worker, run, error },
      'an instance that belongs to no run could not be ended',
    );
  }
}

/** When this instance of the run was taken for gone; `undefined`: it is not the one that is recorded for the run. */
async function endInLog(
  worker: string,
  run: string,
  instance: CloudInstance['data'],
  store: SweepDependencies['store'],
): Promise<string | undefined> {
  let isRecorded = false;
  for await (const page of store.read(streamName('worker', worker))) {
    for (const event of page) {
      if (!isOfInstance(event) || event.data.run !== run) continue;
      if (event.type === 'InstanceCreated') isRecorded = sameJson(event.data.workerPoolData, instance);
      else if (isRecorded) return event.data.terminatedAt;
    }
  }
  return undefined;
}

type OfInstance = Extract<WorkerEvent, { type: 'InstanceCreated' | 'InstanceTerminated' }>;

function isOfInstance(event: RecordedEvent): event is RecordedEvent<OfInstance> {
  return event.type === 'InstanceCreated' || event.type === 'InstanceTerminated';
}
