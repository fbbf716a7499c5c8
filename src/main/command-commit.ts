import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import { type CommitEnd, commitNow } from '../application/ip-control/commit-now.ts';
import { openCommitWatch } from '../application/ip-control/commit-watch.ts';
import { commitKey } from '../commands/ip-control/customer-state.ts';
import type { ListKind } from '../events/ip-control/vocabulary.ts';
import { isRefusal } from '../kernel/decider.ts';
import type { Lease } from '../ports/leases.ts';
import { holding, processesLease } from './leadership.ts';
import { insteadOfOthers, type RouterRunners, type RouterWork, withRouterRunners } from './router-work.ts';

/** `context` tells who asks for it. */
type Commit = Readonly<{ customerId: number; regionId: number; list: ListKind; context: CommandContext }>;

/** A running server deploys what is requested; without one this process does, and keeps servers from doing so meanwhile. */
export async function commitHereOrThere(commit: Commit, work: RouterWork): Promise<CommitEnd> {
  const here = (lease: Lease): Promise<CommitEnd> =>
    withRouterRunners(work, lease, (runners) => commitHere(commit, work, runners));
  const lease = await work.stores.leases.tryAcquire(processesLease(work.stores));
  if (!('heldBy' in lease)) return holding(lease, () => here(lease));
  const done = new AbortController();
  const instead = insteadOfOthers(work, done.signal, here);
  try {
    return await commitThere(commit, work);
  } finally {
    done.abort();
    await instead;
  }
}

/** Requests the commit, and waits until the leader has deployed it. */
async function commitThere(
  { context, ...commit }: Commit,
  { aggregates: { customers }, stores, config, log }: RouterWork,
): Promise<CommitEnd> {
  const watch = await openCommitWatch(stores.store, log);
  const done = new AbortController();
  const watching = watch.run(done.signal);
  try {
    const timeoutMilliseconds = config.synchronousTimeoutMilliseconds;
    return await commitNow({ ...commit, reason: 'operator', timeoutMilliseconds }, context, {
      customers,
      watch,
      clock: systemClock,
      ids: systemIds,
    });
  } finally {
    done.abort();
    await watching;
  }
}

/** Requests the commit and deploys it; what a server has left unfinished says nothing of what came after it, so that another follows. */
async function commitHere(
  { customerId, regionId, list, context }: Commit,
  { aggregates: { customers } }: RouterWork,
  { deploy }: RouterRunners,
): Promise<CommitEnd> {
  const { revision: asked } = await customers.state(customerId);
  let isRequested = false;
  for (;;) {
    const request = { regionId, list, reason: 'operator', commitSetId: systemIds.uuid() } as const;
    const answer = await customers.handle(customerId, { type: 'RequestCommit', data: request }, context);
    if (isRefusal(answer) || answer.state.phase === 'unregistered') return { status: 'success', isRequested };
    isRequested ||= answer.events.length > 0;
    const open = answer.state.commits.get(commitKey(regionId, list));
    if (open === undefined) return { status: 'success', isRequested };
    await deploy(({ data }) => data.customerId === customerId && data.regionId === regionId && data.list === list);
    if (open.revision >= asked) break;
  }
  const { state } = await customers.state(customerId);
  const isOpen = state.phase === 'registered' && state.commits.has(commitKey(regionId, list));
  return { status: isOpen ? 'failed' : 'success', isRequested };
}
