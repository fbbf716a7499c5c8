import type { CommandContext } from '../../commands/aggregate.ts';
import {
  decideScaling,
  type Launch,
  type LaunchRefusal,
  nothingDone,
  type NothingDone,
  type ScalingDecision,
  type Termination,
} from '../../domain/worker-pools/scaling/decision.ts';
import type { PendingTasks } from '../../domain/worker-pools/scaling/snapshot.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { type BootTimes, scalingSnapshot, type ScalingSnapshotDependencies } from './scaling-snapshot.ts';

/** What came of a decision. Less than was decided where others were faster: the next decision looks at what they did. */
export type ScalingApplied = Readonly<{ reserved: readonly string[]; ending: readonly string[] }>;

/** What was decided, and what came of it: nothing in a dry run. */
export type Scaled = Readonly<{ decision: ScalingDecision; applied: ScalingApplied }>;

/** A decision, and why nothing is done where it does nothing. */
type Explained = ScalingDecision & Readonly<{ nothing?: readonly NothingDone[] }>;

export type ApplyScalingDependencies = Pick<Application, 'workerPools' | 'workers' | 'scopes' | 'ids' | 'clock'>;

export type ScaleDependencies = ApplyScalingDependencies & ScalingSnapshotDependencies;

/** Decides from a queue what to launch and to end and, but for a dry run, applies it. */
export async function scale(
  queue: readonly PendingTasks[],
  { dryRun, ...bootTimes }: BootTimes & Readonly<{ dryRun: boolean }>,
  context: CommandContext,
  dependencies: ScaleDependencies,
): Promise<Scaled> {
  const snapshot = await scalingSnapshot(queue, bootTimes, dependencies);
  const decision = decideScaling(snapshot);
  if (dryRun) return { decision, applied: { reserved: [], ending: [] } };
  const pools = snapshot.pools.map(({ name }) => name);
  const explained = { ...decision, nothing: nothingDone(decision, snapshot) };
  return { decision, applied: await applyScaling(explained, pools, context, dependencies) };
}

/**
 * Applies a scaling decision: keeps it with its reasons in each of `pools`, takes places for the launches (never past a pool's bound,
 * whatever other runs of scaling do meanwhile), and asks for the terminations (never of a running task). Where a pool's records fail, the
 * other pools get theirs all the same. @throws the first failure, when all has been tried
 */
export async function applyScaling(
  decision: Explained,
  pools: readonly string[],
  context: CommandContext,
  dependencies: ApplyScalingDependencies,
): Promise<ScalingApplied> {
  const at = dependencies.clock.nowText();
  const reserved: string[] = [];
  const ending: string[] = [];
  const applyTo = async (pool: string): Promise<void> => {
    await keepReasons(pool, decision, at, context, dependencies);
    for (const launch of decision.launches) {
      if (launch.pool === pool) reserved.push(...(await reserve(launch, at, context, dependencies)));
    }
    for (const termination of decision.terminations) {
      if (termination.pool !== pool) continue;
      if (await end(termination, at, context, dependencies)) ending.push(termination.worker);
    }
  };
  const recordRefusal = async ({ scope, architecture, unmet, because }: LaunchRefusal): Promise<void> => {
    const data = { architecture, unmet, because, at };
    await dependencies.scopes.handle(scope, { type: 'RecordScalingRefusal', data }, context);
  };
  const ofNoPool = decision.refusals.filter(({ pool }) => pool === null);
  await eachTried([
    ...pools.map((pool) => () => applyTo(pool)),
    ...ofNoPool.map((refusal) => () => recordRefusal(refusal)),
  ]);
  return { reserved, ending };
}

/** One after the other, each of them whatever became of those before. */
async function eachTried(parts: readonly (() => Promise<void>)[]): Promise<void> {
  let failed: Readonly<{ first: unknown }> | undefined;
  for (const part of parts) {
    try {
      await part();
    } catch (error) {
      failed ??= { first: error };
    }
  }
  if (failed !== undefined) throw failed.first;
}

async function keepReasons(
  pool: string,
  { launches, terminations, refusals, nothing = [] }: Explained,
  decidedAt: string,
  context: CommandContext,
  { workerPools }: ApplyScalingDependencies,
): Promise<void> {
  const [idle] = nothing.filter(({ pool: of }) => of === pool);
  const data = {
    ...(idle === undefined ? {} : { nothing: { code: idle.code, because: idle.because } }),
    decidedAt,
    launches: launches.flatMap(({ pool: of, ...launch }) => (of === pool ? [launch] : [])),
    terminations: terminations.flatMap(({ pool: of, ...termination }) => (of === pool ? [termination] : [])),
    refusals: refusals.flatMap(({ pool: of, ...refusal }) => (of === pool ? [refusal] : [])),
  };
  await workerPools.handle(pool, { type: 'RecordScalingDecision', data }, context);
}

async function reserve(
  { pool, count, because }: Launch,
  at: string,
  context: CommandContext,
  { workerPools, ids }: ApplyScalingDependencies,
): Promise<readonly string[]> {
  const runs = Array.from({ length: count }, () => ids.uuid());
  const data = { runs, because, at, partly: true };
  const answer = await workerPools.handle(pool, { type: 'ReserveInstances', data }, context);
  if (isRefusal(answer)) return [];
  return answer.events.flatMap((event) => (event.type === 'InstanceReserved' ? [event.data.worker] : []));
}

async function end(
  { worker, code, because }: Termination,
  at: string,
  context: CommandContext,
  { workers }: ApplyScalingDependencies,
): Promise<boolean> {
  const data = { code, because, forced: false, at };
  return !isRefusal(await workers.handle(worker, { type: 'RequestTermination', data }, context));
}
