import type { Aggregate } from '../../commands/aggregate.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { commitDueIn, type CommitTimes } from '../../domain/ip-control/commit-due.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { LIST_EVENTS, type ListEvent, listKeysOf, listOf } from '../../events/ip-control/list-changes.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';
import type { Ids } from '../../ports/ids.ts';

/** One list of one customer in one region that is not on all routers as it should be. */
export type QuietPeriodState = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  /** The last change that no commit has captured yet. */
  changed: Mark | null;
  /** The first of these changes. */
  waiting: Mark | null;
  commit:
    | Readonly<{ phase: 'deploying'; failures: number }>
    | Readonly<{ phase: 'slow'; failures: number }>
    | Readonly<{ phase: 'failed'; failures: number; failed: Mark }>
    | null;
}>;

export type RequestCommitDuty = Duty<
  'RequestCommit',
  { customerId: number; regionId: number; list: ListKind; reason: 'quiet' | 'retry' }
>;

type Watched = ListEvent | Extract<CustomerEvent, { type: 'CommitSliceDeployed' | 'CommitHeldUp' }>;

/**
 * Asks for a commit when a customer has been quiet in a region for the quiet period, or its oldest waiting change is as old as the setting
 * allows, and again after a failed one (specification, Deployment rules 1, 2 and 5; decisions: 1, 2, 5, 10, then every 15 minutes, or at once when a new commit becomes due).
 */
export function quietPeriod(settings: CommitTimes): Process<Watched, QuietPeriodState, RequestCommitDuty> {
  return {
    name: 'quiet-period',
    version: 5,
    handles: [...LIST_EVENTS, 'CommitSliceDeployed', 'CommitHeldUp'],
    keysOf: listKeysOf,
    evolve,
    owed: (state, since) => {
      const due = dueIn(state, settings, since);
      if (due === undefined || due > 0) return [];
      const { customerId, regionId, list, changed, commit } = state;
      const failure = commit?.phase === 'failed' ? commit.failed.position : '';
      const id = `${customerId}/${regionId}/${list}@${changed?.position ?? ''}#${failure}`;
      return [
        {
          type: 'RequestCommit',
          id,
          data: { customerId, regionId, list, reason: commit?.phase === 'failed' ? 'retry' : 'quiet' },
        },
      ];
    },
    wakesIn: (state, since) => dueIn(state, settings, since),
  };
}

function evolve(
  before: QuietPeriodState | undefined,
  event: RecordedEvent<Watched>,
  key: string,
): QuietPeriodState | undefined {
  const state = before ?? {
    customerId: Number(streamId(event.stream)),
    regionId: Number(key.split('/')[1]),
    list: listOf(event),
    changed: null,
    waiting: null,
    commit: null,
  };
  // An attempt that the next one went on with has not failed.
  const failures = state.commit?.failures ?? 0;
  switch (event.type) {
    case 'SubnetReleased':
      return event.data.wasDisabled.length === 0 ? before : withChange(state, markOf(event));
    case 'AddressesDisabled':
    case 'AddressesEnabled':
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRemoved':
      return withChange(state, markOf(event));
    case 'CommitRequested':
      return { ...state, changed: null, waiting: null, commit: { phase: 'deploying', failures } };
    case 'CommitSliceDeployed':
    case 'CommitHeldUp':
      return { ...state, commit: { phase: 'slow', failures } };
    case 'CommitCompleted':
      return state.changed === null ? undefined : { ...state, commit: null };
    case 'CommitFailed':
      return { ...state, commit: { phase: 'failed', failures: failures + 1, failed: markOf(event) } };
  }
}

/** Field by field: most events of a log come by here, and a spread takes several times as long. */
function withChange(
  { customerId, regionId, list, waiting, commit }: QuietPeriodState,
  changed: Mark,
): QuietPeriodState {
  return { customerId, regionId, list, changed, waiting: waiting ?? changed, commit };
}

/** Milliseconds until a commit is due; less than zero: since when it is. */
function dueIn(state: QuietPeriodState, settings: CommitTimes, since: Since): number | undefined {
  const { changed, waiting, commit } = state;
  // One that goes on slowly takes what comes meanwhile along.
  if (commit?.phase === 'deploying') return undefined;
  const failed = commit?.phase === 'failed' ? commit.failed : null;
  return commitDueIn({ changed, waiting, failed, failures: commit?.failures ?? 0 }, settings, since);
}

/** Asks the customer's stream for a commit; it says no more than "nothing new" when there is nothing to deploy. */
export function performRequestCommit(
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>,
  ids: Ids,
): Perform<RequestCommitDuty> {
  return async (duty) => {
    const { customerId, regionId, list, reason } = duty.data;
    const answer = await customers.handle(
      customerId,
      { type: 'RequestCommit', data: { regionId, list, reason, commitSetId: ids.uuid() } },
      { actor: 'system:quiet-period', requestId: duty.id },
    );
    if (isRefusal(answer)) throw new Error(`commit ${duty.id} was refused: ${answer.because}`);
  };
}
