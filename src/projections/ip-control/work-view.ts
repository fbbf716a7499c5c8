import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { LIST_EVENTS, type ListEvent, listKeysOf, listOf } from '../../events/ip-control/list-changes.ts';
import { failedRouters, type ListKind } from '../../events/ip-control/vocabulary.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** The commit set that carries a list's changes, from its request until it completes. */
export type WorkCommit = Readonly<{
  commitSetId: string;
  attempt: number;
  phase: 'deploying' | 'failed';
  requestedAt: string;
  /** So many attempts have failed one after the other, of sets before it too. */
  failures: number;
  /** Of the attempt that failed last. */
  failedAt: string | null;
  /** The routers that did not take it then. */
  failingOn: readonly string[];
  /** While it is deployed in slices: how many of its blocks are on every router. */
  progress: Readonly<{ done: number; total: number }> | null;
  /** While all others have given their outcome: the routers that have not answered. */
  waitsFor: readonly string[];
}>;

/** A list on its way to the routers: gone when nothing of it is left to deploy. Key: `customer/region/list`. Instants as in the events. */
export type WorkView = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  /** Of the oldest change that is not on all routers. */
  since: string;
  /** Of the oldest and the newest change that no commit has captured yet. */
  waitingSince: string | null;
  changedAt: string | null;
  commit: WorkCommit | null;
}>;

type Shown = ListEvent | Extract<CustomerEvent, { type: 'CommitSliceDeployed' | 'CommitHeldUp' }>;

export const workProjection: Projection<Shown, WorkView> = {
  name: 'work',
  version: 2,
  handles: [...LIST_EVENTS, 'CommitSliceDeployed', 'CommitHeldUp'],
  keysOf: listKeysOf,
  evolve,
};

function evolve(before: WorkView | undefined, event: RecordedEvent<Shown>, key: string): WorkView | undefined {
  switch (event.type) {
    case 'CommitRequested':
      return before && { ...before, waitingSince: null, changedAt: null, commit: requested(before.commit, event) };
    case 'CommitSliceDeployed': {
      const { done, total } = event.data;
      return withCommit(before, { progress: { done, total } });
    }
    case 'CommitHeldUp':
      return withCommit(before, { waitsFor: event.data.routers });
    case 'CommitFailed': {
      const failingOn = failedRouters(event.data.outcomes);
      const failedAt = event.metadata.at;
      const failures = (before?.commit?.failures ?? 0) + 1;
      return withCommit(before, { phase: 'failed', failures, failedAt, failingOn, progress: null, waitsFor: [] });
    }
    case 'CommitCompleted':
      return before === undefined || before.waitingSince === null
        ? undefined
        : { ...before, since: before.waitingSince, commit: null };
    case 'SubnetReleased':
      return event.data.wasDisabled.length === 0 ? before : changed(before, event, key);
    case 'AddressesDisabled':
    case 'AddressesEnabled':
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRemoved':
      return changed(before, event, key);
  }
}

function requested(
  before: WorkCommit | null,
  { data, metadata }: RecordedEvent<Extract<Shown, { type: 'CommitRequested' }>>,
): WorkCommit {
  const { commitSetId, attempt } = data;
  const goesOn = before?.commitSetId === commitSetId ? before : undefined;
  return {
    commitSetId,
    attempt,
    phase: 'deploying',
    requestedAt: metadata.at,
    failures: before?.failures ?? 0,
    failedAt: goesOn?.failedAt ?? null,
    failingOn: goesOn?.failingOn ?? [],
    progress: goesOn?.progress ?? null,
    waitsFor: [],
  };
}

function withCommit(before: WorkView | undefined, change: Partial<WorkCommit>): WorkView | undefined {
  if (before === undefined || before.commit === null) return before;
  return { ...before, commit: { ...before.commit, ...change } };
}

function changed(before: WorkView | undefined, event: RecordedEvent<ListEvent>, key: string): WorkView {
  const changedAt = event.metadata.at;
  if (before !== undefined) return { ...before, waitingSince: before.waitingSince ?? changedAt, changedAt };
  const [customerId, regionId] = [Number(streamId(event.stream)), Number(key.split('/')[1])];
  return {
    customerId,
    regionId,
    list: listOf(event),
    since: changedAt,
    waitingSince: changedAt,
    changedAt,
    commit: null,
  };
}
