import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { Duty, Process } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** One attempt of a commit that was requested and has not been settled. */
export type DeployCommitState = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  commitSetId: string;
  attempt: number;
  /** How often the attempt was seen to be slow: each time it goes on as a debt of its own, behind others that wait. */
  step: number;
}>;

export type DeployCommitDuty = Duty<'DeployCommit', DeployCommitState>;

type Watched = Extract<
  CustomerEvent,
  { type: 'CommitRequested' | 'CommitCompleted' | 'CommitFailed' | 'CommitSliceDeployed' | 'CommitHeldUp' }
>;

/** Owes a deployment from the moment a commit is requested until its outcome is recorded, restarts included. */
export const deployCommit: Process<Watched, DeployCommitState, DeployCommitDuty> = {
  name: 'deploy-commit',
  version: 2,
  handles: ['CommitRequested', 'CommitCompleted', 'CommitFailed', 'CommitSliceDeployed', 'CommitHeldUp'],
  keysOf: (event) => [`${streamId(event.stream)}/${event.data.regionId}/${event.data.list}`],
  evolve: (state, event) => {
    const { regionId, list, commitSetId, attempt } = event.data;
    if (event.type === 'CommitRequested') {
      return { customerId: Number(streamId(event.stream)), regionId, list, commitSetId, attempt, step: 0 };
    }
    if (state?.commitSetId !== commitSetId || state.attempt !== attempt) return state;
    const isSettled = event.type === 'CommitCompleted' || event.type === 'CommitFailed';
    return isSettled ? undefined : { ...state, step: state.step + 1 };
  },
  owed: (state) => [{ type: 'DeployCommit', id: dutyId(state), data: state }],
  wakesIn: () => undefined,
};

function dutyId({ commitSetId, attempt, step }: DeployCommitState): string {
  return step === 0 ? `${commitSetId}#${attempt}` : `${commitSetId}#${attempt}.${step}`;
}
