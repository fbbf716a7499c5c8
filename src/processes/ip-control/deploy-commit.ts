import { coverTexts } from '../../addresses/cidr-cover.ts';
import { commitKey, type CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { keepingOf } from '../../commands/ip-control/kept-lists.ts';
import type { RegionRouter, RegionState } from '../../commands/ip-control/region-state.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { type ListKind, prefixListName, type RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Duty, Perform, Process } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';
import type { Log } from '../../ports/log.ts';
import { identityOf, type Step } from './pushing/attempt-pushes.ts';
import {
  carriedBy,
  type DeployCommitDependencies,
  failedUntouched,
  listKey,
  type Memory,
  newMemory,
  passedOverUnderWay,
  pushToRegion,
  type RegionPush,
  routersOf,
  withPassedOver,
} from './pushing/push-to-region.ts';

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

/**
 * Pushes what a requested commit captured to every router of its region at once, and records the outcome, or how far it has come where
 * it is slow: then it goes on as a debt of its own, unless a newer attempt goes on with it.
 */
export function performDeployCommit(dependencies: DeployCommitDependencies): Perform<DeployCommitDuty> {
  const memory = newMemory();
  return (duty, signal) => deploy(duty, dependencies, memory, signal);
}

async function deploy(
  duty: DeployCommitDuty,
  dependencies: DeployCommitDependencies,
  memory: Memory,
  signal: AbortSignal,
): Promise<void> {
  const { customers, regions, log } = dependencies;
  const { customerId, regionId, list, commitSetId, attempt } = duty.data;
  const { state } = await customers.state(customerId);
  const carried = carriedBy(state, duty.data);
  if (carried === undefined || state.phase === 'unregistered') return;
  const name = prefixListName(state.listName, list);
  const region = (await regions.state(regionId)).state;
  const names = { customer: state.name, region: region.phase === 'created' ? region.name : String(regionId) };
  const fields = { customerId, regionId, ...names, list: name };
  if (routersOf(region).length === 0)
    log.warn({ regionId, region: names.region, list: name }, 'the region has no routers: there is nothing to push to');
  const push: RegionPush = {
    duty,
    region,
    list: name,
    wanted: memory.texts.wanted(listKey(duty), carried.content),
    layers: carried.layers,
    keeping: await keepingOf(duty.data, dependencies),
    last: () => lastPrefixes(state, duty.data),
  };
  const step = await pushToRegion(push, dependencies, memory, signal);
  // A shutdown in the middle is no failure of a router: the commit stays requested and is deployed after the restart.
  if (signal.aborted) throw signal.reason;
  if (step === undefined) {
    log.info({ ...fields, commitSetId, attempt }, 'a newer attempt goes on with the commit');
    return;
  }
  warnOfKept(fields, step.outcomes, log);
  await recordSaving({ regionId, region: names.region, list: name, requestId: duty.id }, step.outcomes, dependencies);
  await record(push, fields, await countedAtLast(push, step, dependencies, memory), dependencies);
}

/**
 * A step as it counts now: routers may have been brought up to date meanwhile, or have come to the region. Whoever waits for the commit, and
 * takes the lists off a router that is passed over by now, must not get them back: pushes to it that are under way are waited for too, in a
 * step of their own that holds up no newer change.
 */
async function countedAtLast(
  push: RegionPush,
  step: Step,
  dependencies: DeployCommitDependencies,
  memory: Memory,
): Promise<Step> {
  const { regionId, step: number } = push.duty.data;
  const { state } = await dependencies.regions.state(regionId);
  const counted = asCounted(withPassedOver(step, push.duty, memory), push.region, state);
  const underWay = passedOverUnderWay(push, state, memory);
  if (underWay.length === 0 || counted.sliced.length > 0 || counted.late.length > 0) return counted;
  if (number === 0) return { ...counted, late: underWay.map(({ router }) => router) };
  await Promise.all(underWay.map(({ over }) => over));
  return countedAtLast(push, step, dependencies, memory);
}

/** Says which routers could not save what they hold now, and which of those that could not before have. */
async function recordSaving(
  {
    regionId,
    region,
    list,
    requestId,
  }: Readonly<{ regionId: number; region: string; list: string; requestId: string }>,
  outcomes: readonly RouterOutcome[],
  { regions, log }: Pick<DeployCommitDependencies, 'regions' | 'log'>,
): Promise<void> {
  const told = async (command: RegionCommand): Promise<void> => {
    const answer = await regions.handle(regionId, command, { actor: 'system:deploy-commit', requestId });
    if (isRefusal(answer) && answer.refused !== 'router-not-found')
      throw new Error(`${command.type}: ${answer.because}`);
  };
  const { state } = await regions.state(regionId);
  const unsaved = new Set(routersOf(state).flatMap(({ router, unsaved: why }) => (why === undefined ? [] : [router])));
  for (const { router, result, untouched, saved, because = 'it could not be saved' } of outcomes) {
    if (saved === false) {
      log.warn({ regionId, region, router, list, because }, NOT_SAVED);
      await told({ type: 'RecordRouterNotSaved', data: { router, because } });
    } else if (result === 'confirmed' && !untouched && unsaved.has(router))
      await told({ type: 'RecordRouterSaved', data: { router } });
  }
}

/** The line of the log for each change that a router holds and will have lost after a restart. */
export const NOT_SAVED = 'the router holds it and could not save it: a restart of the router loses it';

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

async function record(
  push: RegionPush,
  ofList: Readonly<Record<string, unknown>>,
  step: Step,
  { customers, clock, log }: DeployCommitDependencies,
): Promise<void> {
  const { duty, wanted } = push;
  const { customerId, step: number, ...commit } = duty.data;
  const { outcomes, sliced, late } = step;
  const total = wanted.count;
  const fields = { ...ofList, commitSetId: commit.commitSetId };
  const told = async (command: CustomerCommand): Promise<void> => {
    const answer = await customers.handle(customerId, command, { actor: 'system:deploy-commit', requestId: duty.id });
    if (isRefusal(answer)) throw new Error(`the outcome of commit ${duty.id} was refused: ${answer.because}`);
  };
  if (sliced.length > 0) {
    const done = Math.min(total, ...sliced.map((router) => router.done));
    log.info({ ...fields, attempt: commit.attempt, done, total, sliced, late }, 'a slice of a list is deployed');
    return told({ type: 'RecordCommitSlice', data: { ...commit, step: number, done, total } });
  }
  if (late.length > 0) {
    log.warn({ ...fields, attempt: commit.attempt, routers: late }, 'a commit waits for its last routers');
    return told({ type: 'RecordCommitHeldUp', data: { ...commit, step: number, routers: late } });
  }
  const isEverywhere = outcomes.every(
    ({ result, counts }) => result === 'confirmed' || result === 'skipped' || counts === false,
  );
  log[isEverywhere ? 'info' : 'error'](
    { ...fields, attempt: commit.attempt, prefixes: total, outcomes },
    isEverywhere ? 'commit completed' : 'commit failed',
  );
  const result = { outcomes, content: wanted.content(), completedAt: clock.nowText() };
  await told({
    type: isEverywhere ? 'RecordCommitCompleted' : 'RecordCommitFailed',
    data: { ...commit, ...result },
  });
}

/** Says of each outcome whether the commit has to wait for its router, as the region is now and was `before`; it waits for no slow one that it need not wait for. */
function asCounted(step: Step, before: RegionState, region: RegionState): Step {
  const { outcomes, sliced, late } = step;
  const phases = new Map(routersOf(region).map(({ router, phase }) => [router, phase]));
  const isLate = (router: string): boolean => phases.get(router) === 'catching-up';
  const slow = [
    ...sliced
      .filter(({ router }) => isLate(router))
      .map(({ router }) => failedUntouched(router, 'the list comes in slices')),
    ...late.filter(isLate).map((router) => failedUntouched(router, 'no answer yet')),
  ];
  return {
    outcomes: [...outcomes, ...slow].flatMap((outcome) => countedOutcome(outcome, phases.get(outcome.router))),
    sliced: sliced.filter(({ router }) => !isLate(router)),
    late: [...new Set([...late.filter((router) => !isLate(router)), ...notAsked(step, before, region)])],
  };
}

/** A router that was disabled or removed meanwhile fails no commit; what came of a push to it is kept all the same. */
function countedOutcome(outcome: RouterOutcome, phase: RegionRouter['phase'] | undefined): readonly RouterOutcome[] {
  const { result } = outcome;
  if (result === 'skipped') return phase === undefined ? [] : [outcome];
  const counts = phase === 'enabled' || (result === 'confirmed' && phase !== 'catching-up');
  return [counts ? outcome : { ...outcome, counts: false }];
}

/** Routers that count now and were passed over, not there, or others than they are now, when the step began: the next one asks them. */
function notAsked({ outcomes, sliced, late }: Step, before: RegionState, now: RegionState): readonly string[] {
  const pushed = outcomes.filter(({ result }) => result !== 'skipped');
  const asked = new Set([...late, ...[...pushed, ...sliced].map(({ router }) => router)]);
  const known = new Map(routersOf(before).map((router) => [router.router, identityOf(router)]));
  return routersOf(now)
    .filter(({ phase }) => phase === 'enabled')
    .filter((router) => !asked.has(router.router) || known.get(router.router) !== identityOf(router))
    .map(({ router }) => router);
}

/** The blocks that the last completed commit of the list put on routers. */
export function lastPrefixes(
  state: CustomerState,
  { regionId, list }: Readonly<{ regionId: number; list: ListKind }>,
): readonly string[] {
  const deployed = state.phase === 'unregistered' ? undefined : state.deployed.get(commitKey(regionId, list));
  return deployed === undefined ? [] : coverTexts(deployed);
}
