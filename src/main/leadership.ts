import { aborted, orLate } from '../concurrency/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import type { Lease, Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { Term } from './term.ts';

/** Whether this server leads: one of all that use the same stores keeps the views and runs the processes. */
export type Leadership = Readonly<{
  /** The term under way, if this server leads. */
  term: () => Term | undefined;
  /** Whether the views in the memory of this server are the ones to be read. */
  leads: () => boolean;
  /** Rejects when a part can't go on; resolves after `stop`. */
  ended: Promise<void>;
  /** Lets duties under way end, for a while, then hands over at once. */
  stop: (patienceMilliseconds: number) => Promise<void>;
}>;

export type LeadershipOptions = Readonly<{
  leases: Leases;
  /** The lease of the first term, when it has been taken already. */
  first: Lease | undefined;
  start: (lease: Lease) => Promise<Term>;
  /** The views in memory show enough to be read, as long as the lease is held, */
  readMemory: (isHeld: () => boolean) => void;
  /** and are to be read no more. */
  readStores: () => void;
  clock: Clock;
  log: Log;
}>;

/** The lease that the leader holds. */
export const LEADERS_LEASE = 'projections';

/** The lease that a server or a command holds as long as it runs the processes: while a command has it, no server runs them. */
export function processesLease({ areShared }: Readonly<{ areShared: boolean }>): string {
  return areShared ? LEADERS_LEASE : 'server';
}

/** Does the work under the lease, and gives it back. */
export async function holding<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

const RETRY_MILLISECONDS = 1_000;
/** Duties obey their signal; one that does not must not keep this server from ever leading again. */
const BREAK_OFF_MILLISECONDS = 30_000;

/** Leads whenever the lease can be had, and stops acting as soon as it can't be relied upon any more. */
export function compete(options: LeadershipOptions): Leadership {
  const candidate = new Candidate(options);
  const ended = candidate.run();
  // The rejection reaches the callers that wait for it; without one it is no error.
  ended.catch(() => undefined);
  return {
    term: () => candidate.term(),
    leads: () => candidate.leads(),
    ended,
    stop: async (patienceMilliseconds) => {
      candidate.stop(patienceMilliseconds);
      await ended.catch(() => undefined);
    },
  };
}

class Candidate {
  readonly #with: LeadershipOptions;
  readonly #stopping = new AbortController();
  #patience = 0;
  #term: Term | undefined;
  #isReadingMemory = false;

  constructor(options: LeadershipOptions) {
    this.#with = options;
  }

  term(): Term | undefined {
    return this.#term;
  }

  leads(): boolean {
    return this.#isReadingMemory;
  }

  stop(patienceMilliseconds: number): void {
    this.#patience = patienceMilliseconds;
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    let lease = this.#with.first;
    while (!this.#stopping.signal.aborted) {
      lease ??= await this.#nextLease();
      if (lease !== undefined) await this.#serve(lease);
      lease = undefined;
    }
  }

  async #nextLease(): Promise<Lease | undefined> {
    try {
      return await this.#with.leases.acquire(LEADERS_LEASE, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      await this.#rest(error, 'who leads can not be found out; trying again');
      return undefined;
    }
  }

  async #serve(lease: Lease): Promise<void> {
    const { start, readStores, log } = this.#with;
    const failures: unknown[] = [];
    let term: Term | undefined;
    try {
      term = await start(lease);
      log.info({ fence: String(lease.fence) }, 'this server leads: it keeps the views and runs the processes');
      await this.#lead(term, lease);
    } catch (error) {
      failures.push(error);
    }
    this.#term = undefined;
    this.#isReadingMemory = false;
    readStores();
    if (term !== undefined) await this.#breakOff(term, lease);
    await lease.release();
    for (const failure of failures) await this.#rest(failure, 'a store is away: this server leads no more for now');
  }

  async #lead(term: Term, lease: Lease): Promise<void> {
    this.#term = term;
    void this.#readMemoryOnce(term, lease);
    await Promise.race([term.ended, aborted(AbortSignal.any([lease.lost, this.#stopping.signal]))]);
    if (lease.isHeld()) await Promise.race([term.stop(this.#patience), aborted(lease.lost)]);
  }

  async #readMemoryOnce(term: Term, { isHeld }: Lease): Promise<void> {
    const isCaughtUp = await term.caughtUp.then(
      () => true,
      () => false,
    );
    // A term that ended, or was to end, before has not caught up.
    if (!isCaughtUp || this.#term !== term) return;
    this.#isReadingMemory = true;
    this.#with.readMemory(isHeld);
  }

  async #breakOff(term: Term, lease: Lease): Promise<void> {
    const { clock, log } = this.#with;
    const reason: unknown = lease.lost.reason;
    const broken = term.breakOff(reason instanceof Error ? reason : new Error('the term is over'));
    if ((await orLate(broken, BREAK_OFF_MILLISECONDS, clock)) === 'late')
      log.error({}, `duties go on ${BREAK_OFF_MILLISECONDS} ms after they were broken off`);
  }

  /** @throws what is no passing failure of a store */
  async #rest(failure: unknown, message: string): Promise<void> {
    if (!(failure instanceof StoreUnavailable)) throw failure;
    const { clock, log } = this.#with;
    log.warn({ error: failure }, message);
    try {
      await clock.wait(RETRY_MILLISECONDS, this.#stopping.signal);
    } catch {
      // It stops, and need not rest.
    }
  }
}
