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
}>;

export type DeployCommitDuty = Duty<'DeployCommit', DeployCommitState>;

type Watched = Extract<CustomerEvent, { type: 'CommitRequested' | 'CommitCompleted' | 'CommitFailed' }>;

/** Owes a deployment from the moment a commit is requested until its outcome is recorded, restarts included. */
export const deployCommit: Process<Watched, DeployCommitState, DeployCommitDuty> = {
  name: 'deploy-commit',
  version: 1,
  handles: ['CommitRequested', 'CommitCompleted', 'CommitFailed'],
  keysOf: (event) => [`${streamId(event.stream)}/${event.data.regionId}/${event.data.list}`],
  evolve: (state, event) => {
    const { regionId, list, commitSetId, attempt } = event.data;
    if (event.type === 'CommitRequested') {
      return { customerId: Number(streamId(event.stream)), regionId, list, commitSetId, attempt };
    }
    return state?.commitSetId === commitSetId && state.attempt === attempt ? undefined : state;
  },
  owed: (state) => [{ type: 'DeployCommit', id: `${state.commitSetId}#${state.attempt}`, data: state }],
  wakesIn: () => undefined,
};
