import type { Aggregate } from '../../commands/handle.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../commands/ip-control/customer-state.ts';
import { type Keeping, type KeepingDependencies, keepingOf } from '../../commands/ip-control/kept-lists.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { RegionRouter, RegionState } from '../../commands/ip-control/region-state.ts';
import { inDeployment } from '../../events/ip-control/in-deployment.ts';
import { contentOf } from '../../events/ip-control/list-content.ts';
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
import { listTurn, type ListTurns, regionTurn } from './list-turns.ts';
import { pushPrefixList } from './push-prefix-list.ts';
import { pushTogether } from './push-together.ts';
import { describeFailure } from './router-calls.ts';

export type DeployCommitDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: KeepingDependencies['directory'];
  store: KeepingDependencies['store'];
  /** The one open driver of a router; it keeps changes to that router one after another. */
  driverOf: (regionId: number, router: RouterSettings) => RouterDriver;
  /** Keeps deployments of one list, and whatever else changes it, apart. */
  turns: ListTurns;
  clock: Clock;
  log: Log;
  timeoutMilliseconds: number;
}>;

/** Pushes what a requested commit captured to every router of its region at once, and records the outcome. */
export function performDeployCommit(dependencies: DeployCommitDependencies): Perform<DeployCommitDuty> {
  const { customers, turns } = dependencies;
  return async (duty, signal) => {
    const { customerId, regionId, list } = duty.data;
    const { state } = await customers.state(customerId);
    if (state.phase === 'unregistered') return;
    const name = prefixListName(state.listName, list);
    await turns.take(listTurn(regionId, name), signal, () => deploy(duty, name, dependencies, signal));
  };
}

async function deploy(
  duty: DeployCommitDuty,
  name: string,
  dependencies: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { customers, regions, clock, log } = dependencies;
  const { customerId, regionId, list, commitSetId, attempt } = duty.data;
  const { state } = await customers.state(customerId);
  const prefixes = deployedPrefixes(state, duty.data);
  if (prefixes === undefined) return;
  const region = (await regions.state(regionId)).state;
  if (routersOf(region).length === 0)
    log.warn({ regionId, list: name }, 'the region has no routers: there is nothing to push to');
  const keeping = await keepingOf(duty.data, dependencies);
  const pushed = await pushToRegion(
    { region, regionId, list: name, prefixes, keeping, last: () => lastPrefixes(state, duty.data) },
    dependencies,
    signal,
  );
  // A shutdown in the middle is no failure of a router: the commit stays requested and is deployed after the restart.
  if (signal.aborted) throw signal.reason;
  warnOfKept({ customerId, regionId, list: name }, pushed, log);
  // A router that has been brought up to date meanwhile counts.
  const outcomes = asCounted(pushed, (await regions.state(regionId)).state);
  const isEverywhere = outcomes.every(
    ({ result, counts }) => result === 'confirmed' || result === 'skipped' || counts === false,
  );
  log.info(
    { customerId, regionId, list: name, commitSetId, attempt, prefixes: prefixes.length, outcomes },
    isEverywhere ? 'commit completed' : 'commit failed',
  );
  const result = { outcomes, content: contentOf(prefixes), completedAt: clock.nowText() };
  const answer = await customers.handle(
    customerId,
    {
      type: isEverywhere ? 'RecordCommitCompleted' : 'RecordCommitFailed',
      data: { regionId, list, commitSetId, attempt, ...result },
    },
    { actor: 'system:deploy-commit', requestId: duty.id },
  );
  if (isRefusal(answer)) throw new Error(`the outcome of commit ${duty.id} was refused: ${answer.because}`);
}

/** The line of the log for each list with blocks that stay for this reason. */
export const KEPT = 'the log was restored: the router keeps what it does not explain';

/** Says which routers keep what a restored log does not explain. */
function warnOfKept(
  fields: Readonly<Record<string, unknown>>,
  outcomes: readonly RouterOutcome[],
  log: Pick<Log, 'warn'>,
): void {
  for (const { router, kept } of outcomes) if (kept !== undefined) log.warn({ ...fields, router, kept }, KEPT);
}

type RegionPush = Readonly<{
  region: RegionState;
  regionId: number;
  list: string;
  prefixes: readonly string[];
  keeping: Keeping | undefined;
  last: () => readonly string[];
}>;

/** Pushes to every router that is not disabled: each for itself, or to all of them or none. */
async function pushToRegion(
  push: RegionPush,
  dependencies: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<readonly RouterOutcome[]> {
  const { region, regionId } = push;
  const routers = routersOf(region);
  const skipped = routers.filter(({ phase }) => phase === 'disabled').map(passedOver);
  const counting = routers.filter(({ phase }) => phase === 'enabled');
  const catchingUp = routers.filter(({ phase }) => phase === 'catching-up');
  const each = (some: readonly RegionRouter[]): Promise<readonly RouterOutcome[]> =>
    Promise.all(some.map((router) => pushTo(router, push, dependencies, signal)));
  if (region.phase === 'absent' || region.deployPolicy === 'each')
    return [...(await each([...counting, ...catchingUp])), ...skipped];
  const together = await dependencies.turns.take(regionTurn(regionId), signal, () =>
    pushToAllOrNone(counting, push, dependencies, signal),
  );
  // Routers that are being brought up to date hold nobody back, and get what the others have taken.
  const late = together.every(({ result }) => result === 'confirmed') ? await each(catchingUp) : [];
  return [...together, ...late, ...skipped];
}

async function pushToAllOrNone(
  routers: readonly RegionRouter[],
  { regionId, list, prefixes, keeping, last }: RegionPush,
  { driverOf, clock, timeoutMilliseconds }: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<readonly RouterOutcome[]> {
  const ready: { router: string; driver: RouterDriver }[] = [];
  const bad = new Map<string, string>();
  for (const { router, driver, options } of routers) {
    try {
      ready.push({ router, driver: driverOf(regionId, { name: router, driver, options }) });
    } catch (error) {
      bad.set(router, describeFailure(error));
    }
  }
  if (bad.size === 0)
    return pushTogether({ routers: ready, list, prefixes, keeping, last, timeoutMilliseconds }, clock, signal);
  const others = `not sent, as ${[...bad.keys()].join(', ')} can't be opened`;
  return routers.map(({ router }) => failedUntouched(router, bad.get(router) ?? others));
}

function passedOver({ router }: RegionRouter): RouterOutcome {
  return { router, result: 'skipped', untouched: true, because: 'the router is disabled', milliseconds: 0 };
}

function failedUntouched(router: string, because: string): RouterOutcome {
  return { router, result: 'failed', untouched: true, because, milliseconds: 0 };
}

/** Says of each outcome whether the commit has to wait for its router, as the region is now. */
function asCounted(outcomes: readonly RouterOutcome[], region: RegionState): readonly RouterOutcome[] {
  const phases = new Map(routersOf(region).map(({ router, phase }) => [router, phase]));
  return outcomes.map((outcome) => {
    const isLate = outcome.result !== 'skipped' && phases.get(outcome.router) === 'catching-up';
    return isLate ? { ...outcome, counts: false } : outcome;
  });
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
  const carried = inDeployment(state, commit.regionId, commit.list);
  return carried === undefined ? undefined : coverTexts(carried.content);
}

/** The blocks that the last completed commit of the list put on routers. */
export function lastPrefixes(
  state: CustomerState,
  { regionId, list }: Readonly<{ regionId: number; list: ListKind }>,
): readonly string[] {
  const deployed = state.phase === 'unregistered' ? undefined : state.deployed.get(commitKey(regionId, list));
  return deployed === undefined ? [] : coverTexts(deployed);
}

function routersOf(region: RegionState): readonly RegionRouter[] {
  return region.phase === 'absent' ? [] : [...region.routers.values()];
}

async function pushTo(
  { router, driver: kind, options }: RegionRouter,
  { regionId, list, prefixes, keeping }: RegionPush,
  { driverOf, clock, timeoutMilliseconds }: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<RouterOutcome> {
  let driver: RouterDriver;
  try {
    driver = driverOf(regionId, { name: router, driver: kind, options });
  } catch (error) {
    return failedUntouched(router, describeFailure(error));
  }
  return pushPrefixList({ router, driver, list, prefixes, keeping, timeoutMilliseconds }, clock, signal);
}
