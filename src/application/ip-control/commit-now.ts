import { pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Aggregate, CommandContext } from '../../commands/aggregate.ts';
import type { CommitWatch } from './commit-watch.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../commands/ip-control/customer-state.ts';

export type CommitStatus = 'success' | 'failed' | 'in_progress';

/** How a commit that was asked for ended, and whether it was requested for that: not where nothing was pending, or one was under way. */
export type CommitEnd = Readonly<{ status: CommitStatus; isRequested: boolean }>;

export type CommitNow = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  reason: 'synchronous' | 'operator';
  timeoutMilliseconds: number;
}>;

export type CommitNowDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  watch: CommitWatch;
  clock: Clock;
  ids: Ids;
}>;

export type CommitRegions = Readonly<{ customerId: number; regionIds: readonly number[]; timeoutMilliseconds: number }>;

/** How a synchronous request ended, and the customer as it was when that was found. */
export type RegionsCommitted = Readonly<{ status: CommitStatus; state: CustomerState; position: bigint }>;

/**
 * Has all that is pending in some regions deployed, and waits for it. `success` says that nothing was pending in any of them, at once or after
 * as many commits as that took: what others change meanwhile is waited for too. Otherwise as `commitNow`.
 */
export async function commitRegionsNow(
  { customerId, regionIds, timeoutMilliseconds }: CommitRegions,
  context: CommandContext,
  dependencies: CommitNowDependencies,
): Promise<RegionsCommitted> {
  const { customers, clock } = dependencies;
  const end = clock.monotonicMilliseconds() + timeoutMilliseconds;
  let statuses: readonly CommitStatus[] = [];
  let seen: bigint | undefined;
  for (;;) {
    const { state, revision, position } = await customers.state(customerId);
    const waiting = regionIds.filter((regionId) => isPending(state, regionId));
    if (waiting.length === 0) return { status: 'success', state, position };
    const left = end - clock.monotonicMilliseconds();
    if (statuses.includes('failed')) return { status: 'failed', state, position };
    // Where a commit has changed nothing, another one would not either.
    if (statuses.includes('in_progress') || left <= 0 || revision === seen)
      return { status: 'in_progress', state, position };
    seen = revision;
    const ends = await Promise.all(
      waiting.map((regionId) => {
        const commit = { customerId, regionId, list: 'BLACKHOLE', reason: 'synchronous' } as const;
        return commitNow({ ...commit, timeoutMilliseconds: left }, context, dependencies);
      }),
    );
    statuses = ends.map(({ status }) => status);
  }
}

function isPending(state: CustomerState, regionId: number): boolean {
  return state.phase !== 'unregistered' && !pendingAddresses(regionAddresses(state.ledger, regionId)).isEmpty;
}

/**
 * Has all that is pending in a region deployed, and waits for it: `failed` when the attempt that carried it failed on a router (it will be
 * tried again), `in_progress` when the time is up first (it goes on), `success` when nothing was pending or all routers have it.
 */
export async function commitNow(
  { customerId, regionId, list, reason, timeoutMilliseconds }: CommitNow,
  context: CommandContext,
  { customers, watch, clock, ids }: CommitNowDependencies,
): Promise<CommitEnd> {
  const over = new AbortController();
  const stopTimer = new AbortController();
  const timer = clock.wait(timeoutMilliseconds, stopTimer.signal).then(
    () => over.abort(),
    () => undefined,
  );
  let isRequested = false;
  try {
    const { revision: asked } = await customers.state(customerId);
    for (;;) {
      const command = { type: 'RequestCommit', data: { regionId, list, reason, commitSetId: ids.uuid() } } as const;
      const answer = await customers.handle(customerId, command, context);
      if (isRefusal(answer) || answer.state.phase === 'unregistered') return { status: 'success', isRequested };
      isRequested ||= answer.events.length > 0;
      const open = answer.state.commits.get(commitKey(regionId, list));
      if (open === undefined) return { status: 'success', isRequested };
      // A deployment that was under way before says nothing of what came after it was requested; a slow one that needs no other has all.
      const hasAll = open.steps > 0 && answer.events.length === 0;
      const isOurs = open.revision >= asked || hasAll;
      const ended = await (isOurs ? watch.settled : watch.settledOrSlow)(open.commitSetId, open.attempt, over.signal);
      if (ended === undefined) return { status: 'in_progress', isRequested };
      if (isOurs && (ended === 'success' || ended === 'failed')) return { status: ended, isRequested };
    }
  } finally {
    stopTimer.abort();
    await timer;
  }
}
