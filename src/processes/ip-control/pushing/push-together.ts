import { type Keeping, NOT_REPLACED, wantedOn } from '../../../commands/ip-control/kept-lists.ts';
import type { RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type PreparedChange, type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import {
  describeFailure,
  entriesOf,
  commonOf,
  type HeldList,
  isSameList,
  isUnreadable,
  callRouter,
  isNotSaved,
} from './router-calls.ts';

export type PushTogether = Readonly<{
  routers: readonly Readonly<{ router: string; driver: RouterDriver }>[];
  list: string;
  /** Canonical CIDR texts in order: all that the list is to hold. */
  prefixes: readonly string[];
  /** While the log is a restored one: what each router holds beside it stays, but for what the log explains. */
  keeping?: Keeping | undefined;
  /** What the last completed commit put there: it is gone back to where what is there can't be read as a list. */
  last: () => readonly string[];
  /** What a router is to hold now on its way from what it holds to what it is to hold; without it that at once. */
  slice?: (held: readonly string[], wanted: readonly string[]) => readonly string[];
  /** Bound on each step on one router. */
  timeoutMilliseconds: number;
  /** A change that takes longer on one router is begun on none. */
  patienceMilliseconds?: number;
}>;

/** How it went. */
export type TriedTogether = Readonly<{
  outcomes: readonly RouterOutcome[];
  /** Where it would take too long on some routers, and nothing else was wrong: about how many new entries all of them would take in that time. */
  possible?: number;
  /** Some routers did not do it in time, and nothing else was wrong. */
  isLate: boolean;
  /** How many of the wanted blocks all routers hold now, as far as it was seen. */
  done: number;
}>;

type Result = Omit<RouterOutcome, 'router' | 'milliseconds'>;

/**
 * Makes all routers hold a list, or none of them. All have it checked first. Those that can hold a change back put it in force for
 * a while and are read back; then the others take it, who could only have their old list put back. When all of them hold it, it is
 * confirmed, and read back once more; otherwise each goes back to what it had. Never rejects: what a router holds in the end decides,
 * and one whose answer did not come is read.
 */
export async function pushTogether(push: PushTogether, clock: Clock, signal: AbortSignal): Promise<TriedTogether> {
  const started = clock.monotonicMilliseconds();
  const members = push.routers.map(({ router, driver }) => new Member(router, driver, push, clock, signal));
  await Promise.all(members.map((member) => member.prepare()));
  const steps: readonly ((member: Member) => Promise<void>)[] = [
    (member) => member.tryOut(),
    (member) => member.takeOver(),
    (member) => member.confirm(),
    (member) => member.readBack(),
  ];
  for (const step of steps) {
    if (members.some(({ problem }) => problem !== undefined)) break;
    await Promise.all(members.map(step));
  }
  const culprits = members.filter(({ problem }) => problem !== undefined).map(({ router }) => router);
  if (culprits.length > 0) await Promise.all(members.map((member) => member.goBack(culprits)));
  const milliseconds = Math.round(clock.monotonicMilliseconds() - started);
  const outcomes = members.map((member) => ({ router: member.router, ...member.result(), milliseconds }));
  return { outcomes, done: Math.min(...members.map(({ done }) => done)), ...timeOf(members) };
}

function timeOf(members: readonly Member[]): Pick<TriedTogether, 'possible' | 'isLate'> {
  const failures = members.flatMap(({ failure }) => failure ?? []);
  const possible = failures.flatMap((failure) => failure.possible ?? []);
  const culprits = members.filter(({ problem }) => problem !== undefined);
  const isTimeAlone = culprits.length > 0 && culprits.every(({ failure }) => failure !== undefined && isLate(failure));
  return {
    isLate: isTimeAlone,
    ...(isTimeAlone && possible.length === culprits.length ? { possible: Math.min(...possible) } : {}),
  };
}

function isLate({ code }: RouterFailure): boolean {
  return code === 'too-large' || code === 'timed-out' || code === 'outcome-unknown';
}

/** One router in a change that all of them take or none. */
class Member {
  readonly router: string;
  /** Why it does not hold the list, or would not. */
  problem: string | undefined;
  /** The problem, where the router or its driver said so. */
  failure: RouterFailure | undefined;
  readonly #driver: RouterDriver;
  readonly #push: PushTogether;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #prepared: PreparedChange | undefined;
  #before: HeldList | undefined;
  /** All that this router is to hold. */
  #prefixes: readonly string[];
  /** All that it is to hold in the end. */
  #wanted: readonly string[];
  #kept = 0;
  #isReadable = true;
  /** Something may have been put in force that has to be taken back. */
  #touched = false;
  /** In force for good, as far as the router was asked. */
  #confirmed = false;
  #remark: string | undefined;
  #replaceFailure: RouterFailure | undefined;
  #isUnsaved = false;
  #result: Result | undefined;

  constructor(router: string, driver: RouterDriver, push: PushTogether, clock: Clock, signal: AbortSignal) {
    this.router = router;
    this.#driver = driver;
    this.#push = push;
    this.#prefixes = push.prefixes;
    this.#wanted = push.prefixes;
    this.#clock = clock;
    this.#signal = signal;
  }

  prepare(): Promise<void> {
    return this.#step(async (within) => {
      const { list, keeping, slice, timeoutMilliseconds, patienceMilliseconds = timeoutMilliseconds } = this.#push;
      if (keeping !== undefined) await this.#keep(keeping, within);
      if (slice !== undefined) {
        this.#before ??= await this.#heldOrLast(within);
        this.#prefixes = slice(entriesOf(this.#before), this.#wanted);
      }
      const options = { timeoutMilliseconds: patienceMilliseconds };
      this.#prepared = await this.#driver.prepare?.(list, this.#prefixes, within, options).catch(async (error) => {
        if (isTooLarge(error)) this.#before ??= await this.#heldOrLast(within);
        throw error;
      });
      const before = this.#prepared?.before ?? (await this.#heldOrLast(within));
      if (this.#before !== undefined && this.#isReadable && !isSameList(before, entriesOf(this.#before)))
        throw new Error('the list was changed by others meanwhile');
      this.#before = before;
    });
  }

  /** What can't be read as a list may hold what a restored log does not explain: then nothing is changed. */
  async #keep(keeping: Keeping, within: AbortSignal): Promise<void> {
    const held = await this.#driver.read(this.#push.list, within).catch((error: unknown) => {
      throw isUnreadable(error) ? new Error(`${describeFailure(error)}; ${NOT_REPLACED}`) : error;
    });
    const wanted = wantedOn(held, this.#push.prefixes, keeping);
    if ('problem' in wanted) throw new Error(wanted.problem);
    [this.#before, this.#prefixes, this.#kept] = [held, wanted.prefixes, wanted.kept.length];
    this.#wanted = wanted.prefixes;
  }

  /** What can't be read as a list is none of ours, and is not put back. */
  async #heldOrLast(within: AbortSignal): Promise<HeldList> {
    try {
      return await this.#driver.read(this.#push.list, within);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#isReadable = false;
      return this.#push.last();
    }
  }

  /** Those that can take it back by themselves go first. */
  tryOut(): Promise<void> {
    const prepared = this.#prepared;
    if (prepared === undefined) return Promise.resolve();
    return this.#step(async (within) => {
      this.#touched = !this.#isHeldAlready();
      await prepared.commit(within);
      this.#insistOn(await prepared.read(within));
    });
  }

  takeOver(): Promise<void> {
    if (this.#prepared !== undefined || this.#isHeldAlready()) return Promise.resolve();
    return this.#step(async (within) => {
      const { list, timeoutMilliseconds } = this.#push;
      this.#touched = true;
      // Whatever the change answers, only what the router holds afterwards decides.
      await this.#driver
        .replace(list, this.#prefixes, within, { timeoutMilliseconds })
        .catch((error: unknown) => this.#note(error));
      this.#confirmed = true;
    }).then(() => this.readBack());
  }

  confirm(): Promise<void> {
    const prepared = this.#prepared;
    if (prepared === undefined) return Promise.resolve();
    return this.#step(async (within) => {
      this.#confirmed = true;
      await prepared.confirm(within).catch((error: unknown) => this.#note(error));
    });
  }

  readBack(): Promise<void> {
    return this.#step(async (within) => this.#insistOn(await this.#driver.read(this.#push.list, within)));
  }

  /** Has what it had before, or says why it has not. Goes on when everything else is being stopped. */
  async goBack(culprits: readonly string[]): Promise<void> {
    const others = culprits.filter((router) => router !== this.router).join(', ');
    const because = this.problem ?? `taken back, as ${others} did not take it`;
    await this.#prepared?.undo();
    if (!this.#touched) {
      this.#result = {
        result: 'failed',
        untouched: true,
        because: this.problem ?? `not sent, as ${others} would not take it`,
      };
      return;
    }
    try {
      await this.#alone(async (within) => {
        const trouble = this.#confirmed ? await this.#putBack(within).catch(describeFailure) : undefined;
        const held = await this.#driver.read(this.#push.list, within);
        const isBack = this.#before !== undefined && isSameList(held, entriesOf(this.#before));
        const why = trouble === undefined ? '' : ` (${trouble})`;
        const remark = isBack ? because : `${because}; it does not hold what it had before${why}`;
        this.#result = { result: 'failed', untouched: false, because: remark };
      });
    } catch (error) {
      const remark = `${because}; then, going back: ${describeFailure(error)}`;
      this.#result = { result: 'unknown', untouched: false, because: remark };
    }
  }

  /** How many of the wanted blocks it holds now, as far as it was seen. */
  get done(): number {
    const held = this.problem === undefined ? this.#prefixes : entriesOf(this.#before ?? 'absent');
    return commonOf(held, this.#wanted);
  }

  result(): Result {
    const together = this.#prepared === undefined ? 'compensated' : 'prepared';
    if (this.#result !== undefined) return { ...this.#result, together };
    const remark = this.#remark === undefined ? {} : { because: this.#remark };
    const kept = this.#kept === 0 ? {} : { kept: this.#kept };
    const saved = this.#isUnsaved ? { saved: false as const } : {};
    return { result: 'confirmed', untouched: !this.#touched, ...remark, ...saved, together, ...kept };
  }

  #note(error: unknown): void {
    this.#remark = describeFailure(error);
    this.#replaceFailure = error instanceof RouterFailure ? error : undefined;
    this.#isUnsaved = isNotSaved(error);
  }

  async #putBack(within: AbortSignal): Promise<undefined> {
    const { list } = this.#push;
    if (this.#before === undefined || this.#before === 'absent') await this.#driver.remove(list, within);
    else await this.#driver.replace(list, this.#before, within);
    return undefined;
  }

  #isHeldAlready(): boolean {
    return this.#isReadable && this.#before !== undefined && isSameList(this.#before, this.#prefixes);
  }

  #insistOn(held: HeldList): void {
    if (!isSameList(held, this.#prefixes))
      throw new Error(this.#remark ?? 'the list reads back differently from what was sent');
  }

  async #step(work: (within: AbortSignal) => Promise<void>): Promise<void> {
    if (this.problem !== undefined) return;
    try {
      this.#signal.throwIfAborted();
      await callRouter(work, this.#push.timeoutMilliseconds, this.#clock, this.#signal);
    } catch (error) {
      this.problem = describeFailure(error);
      this.failure = error instanceof RouterFailure ? error : this.#replaceFailure;
    }
  }

  #alone(work: (within: AbortSignal) => Promise<void>): Promise<void> {
    return callRouter(work, this.#push.timeoutMilliseconds, this.#clock, new AbortController().signal);
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RouterFailure && error.possible !== undefined;
}
