import type { Aggregate } from '../../commands/handle.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { commitKey, type CustomerState, type Registered } from '../../commands/ip-control/customer-state.ts';
import type { RegionCommand, RegionState } from '../../commands/ip-control/region.ts';
import { regionAddresses } from '../../events/ip-control/address-ledger.ts';
import { contentOf } from '../../events/ip-control/list-content.ts';
import { regionWhitelist } from '../../events/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import { type ListKind, prefixListName, type RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { coverTexts } from '../../kernel/addresses/cover.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RouterDriver, RouterSettings } from '../../ports/routers.ts';
import type { DeployCommitDuty } from './deploy-commit.ts';
import { pushPrefixList } from './push-prefix-list.ts';

export type DeployCommitDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  /** The one open driver of a router; it keeps changes to that router one after another. */
  driverOf: (regionId: number, router: RouterSettings) => RouterDriver;
  clock: Clock;
  log: Log;
  timeoutMilliseconds: number;
}>;

/** Pushes what a requested commit captured to every router of its region at once, and records the outcome. */
export function performDeployCommit(dependencies: DeployCommitDependencies): Perform<DeployCommitDuty> {
  const { customers, regions, clock, log } = dependencies;
  return async (duty, signal) => {
    const { customerId, regionId, list, commitSetId, attempt } = duty.data;
    const { state } = await customers.state(customerId);
    const prefixes = deployedPrefixes(state, duty.data);
    if (state.phase === 'unregistered' || prefixes === undefined) return;
    const name = prefixListName(state.listName, list);
    const routers = routersOf((await regions.state(regionId)).state);
    if (routers.length === 0)
      log.warn({ regionId, list: name }, 'the region has no routers: there is nothing to push to');
    const outcomes = await Promise.all(
      routers.map((router) => pushTo(router, regionId, name, prefixes, dependencies, signal)),
    );
    // A shutdown in the middle is no failure of a router: the commit stays requested and is deployed after the restart.
    if (signal.aborted) throw signal.reason;
    const isEverywhere = outcomes.every(({ result }) => result === 'confirmed');
    log.info(
      { customerId, regionId, list: name, commitSetId, attempt, prefixes: prefixes.length, outcomes },
      isEverywhere ? 'commit completed' : 'commit failed',
    );
    const answer = await customers.handle(
      customerId,
      {
        type: isEverywhere ? 'RecordCommitCompleted' : 'RecordCommitFailed',
        data: {
          regionId,
          list,
          commitSetId,
          attempt,
          outcomes,
          content: contentOf(prefixes),
          completedAt: clock.nowText(),
        },
      },
      { actor: 'system:deploy-commit', requestId: duty.id },
    );
    if (isRefusal(answer)) throw new Error(`the outcome of commit ${duty.id} was refused: ${answer.because}`);
  };
}

/** The blocks that an attempt puts on routers, or `undefined` when it is no longer under way. */
export function deployedPrefixes(
  state: CustomerState,
  commit: Readonly<{ regionId: number; list: ListKind; commitSetId: string; attempt: number }>,
): readonly string[] | undefined {
  if (state.phase === 'unregistered') return undefined;
  const open = state.commits.get(commitKey(commit.regionId, commit.list));
  if (open?.phase !== 'deploying' || open.commitSetId !== commit.commitSetId || open.attempt !== commit.attempt)
    return undefined;
  return listPrefixes(state, commit.regionId, commit.list);
}

function listPrefixes(state: Registered, regionId: number, list: ListKind): readonly string[] | undefined {
  switch (list) {
    case 'BLACKHOLE': {
      const { inDeployment } = regionAddresses(state.ledger, regionId);
      return inDeployment === undefined ? undefined : coverTexts(inDeployment.content);
    }
    case 'SRC_WHITELIST': {
      const { inDeployment } = regionWhitelist(state.whitelist, regionId);
      return inDeployment === undefined ? undefined : coverTexts(inDeployment.content);
    }
  }
}

function routersOf(region: RegionState): readonly RouterSettings[] {
  if (region.phase === 'absent') return [];
  return [...region.routers.values()].map(({ router, driver, options }) => ({ name: router, driver, options }));
}

async function pushTo(
  router: RouterSettings,
  regionId: number,
  list: string,
  prefixes: readonly string[],
  { driverOf, clock, timeoutMilliseconds }: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<RouterOutcome> {
  let driver: RouterDriver;
  try {
    driver = driverOf(regionId, router);
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    return { router: router.name, result: 'failed', untouched: true, because, milliseconds: 0 };
  }
  return pushPrefixList({ router: router.name, driver, list, prefixes, timeoutMilliseconds }, clock, signal);
}
