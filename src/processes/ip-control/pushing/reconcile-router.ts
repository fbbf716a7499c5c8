import type { Aggregate } from '../../../commands/handle.ts';
import { commitKey, type CustomerState } from '../../../commands/ip-control/customer-state.ts';
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
import { listTurn, type KeyedMutex } from '../../../concurrency/keyed-mutex.ts';
import type { CustomerEvent } from '../../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../../events/ip-control/region.ts';
import type { RouterCheckResult } from '../../../events/ip-control/router-upkeep.ts';
import { type ListKind, listKind, prefixListName } from '../../../events/ip-control/vocabulary.ts';
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
import { KEPT, lastPrefixes, NOT_SAVED } from '../deploy-commit.ts';
import { pushPrefixList } from './push-prefix-list.ts';
import {
  describeFailure,
  differenceOf,
  type HeldList,
  isNotSaved,
  isSameList,
  isUnreadable,
  withDeadline,
} from './router-calls.ts';

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

type OwnedList = Readonly<{ customerId: number; kind: ListKind }>;

/** With these there is no use in asking the router for another list. */
const UNREACHABLE: readonly RouterFailureCode[] = [
  'bad-option',
  'unreachable',
  'host-key-mismatch',
  'login-refused',
  'timed-out',
];

/**
 * Compares all lists of a router with what the last completed commits have put there, without holding anybody up: only a list that
 * differs is compared again, recorded and put right, in its own turn. A list that a commit is under way with is the commit's.
 * Failures of the router are part of the answer; undefined for a router that is not there or is disabled. `stop` ends it between
 * two lists, `signal` in the middle of one.
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
    if (signal.aborted || !(error instanceof RouterFailure)) throw error;
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
    const owned = await this.#ownedLists();
    for (const [list, owner] of owned) {
      stop.throwIfAborted();
      await this.#compare(list, owner, names.has(list), driver);
    }
    this.#unowned = [...names].filter((list) => !owned.has(list));
    if (this.#purpose === 'prune') await this.#prune(driver);
    await this.#save(driver);
    const left = this.#unowned.filter((list) => !this.#removed.includes(list));
    if (this.#purpose !== 'catch-up')
      await this.#record({ type: 'RecordUnownedLists', data: { router: name, lists: left } });
  }

  stoppedBy(failure: RouterFailure): void {
    this.#isStopped = true;
    this.#problems.push(describeFailure(failure));
  }

  result(): RouterReconciliation {
    const [drifted, repaired, removed, problems] = [this.#drifted, this.#repaired, this.#removed, this.#problems];
    const isComplete = !this.#isStopped && drifted.length === repaired.length;
    const counts = { lists: this.#lists, underWay: this.#underWay };
    return { ...counts, drifted, repaired, unowned: [...this.#unowned], removed, problems, isComplete };
  }

  /** Every name that a customer's lists have, whatever they hold. */
  async #ownedLists(): Promise<ReadonlyMap<string, OwnedList>> {
    const { customers } = (await this.#with.directory.state(DIRECTORY_ID)).state;
    return new Map(
      [...customers].flatMap(([customerId, { listName }]) =>
        listKind.options.map((kind): [string, OwnedList] => [prefixListName(listName, kind), { customerId, kind }]),
      ),
    );
  }

  async #compare(list: string, owner: OwnedList, isThere: boolean, driver: RouterDriver): Promise<void> {
    const wanted = await this.#wanted(owner);
    if (wanted !== 'under way') {
      if (wanted.length === 0 && !isThere) return this.#foundRight(list);
      this.#lists += 1;
      const held = isThere ? await this.#read(list, driver) : 'absent';
      if (held !== 'unreadable' && isSameList(held, wanted)) return this.#foundRight(list);
      const target = await this.#target(list, owner, held, wanted, await this.#keeping(owner));
      if (held !== 'unreadable' && isSameList(held, target)) return this.#foundRight(list);
    } else if (this.#purpose !== 'catch-up') {
      this.#underWay += 1;
      return;
    }
    // A deployment that began while the router was passed over has to be over.
    await this.#with.turns.take(this.#turn(list), this.#signal, () => this.#repair(list, owner, driver));
  }

  /** In the list's turn: nobody deploys it meanwhile, and what was wanted a moment ago may no longer be. */
  async #repair(list: string, owner: OwnedList, driver: RouterDriver): Promise<void> {
    const wanted = await this.#wanted(owner);
    if (wanted === 'under way') {
      this.#underWay += 1;
      return;
    }
    const keeping = await this.#keeping(owner);
    const held = await this.#read(list, driver);
    const target = await this.#target(list, owner, held, wanted, keeping);
    if (held !== 'unreadable' && isSameList(held, target)) return this.#foundRight(list);
    this.#drifted.push(list);
    await this.#recordDrift(list, held, target);
    const { router, repair } = this.#router;
    if (!repair && this.#purpose !== 'catch-up') return;
    const { clock, timeoutMilliseconds } = this.#with;
    const push = { router, driver, list, prefixes: wanted, keeping, timeoutMilliseconds };
    const { result, because, saved } = await pushPrefixList(push, clock, this.#signal);
    this.#signal.throwIfAborted();
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
    if (owner.kind === 'BLACKHOLE') await this.#recordKept(owner, target.kept);
    return target.prefixes;
  }

  /** So that its customer can enable what the log has as enabled already. */
  async #recordKept({ customerId }: OwnedList, kept: readonly string[]): Promise<void> {
    const data = { regionId: this.#regionId, router: this.#router.router, set: addressesOf(kept) };
    const context = { actor: 'system:drift', requestId: this.#with.ids.uuid() };
    const answer = await this.#with.customers.handle(customerId, { type: 'RecordKept', data }, context);
    if (isRefusal(answer) && answer.refused !== 'customer-not-found')
      throw new Error(`what ${this.#router.router} keeps could not be recorded: ${answer.because}`);
  }

  #keeping({ customerId, kind }: OwnedList): Promise<Keeping | undefined> {
    return keepingOf({ customerId, regionId: this.#regionId, list: kind }, this.#with);
  }

  async #remove(list: string, driver: RouterDriver): Promise<void> {
    await this.#with.turns.take(this.#turn(list), this.#signal, async () => {
      // A customer may have come to have it.
      if ((await this.#ownedLists()).has(list)) return;
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

  async #wanted({ customerId, kind }: OwnedList): Promise<readonly string[] | 'under way'> {
    const { state } = await this.#with.customers.state(customerId);
    if (state.phase === 'unregistered') return [];
    if (state.commits.has(commitKey(this.#regionId, kind))) return 'under way';
    return lastPrefixes(state, { regionId: this.#regionId, list: kind });
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

  async #foundRight(list: string): Promise<void> {
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
    return withDeadline(work, this.#with.timeoutMilliseconds, this.#with.clock, this.#signal);
  }

  async #record(command: RegionCommand): Promise<void> {
    const answer = await this.#with.regions.handle(this.#regionId, command, {
      actor: 'system:drift',
      requestId: this.#with.ids.uuid(),
    });
    // The router may have been removed meanwhile: there is nobody left to say it of.
    if (isRefusal(answer) && answer.refused !== 'router-not-found')
      throw new Error(`${command.type} of ${this.#router.router} was refused: ${answer.because}`);
  }
}

const NOT_PRUNED = 'the log was restored: lists that it does not know stay until edgeward restore accept';
const UNREADABLE = '# what is there is no list';

async function routerOf(
  regionId: number,
  name: string,
  { regions }: ReconcileDependencies,
): Promise<RegionRouter | undefined> {
  const { state } = await regions.state(regionId);
  return state.phase === 'created' ? state.routers.get(name) : undefined;
}
