import { isRefusal } from '../../kernel/decider.ts';
import type { Ids } from '../../ports/ids.ts';
import type { CommandContext } from '../handle.ts';
import type { Scopes, Workers, WorkerPools } from './aggregates.ts';
import type { Launch, ScalingDecision, Termination } from '../../domain/worker-pools/scaling/decision.ts';

export type CarryOutScalingDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  scopes: Scopes;
  ids: Ids;
}>;

/** What came of a decision. Less than was decided where others were faster: they are decided about anew. */
export type CarriedOut = Readonly<{ reserved: readonly string[]; ending: readonly string[] }>;

/**
 * Carries out a scaling decision: keeps it with its reasons, takes places for the launches (never past a pool's bound, whatever
 * other runs of scaling do meanwhile), and asks for the terminations (never of a running task).
 */
export async function carryOutScaling(
  decision: ScalingDecision,
  pools: readonly string[],
  at: string,
  context: CommandContext,
  dependencies: CarryOutScalingDependencies,
): Promise<CarriedOut> {
  const reserved: string[] = [];
  for (const pool of pools) {
    await keepReasons(pool, decision, at, context, dependencies);
    const launches = decision.launches.filter((launch) => launch.pool === pool);
    for (const launch of launches) reserved.push(...(await reserve(launch, at, context, dependencies)));
  }
  for (const refusal of decision.refusals) {
    if (refusal.pool !== null) continue;
    const { scope, architecture, unmet, because } = refusal;
    const data = { architecture, unmet, because, at };
    await dependencies.scopes.handle(scope, { type: 'RecordScalingRefusal', data }, context);
  }
  const ending: string[] = [];
  for (const termination of decision.terminations) {
    if (await end(termination, at, context, dependencies)) ending.push(termination.worker);
  }
  return { reserved, ending };
}

async function keepReasons(
  pool: string,
  { launches, terminations, refusals }: ScalingDecision,
  decidedAt: string,
  context: CommandContext,
  { workerPools }: CarryOutScalingDependencies,
): Promise<void> {
  const data = {
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
  { workerPools, ids }: CarryOutScalingDependencies,
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
  { workers }: CarryOutScalingDependencies,
): Promise<boolean> {
  const data = { code, because, forced: false, at };
  return !isRefusal(await workers.handle(worker, { type: 'RequestTermination', data }, context));
}
