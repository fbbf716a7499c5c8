import type { Aggregate } from '../../../commands/aggregate.ts';
import type { CustomerState } from '../../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../../commands/ip-control/customer.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../../commands/ip-control/directory.ts';
import {
  addressesOf,
  type Keeping,
  type KeepingDependencies,
  keepingOf,
  wantedOn,
} from '../../../commands/ip-control/kept-lists.ts';
import type { RegionRouter, RegionState } from '../../../commands/ip-control/region-state.ts';
import type { RegionCommand } from '../../../commands/ip-control/region.ts';
import { isRestored } from '../../../commands/ip-control/restore.ts';
import { listTurn, type KeyedMutex, sliceTurn } from '../../../concurrency/keyed-mutex.ts';
import type { CustomerEvent } from '../../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../../events/ip-control/region.ts';
import type { RouterCheckResult } from '../../../events/ip-control/router-upkeep.ts';
import type { RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import type { Log } from '../../../ports/log.ts';
import {
  type RouterDriver,
  RouterFailure,
  type RouterFailureCode,
  type RouterSettings,
} from '../../../ports/routers.ts';
import { KEPT, NOT_SAVED } from '../deploy-commit.ts';
import { deployedPrefixes, type OwnedList, ownedLists } from './owned-lists.ts';
import { isSliced, type Pace, pushSlice } from './push-slice.ts';
import {
  describeFailure,
  differenceOf,
  type HeldList,
  isNotSaved,
  isSameList,
  isUnreadable,
  callRouter,
} from './router-calls.ts';
import { recordKept } from './record-kept.ts';
import { requireUnchanged, RouterChanged, routerOf } from './same-router.ts';
import { WantedList } from './wanted-list.ts';

export type ReconcileDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
  store: KeepingDependencies['store'];
  driverOf: (regionId: number, router: RouterSettings) => RouterDriver;
  turns: KeyedMutex;
  clock: Clock;
  ids: Ids;
  log: Log;
  timeoutMilliseconds: number;
}>;

/**
 * Why a router is looked at. `drift`: what others have changed is recorded, and put right where that is wanted. `catch-up`: it was
 * passed over for a while, so that differences are no news. `prune`: as `drift`, and lists that belong to no customer go.
 */
export type ReconcilePurpose = 'drift' | 'catch-up' | 'prune';

/** What was seen and done; `isComplete` when every list could be compared and is right now, or a commit is going to see to it. */
export type RouterReconciliation = RouterCheckResult & Readonly<{ isComplete: boolean }>;

/** A list that is being put right, and how far that has come where it comes in slices. */
type Repair = Readonly<{ list: string; owner: OwnedList; isFirst: boolean; progress: string }>;

/** Slices of one look take as long as so many pushes may; what is left then waits for the next look, as others wait for this one's end. */
const PUSHES_IN_A_LOOK = 10;

/** With these there is no use in asking the router for another list. */
const UNREACHABLE: readonly RouterFailureCode[] = [
  'bad-option',
  'unreachable',
  'host-key-mismatch',
  'login-refused',
  'timed-out',
];

/**
 * Compares all lists of a router with what the last completed commits have put there, without holding up commits: only a list that
 * differs is compared again, recorded and put right, in its own turn. A list that a commit is under way with is the commit's.
 * A list that takes longer than a push may comes in slices, once all others are right. Failures of the router are part of the answer;
 * undefined for a router that is not there or is disabled. `stop` ends it between two lists or slices, `signal` in the middle of one.
 */
export async function reconcileRouter(
  regionId: number,
  name: string,
  purpose: ReconcilePurpose,
  dependencies: ReconcileDependencies,
  signal: AbortSignal,
  stop: AbortSignal = signal,
): Promise<RouterReconciliation | undefined> {
  const router = await routerOf(regionId, name, dependencies);
  if (router === undefined || router.phase === 'disabled') return undefined;
  const look = new Reconciliation(regionId, router, purpose, dependencies, signal);
  try {
    await look.run(stop);
  } catch (error) {
    if (signal.aborted || !(error instanceof RouterFailure || error instanceof RouterChanged)) throw error;
    look.stoppedBy(error);
  }
  return look.result();
}

class Reconciliation {
  readonly #regionId: number;
  readonly #router: RegionRouter;
  readonly #purpose: ReconcilePurpose;
  readonly #with: ReconcileDependencies;
  readonly #signal: AbortSignal;
  #lists = 0;
  #underWay = 0;
  #isStopped = false;
  #isUnsaved = false;
  readonly #drifted: string[] = [];
  readonly #repaired: string[] = [];
  #unowned: readonly string[] = [];
  readonly #removed: string[] = [];
  readonly #problems: string[] = [];
  readonly #pace: Pace = { share: 1, late: 0 };

  constructor(
    regionId: number,
    router: RegionRouter,
    purpose: ReconcilePurpose,
    dependencies: ReconcileDependencies,
    signal: AbortSignal,
  ) {
    this.#regionId = regionId;
    this.#router = router;
    this.#purpose = purpose;
    this.#with = dependencies;
    this.#signal = signal;
  }

  async run(stop: AbortSignal): Promise<void> {
    const { router: name, driver: kind, options } = this.#router;
    const driver = this.#with.driverOf(this.#regionId, { name, driver: kind, options });
    const names = new Set(await this.#bounded((within) => driver.lists(within)));
    const owned = await ownedLists(this.#with.directory);
    const sliced: Repair[] = [];
    for (const [list, owner] of owned) {
      stop.throwIfAborted();
      const goesOn = await this.#compare(list, owner, names.has(list), driver);
      if (goesOn !== undefined) sliced.push(goesOn);
    }
    this.#unowned = [...names].filter((list) => !owned.has(list));
    if (this.#purpose === 'prune') await this.#prune(driver);
    await this.#goOn(sliced, driver, stop);
    await this.#save(driver);
    // A look that has only read says nothing of the router as it is now either.
    await requireUnchanged(this.#regionId, this.#router, this.#with);
    const left = this.#unowned.filter((list) => !this.#removed.includes(list));
    if (this.#purpose !== 'catch-up')
      await this.#record({ type: 'RecordUnownedLists', data: { router: name, lists: left } });
  }

  stoppedBy(failure: Error): void {
    this.#isStopped = true;
    this.#problems.push(describeFailure(failure));
  }

  result(): RouterReconciliation {
    const [drifted, repaired, removed, problems] = [this.#drifted, this.#repaired, this.#removed, this.#problems];
    const isComplete = !this.#isStopped && drifted.length === repaired.length;
    const counts = { lists: this.#lists, underWay: this.#underWay };
    return { ...counts, drifted, repaired, unowned: [...this.#unowned], removed, problems, isComplete };
  }

  /** What goes on in slices. */
  async #compare(list: string, owner: OwnedList, isThere: boolean, driver: RouterDriver): Promise<Repair | undefined> {
    const wanted = await deployedPrefixes(this.#regionId, owner, this.#with.customers);
    if (wanted !== 'under way') {
      if (wanted.length === 0 && !isThere) return this.#foundRight(list);
      this.#lists += 1;
      const held = isThere ? await this.#read(list, driver) : 'absent';
      if (held !== 'unreadable' && isSameList(held, wanted)) return this.#foundRight(list);
      const target = await this.#target(list, owner, held, wanted, await this.#keeping(owner));
      if (held !== 'unreadable' && isSameList(held, target)) return this.#foundRight(list);
    } else if (this.#purpose !== 'catch-up') {
      this.#underWay += 1;
      return undefined;
    }
    // A deployment that began while the router was passed over has to be over.
    return this.#inTurn({ list, owner, isFirst: true, progress: '' }, driver);
  }

  /** Lists that come in slices take turns: with each other, and with those of commits. */
  async #goOn(sliced: readonly Repair[], driver: RouterDriver, stop: AbortSignal): Promise<void> {
    const { clock, timeoutMilliseconds, turns } = this.#with;
    const until = clock.monotonicMilliseconds() + PUSHES_IN_A_LOOK * timeoutMilliseconds;
    const turn = sliceTurn(this.#regionId, this.#router.router);
    const queue = [...sliced];
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      stop.throwIfAborted();
      const repair = next;
      if (clock.monotonicMilliseconds() >= until)
        this.#problems.push(`${repair.list}: it comes in slices, and ${repair.progress} are there`);
      else {
        const goesOn = await turns.take(turn, this.#signal, () => this.#inTurn(repair, driver));
        if (goesOn !== undefined) queue.push(goesOn);
      }
    }
  }

  #inTurn(repair: Repair, driver: RouterDriver): Promise<Repair | undefined> {
    return this.#with.turns.take(this.#turn(repair.list), this.#signal, async () => {
      await requireUnchanged(this.#regionId, this.#router, this.#with);
      return this.#repair(repair, driver);
    });
  }

  /** In the list's turn: no commit deploys it meanwhile, and what was wanted a moment ago may no longer be. */
  async #repair({ list, owner, isFirst }: Repair, driver: RouterDriver): Promise<Repair | undefined> {
    const wanted = await deployedPrefixes(this.#regionId, owner, this.#with.customers);
    if (wanted === 'under way') {
      this.#underWay += 1;
      return undefined;
    }
    const keeping = await this.#keeping(owner);
    const held = await this.#read(list, driver);
    const target = await this.#target(list, owner, held, wanted, keeping);
    if (isFirst) {
      if (held !== 'unreadable' && isSameList(held, target)) return this.#foundRight(list);
      this.#drifted.push(list);
      await this.#recordDrift(list, held, target);
    }
    const { router, repair } = this.#router;
    if (!repair && this.#purpose !== 'catch-up') return undefined;
    const { clock, timeoutMilliseconds } = this.#with;
    const push = {
      router,
      driver,
      list,
      wanted: WantedList.ofPrefixes(wanted),
      keeping,
      timeoutMilliseconds,
      layers: [],
      isFirst,
    };
    const pushed = await pushSlice(push, this.#pace, clock, this.#signal);
    this.#signal.throwIfAborted();
    await this.#requireNotDrained(list, driver);
    if (isSliced(pushed))
      return { list, owner, isFirst: false, progress: `${pushed.done} of ${target.length} prefixes` };
    await this.#settle(list, pushed.outcome);
    return undefined;
  }

  /** Who drains a router waits for commits alone: a list that was under way meanwhile may have come after all were taken off, and goes again. */
  async #requireNotDrained(list: string, driver: RouterDriver): Promise<void> {
    const now = await routerOf(this.#regionId, this.#router.router, this.#with);
    if (now?.isDrained !== true) return;
    try {
      await this.#bounded((within) => driver.remove(list, within));
    } catch (error) {
      this.#notDone(list, error);
    }
    throw new RouterChanged('the router was drained meanwhile');
  }

  async #settle(list: string, { router, result, because, saved }: RouterOutcome): Promise<void> {
    if (result !== 'confirmed') {
      this.#problems.push(`${list}: ${because ?? result}`);
      return;
    }
    this.#repaired.push(list);
    if (saved === false) await this.#notSaved(because ?? NOT_SAVED);
    if (this.#purpose !== 'catch-up')
      await this.#record({ type: 'RecordDriftRepaired', data: { router, list, how: 'pushed' } });
  }

  /** While the log is a restored one, lists that it does not know may be those of customers who came to be in the part that is lost. */
  async #prune(driver: RouterDriver): Promise<void> {
    const { state } = await this.#with.directory.state(DIRECTORY_ID);
    if (!isRestored(state, this.#regionId)) for (const list of this.#unowned) await this.#remove(list, driver);
    else if (this.#unowned.length > 0) this.#problems.push(NOT_PRUNED);
  }

  /** All that this router's list is to hold: what a restored log does not explain is no drift. */
  async #target(
    list: string,
    owner: OwnedList,
    held: HeldList | 'unreadable',
    wanted: readonly string[],
    keeping: Keeping | undefined,
  ): Promise<readonly string[]> {
    const target = held === 'unreadable' ? undefined : wantedOn(held, wanted, keeping);
    // A list that can't be kept as it is differs; the push says what is wrong with it.
    if (target === undefined || 'problem' in target) return wanted;
    const fields = { regionId: this.#regionId, router: this.#router.router, list, kept: target.kept.length };
    if (target.kept.length > 0) this.#with.log.warn(fields, KEPT);
    if (owner.kind === 'BLACKHOLE')
      await recordKept(owner.customerId, this.#regionId, this.#router.router, addressesOf(target.kept), this.#with);
    return target.prefixes;
  }

  #keeping({ customerId, kind }: OwnedList): Promise<Keeping | undefined> {
    return keepingOf({ customerId, regionId: this.#regionId, list: kind }, this.#with);
  }

  async #remove(list: string, driver: RouterDriver): Promise<void> {
    await this.#with.turns.take(this.#turn(list), this.#signal, async () => {
      // A customer may have come to have it.
      if ((await ownedLists(this.#with.directory)).has(list)) return;
      await requireUnchanged(this.#regionId, this.#router, this.#with);
      try {
        await this.#bounded((within) => driver.remove(list, within));
        this.#removed.push(list);
      } catch (error) {
        if (!isNotSaved(error)) return this.#notDone(list, error);
        this.#removed.push(list);
        await this.#notSaved(describeFailure(error));
      }
    });
  }

  #turn(list: string): string {
    return listTurn(this.#regionId, list, this.#router.router);
  }

  /** What a router could not save before is tried again, until it is saved. */
  async #save(driver: RouterDriver): Promise<void> {
    if (this.#router.unsaved === undefined || this.#isUnsaved || driver.save === undefined) return;
    const { router } = this.#router;
    try {
      await this.#bounded(async (within) => driver.save?.(within));
    } catch (error) {
      if (!isNotSaved(error)) throw error;
      await this.#notSaved(describeFailure(error));
      return;
    }
    this.#with.log.info({ regionId: this.#regionId, router }, 'what the router could not save is saved now');
    await this.#record({ type: 'RecordRouterSaved', data: { router } });
  }

  async #notSaved(because: string): Promise<void> {
    const { router } = this.#router;
    this.#isUnsaved = true;
    this.#problems.push(because);
    this.#with.log.warn({ regionId: this.#regionId, router, because }, NOT_SAVED);
    await this.#record({ type: 'RecordRouterNotSaved', data: { router, because } });
  }

  /** What can't be read as a list is none of ours. */
  async #read(list: string, driver: RouterDriver): Promise<HeldList | 'unreadable'> {
    try {
      return await this.#bounded((within) => driver.read(list, within));
    } catch (error) {
      if (isUnreadable(error)) return 'unreadable';
      throw error;
    }
  }

  async #foundRight(list: string): Promise<undefined> {
    const { router, drifts } = this.#router;
    if (!drifts.has(list)) return;
    await this.#record({ type: 'RecordDriftRepaired', data: { router, list, how: 'found-right' } });
  }

  async #recordDrift(list: string, held: HeldList | 'unreadable', wanted: readonly string[]): Promise<void> {
    const { router } = this.#router;
    const difference = differenceOf(held === 'unreadable' ? [UNREADABLE] : held, wanted);
    const fields = { regionId: this.#regionId, router, list, missing: difference.missing, extra: difference.extra };
    this.#with.log.warn(fields, this.#purpose === 'catch-up' ? 'a list is brought up to date' : 'drift');
    if (this.#purpose !== 'catch-up')
      await this.#record({ type: 'RecordDrift', data: { router, list, ...difference } });
  }

  #notDone(list: string, error: unknown): void {
    if (this.#signal.aborted || !(error instanceof RouterFailure) || UNREACHABLE.includes(error.code)) throw error;
    this.#problems.push(`${list}: ${describeFailure(error)}`);
  }

  #bounded<T>(work: (within: AbortSignal) => Promise<T>): Promise<T> {
    return callRouter(work, this.#with.timeoutMilliseconds, this.#with.clock, this.#signal);
  }

  async #record(command: RegionCommand): Promise<void> {
    const answer = await this.#with.regions.handle(this.#regionId, command, {
      actor: 'system:drift',
      requestId: this.#with.ids.uuid(),
    });
    // The router may have been removed meanwhile: then there is no router left to record it of.
    if (isRefusal(answer) && answer.refused !== 'router-not-found')
      throw new Error(`${command.type} of ${this.#router.router} was refused: ${answer.because}`);
  }
}

const NOT_PRUNED = 'the log was restored: lists that it does not know stay until edgeward restore accept';
const UNREADABLE = '# what is there is no list';
