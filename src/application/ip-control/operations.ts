import { epochMilliseconds } from '../../domain/instants.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { AskedOperation, OperationView } from '../../projections/ip-control/operation-view.ts';
import type { Application } from '../application.ts';
import { notFound } from './lookups.ts';

/** What was asked for, and how far it is. `result`: what came of it, where it has ended. */
export type Operation = Readonly<{
  id: string;
  kind: AskedOperation['kind'];
  state: 'running' | 'succeeded' | 'failed';
  region: string | number;
  router: string | null;
  commitSetId: string | null;
  requestedAt: string;
  by: string;
  result: object | null;
}>;

/** A router that is drained gets so long for that; a server that ended meanwhile does not go on with it. */
const DRAIN_MILLISECONDS = 3_600_000;

type OperationDependencies = Pick<Application, 'regions' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'operations' | 'commits'> }>;

/** An operation by the correlation id of its command, as the events that followed tell it. */
export async function showOperation(id: string, dependencies: OperationDependencies): Promise<Operation | Refusal> {
  const asked = await dependencies.views.operations.get(`asked/${id}`);
  if (asked === undefined || asked.kind === 'checked') return notFound(`operation ${id} not found.`, 'id');
  const { kind, regionId, requestedAt, by } = asked;
  const { state: region } = await dependencies.regions.state(regionId);
  return {
    id,
    kind,
    ...(await outcomeOf(asked, dependencies)),
    region: region.phase === 'created' ? region.name : regionId,
    router: 'router' in asked ? asked.router : null,
    commitSetId: 'commitSetId' in asked ? asked.commitSetId : null,
    requestedAt,
    by,
  };
}

async function outcomeOf(
  asked: Exclude<OperationView, { kind: 'checked' }>,
  { views, regions, clock }: OperationDependencies,
): Promise<Pick<Operation, 'state' | 'result'>> {
  switch (asked.kind) {
    case 'check':
    case 'prune': {
      const ended = await views.operations.get(`check/${asked.checkId}`);
      if (ended === undefined || ended.kind !== 'checked') return { state: 'running', result: null };
      const { result } = ended;
      return { state: result.problems.length > 0 ? 'failed' : 'succeeded', result };
    }
    case 'enable': {
      const { state } = await regions.state(asked.regionId);
      const phase = state.phase === 'created' ? state.routers.get(asked.router)?.phase : undefined;
      if (phase === 'catching-up') return { state: 'running', result: null };
      return { state: phase === 'enabled' ? 'succeeded' : 'failed', result: { phase: phase ?? 'removed' } };
    }
    case 'drain': {
      const { result, requestedAt } = asked;
      if (result !== null) return { state: result.problems.length > 0 ? 'failed' : 'succeeded', result };
      const isOld = clock.now().epochMilliseconds - epochMilliseconds(requestedAt) > DRAIN_MILLISECONDS;
      if (!isOld) return { state: 'running', result: null };
      return { state: 'failed', result: { removed: [], problems: ['it was broken off: drain it again'] } };
    }
    case 'commit': {
      const commit = await views.commits.get(asked.commitSetId);
      if (commit === undefined || commit.status === 'deploying') return { state: 'running', result: null };
      const { status, attempt, outcomes } = commit;
      return { state: status === 'success' ? 'succeeded' : 'failed', result: { status, attempt, outcomes } };
    }
  }
}
