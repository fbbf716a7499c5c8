import type { Aggregate } from '../../../commands/aggregate.ts';
import type { CustomerCommand } from '../../../commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../../commands/ip-control/customer-state.ts';
import type { Keeping, KeepingDependencies } from '../../../commands/ip-control/kept-lists.ts';
import type { RegionCommand } from '../../../commands/ip-control/region.ts';
import type { RegionRouter, RegionState } from '../../../commands/ip-control/region-state.ts';
import type { CustomerEvent } from '../../../events/ip-control/customer.ts';
import { inDeployment } from '../../../domain/ip-control/commit-content.ts';
import type { CommitContent, Layers } from '../../../domain/ip-control/layers.ts';
import type { RegionEvent } from '../../../events/ip-control/region.ts';
import type { ListKind, RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import { BoundedMap } from '../../../kernel/bounded-map.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { RouterDriver, RouterSettings } from '../../../ports/routers.ts';
import { AttemptPushes, type Step } from './attempt-pushes.ts';
import type { DeployCommitDuty } from '../deploy-commit.ts';
import { listTurn, type KeyedMutex, regionTurn, sliceTurn } from '../../../concurrency/keyed-mutex.ts';
import type { Tried } from './push-prefix-list.ts';
import { isSliced, type Pace, pushSlice, pushSliceTogether, type Sliced } from './push-slice.ts';
import { callRouter, describeFailure } from './router-calls.ts';
import { routerOf } from './same-router.ts';
import { KnownTexts, type WantedList } from './wanted-list.ts';

export type DeployCommitDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: KeepingDependencies['directory'];
  store: KeepingDependencies['store'];
  /** The one open driver of a router; it keeps changes to a list of that router one after another. */
  driverOf: (regionId: number, router: RouterSettings) => RouterDriver;
  /** Keeps deployments of one list, and whatever else changes it, apart. */
  turns: KeyedMutex;
  clock: Clock;
  log: Log;
  timeoutMilliseconds: number;
}>;

/** What is remembered beside the log, to spare the routers: without it they are asked again. */
export type Memory = Readonly<{
  /** By customer and list: the pushes of the newest attempt. */
  attempts: BoundedMap<string, Readonly<{ id: string; pushes: AttemptPushes }>>;
  /** By router. */
  paces: Map<string, Pace>;
  /** The newest push of a list to a router until it is over: by list, and by router. */
  running: Map<string, Map<string, Running>>;
  /** By customer and list. */
  texts: KnownTexts;
}>;

/** A push that waits for its turn, or has it; `result` as soon as it has had it. It comes after all earlier ones, but for those that wait for the turn of their slice. */
type Running = { result?: Tried | Sliced | undefined; over?: Promise<void> };

const REMEMBERED_MAX = 10_000;

export function newMemory(): Memory {
  return { attempts: new BoundedMap(REMEMBERED_MAX), paces: new Map(), running: new Map(), texts: new KnownTexts() };
}

export type RegionPush = Readonly<{
  duty: DeployCommitDuty;
  region: RegionState;
  list: string;
  wanted: WantedList;
  layers: Layers;
  keeping: Keeping | undefined;
  last: () => readonly string[];
}>;

/** Pushes to every router that is not disabled: each for itself, or to all of them or none; `undefined` when overtaken. */
export async function pushToRegion(
  push: RegionPush,
  dependencies: DeployCommitDependencies,
  memory: Memory,
  signal: AbortSignal,
): Promise<Step | undefined> {
  const { region, duty } = push;
  const routers = routersOf(region);
  const skipped = routers.filter(({ phase }) => phase === 'disabled').map(passedOver);
  const counting = routers.filter(({ phase }) => phase === 'enabled');
  const catchingUp = routers.filter(({ phase }) => phase === 'catching-up');
  const each = async (some: readonly RegionRouter[], before: readonly RouterOutcome[]): Promise<Step | undefined> => {
    const pushes = pushesOf(duty, memory);
    const pushRouter = (router: RegionRouter) => pushInTurn(router, push, dependencies, memory, signal);
    const step = await pushes.step(some, pushRouter, dependencies.timeoutMilliseconds, dependencies.clock);
    return step === undefined ? undefined : { ...step, outcomes: [...before, ...step.outcomes, ...skipped] };
  };
  if (region.phase === 'absent' || region.deployPolicy === 'each') return each([...counting, ...catchingUp], []);
  const together = await pushToAllOrNone(counting, push, dependencies, memory, signal);
  if (together === undefined) return undefined;
  if (areSliced(together)) return { outcomes: skipped, sliced: together, late: [] };
  // Routers that are being brought up to date hold no other router back, and get what the others have taken.
  const isThere = together.every(({ result }) => result === 'confirmed');
  return each(isThere ? catchingUp : [], together);
}

/** The customer and the list. */
export function listKey({ data }: DeployCommitDuty): string {
  return `${data.customerId}/${commitKey(data.regionId, data.list)}`;
}

/** The pushes of this attempt; those of an older one of the same list are forgotten. */
function pushesOf(duty: DeployCommitDuty, memory: Memory): AttemptPushes {
  const known = knownPushes(duty, memory);
  if (known !== undefined && duty.data.step > 0) return known;
  const pushes = new AttemptPushes();
  memory.attempts.set(listKey(duty), { id: attemptId(duty), pushes });
  return pushes;
}

function knownPushes(duty: DeployCommitDuty, { attempts }: Memory): AttemptPushes | undefined {
  const known = attempts.get(listKey(duty));
  return known?.id === attemptId(duty) ? known.pushes : undefined;
}

function attemptId({ data }: DeployCommitDuty): string {
  return `${data.commitSetId}#${data.attempt}`;
}

/** With what earlier steps of the attempt have found on routers that this one has passed over. */
export function withPassedOver(step: Step, duty: DeployCommitDuty, memory: Memory): Step {
  const pushed = step.outcomes.filter(({ result }) => result !== 'skipped');
  const asked = new Set([...step.late, ...[...pushed, ...step.sliced].map(({ router }) => router)]);
  const earlier = (knownPushes(duty, memory)?.outcomes() ?? []).filter(({ router }) => !asked.has(router));
  const known = new Set(earlier.map(({ router }) => router));
  return { ...step, outcomes: [...step.outcomes.filter(({ router }) => !known.has(router)), ...earlier] };
}

/** One router's push in its turns, if the attempt is still under way then. */
function pushInTurn(
  router: RegionRouter,
  push: RegionPush,
  dependencies: DeployCommitDependencies,
  { paces, running }: Memory,
  signal: AbortSignal,
): Promise<Tried | Sliced | undefined> {
  const { turns, customers } = dependencies;
  const { data } = push.duty;
  const { regionId, customerId, step } = data;
  const turn = listTurn(regionId, push.list, router.router);
  const pushes = pushesOfList(regionId, push.list, running);
  const before = pushes.get(router.router);
  const own: Running = {};
  const pushed = async (): Promise<Tried | Sliced | undefined> => {
    // Another attempt has just waited for it in vain, and this one with it. One that waits for the turn of its slice still comes after this one.
    if (before?.result !== undefined && isInVain(before.result)) return before.result;
    if (carriedBy((await customers.state(customerId)).state, data) === undefined) return undefined;
    if (await isPassedOver(regionId, router, dependencies)) return { outcome: passedOver(router) };
    const result = await pushTo(router, push, dependencies, paceOf(paces, `${regionId}/${router.router}`), signal);
    if (isSliced(result) || !result.outcome.untouched) await takeOffDrained(router, push, dependencies, signal);
    return result;
  };
  const inTurn = (): Promise<Tried | Sliced | undefined> =>
    turns.take(turn, signal, async () => (own.result = await pushed()));
  const pushing = step === 0 ? inTurn() : turns.take(sliceTurn(regionId, router.router), signal, inTurn);
  const forget = (): void => {
    if (pushes.get(router.router) === own) pushes.delete(router.router);
    const key = listOfRegion(regionId, push.list);
    if (pushes.size === 0 && running.get(key) === pushes) running.delete(key);
  };
  own.over = pushing.then(forget, forget);
  pushes.set(router.router, own);
  return pushing;
}

/** Who drains a router waits for commits, which wait for no router that was being brought up to date: what comes after all was taken off goes again. */
async function takeOffDrained(
  { router, driver: kind, options }: RegionRouter,
  { duty, list }: RegionPush,
  { regions, driverOf, clock, log, timeoutMilliseconds }: DeployCommitDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { regionId } = duty.data;
  if ((await routerOf(regionId, router, { regions }))?.isDrained !== true) return;
  try {
    const driver = driverOf(regionId, { name: router, driver: kind, options });
    await callRouter((within) => driver.remove(list, within), timeoutMilliseconds, clock, signal);
  } catch (error) {
    const fields = { regionId, router, list, because: describeFailure(error) };
    log.warn(fields, 'a list came to a router that was drained meanwhile, and could not be taken off again');
  }
}

function pushesOfList(regionId: number, list: string, running: Memory['running']): Map<string, Running> {
  const key = listOfRegion(regionId, list);
  const pushes = running.get(key) ?? new Map<string, Running>();
  running.set(key, pushes);
  return pushes;
}

function listOfRegion(regionId: number, list: string): string {
  return `${regionId}/${list}`;
}

/** The pushes of a list, whichever attempt has begun them, that are under way to routers which are passed over by now. */
export function passedOverUnderWay(
  { duty, list }: Pick<RegionPush, 'duty' | 'list'>,
  region: RegionState,
  { running }: Memory,
): readonly Readonly<{ router: string; over: Promise<void> }>[] {
  const counting = new Set(routersOf(region).flatMap(({ router, phase }) => (phase === 'disabled' ? [] : [router])));
  const pushes = running.get(listOfRegion(duty.data.regionId, list)) ?? new Map<string, Running>();
  return [...pushes].flatMap(([router, { over }]) =>
    counting.has(router) || over === undefined ? [] : [{ router, over }],
  );
}

async function isPassedOver(
  regionId: number,
  { router }: RegionRouter,
  dependencies: DeployCommitDependencies,
): Promise<boolean> {
  const now = await routerOf(regionId, router, dependencies);
  return now === undefined || now.phase === 'disabled';
}

/** One that holds the older list after all has been heard from. */
function isInVain(result: Tried | Sliced): boolean {
  return !isSliced(result) && result.code === 'timed-out' && result.outcome.result !== 'confirmed';
}

function paceOf(paces: Map<string, Pace>, router: string): Pace {
  const known = paces.get(router);
  if (known !== undefined) return known;
  const pace = { share: 1, late: 0 };
  paces.set(router, pace);
  return pace;
}

/** `undefined` when the attempt is no longer under way. */
async function pushToAllOrNone(
  routers: readonly RegionRouter[],
  push: RegionPush,
  dependencies: DeployCommitDependencies,
  { paces }: Memory,
  signal: AbortSignal,
): Promise<Together | undefined> {
  const { turns, customers } = dependencies;
  const { regionId, customerId, step } = push.duty.data;
  // In one order, so that two of them never wait for each other.
  const names = routers.map(({ router }) => router).sort();
  const slices = step === 0 ? [] : names.map((router) => sliceTurn(regionId, router));
  const lists = names.map((router) => listTurn(regionId, push.list, router));
  const inTurns = ([key, ...others]: readonly string[]): Promise<Together | undefined> => {
    if (key !== undefined) return turns.take(key, signal, () => inTurns(others));
    return turns.take(regionTurn(regionId), signal, async () => {
      if (carriedBy((await customers.state(customerId)).state, push.duty.data) === undefined) return undefined;
      return pushAllTogether(routers, push, dependencies, paceOf(paces, String(regionId)), signal);
    });
  };
  return inTurns([...slices, ...lists]);
}

type Together = readonly RouterOutcome[] | readonly Sliced[];

function areSliced(together: Together): together is readonly Sliced[] {
  return together.length > 0 && together.every(isSliced);
}

async function pushAllTogether(
  routers: readonly RegionRouter[],
  { duty, list, wanted, layers, keeping, last }: RegionPush,
  { driverOf, clock, timeoutMilliseconds }: DeployCommitDependencies,
  pace: Pace,
  signal: AbortSignal,
): Promise<Together> {
  const { regionId, step } = duty.data;
  const ready: { router: string; driver: RouterDriver }[] = [];
  const bad = new Map<string, string>();
  for (const { router, driver, options } of routers) {
    try {
      ready.push({ router, driver: driverOf(regionId, { name: router, driver, options }) });
    } catch (error) {
      bad.set(router, describeFailure(error));
    }
  }
  if (bad.size === 0) {
    const { prefixes } = wanted;
    const push = { routers: ready, list, prefixes, keeping, last, timeoutMilliseconds, layers, isFirst: step === 0 };
    return pushSliceTogether(push, pace, clock, signal);
  }
  const others = `not sent, as ${[...bad.keys()].join(', ')} can't be opened`;
  return routers.map(({ router }) => failedUntouched(router, bad.get(router) ?? others));
}

function passedOver({ router }: Readonly<{ router: string }>): RouterOutcome {
  return { router, result: 'skipped', untouched: true, because: 'the router is disabled', milliseconds: 0 };
}

export function failedUntouched(router: string, because: string): RouterOutcome {
  return { router, result: 'failed', untouched: true, because, milliseconds: 0 };
}

async function pushTo(
  { router, driver: kind, options }: RegionRouter,
  { duty, list, wanted, layers, keeping }: RegionPush,
  { driverOf, clock, timeoutMilliseconds }: DeployCommitDependencies,
  pace: Pace,
  signal: AbortSignal,
): Promise<Tried | Sliced> {
  let driver: RouterDriver;
  try {
    driver = driverOf(duty.data.regionId, { name: router, driver: kind, options });
  } catch (error) {
    return { outcome: failedUntouched(router, describeFailure(error)) };
  }
  const isFirst = duty.data.step === 0;
  return pushSlice(
    { router, driver, list, wanted, keeping, timeoutMilliseconds, layers, isFirst },
    pace,
    clock,
    signal,
  );
}

/** What an attempt carries, or `undefined` when it is no longer under way. */
export function carriedBy(state: CustomerState, commit: CommitAttempt): CommitContent | undefined {
  if (state.phase === 'unregistered') return undefined;
  const open = state.commits.get(commitKey(commit.regionId, commit.list));
  if (open?.phase !== 'deploying' || open.commitSetId !== commit.commitSetId || open.attempt !== commit.attempt)
    return undefined;
  return inDeployment(state, commit.regionId, commit.list);
}

type CommitAttempt = Readonly<{ regionId: number; list: ListKind; commitSetId: string; attempt: number }>;

export function routersOf(region: RegionState): readonly RegionRouter[] {
  return region.phase === 'absent' ? [] : [...region.routers.values()];
}
