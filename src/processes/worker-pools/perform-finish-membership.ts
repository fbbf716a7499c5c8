import type { Scopes, WorkerPools } from '../../commands/worker-pools/aggregates.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { MembershipDuty } from './finish-memberships.ts';

export type FinishMembershipDependencies = Readonly<{ workerPools: WorkerPools; scopes: Scopes }>;

/** Takes the step that is missing, if it still is; it may be taken twice. */
export function performFinishMembership({
  workerPools,
  scopes,
}: FinishMembershipDependencies): Perform<MembershipDuty> {
  return async ({ id, type, data }) => {
    const { scope, pool } = data;
    const context = { actor: 'system:finish-memberships', requestId: id };
    const isAdmitted = (await workerPools.state(pool)).state.scopes.includes(scope);
    // The pool may have changed its mind since the duty arose; then the duty is another one.
    if (isAdmitted !== (type === 'FollowIntoScope')) return;
    const command =
      type === 'FollowIntoScope'
        ? ({ type: 'AddScopeWorkerPool', data: { pool, priority: data.priority, limits: data.limits } } as const)
        : ({ type: 'RemoveScopeWorkerPool', data: { pool } } as const);
    const answer = await scopes.handle(scope, command, context);
    if (isRefusal(answer)) throw new Error(`scope ${scope} could not follow pool ${pool}: ${answer.because}`);
  };
}
