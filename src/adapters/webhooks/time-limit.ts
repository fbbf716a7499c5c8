import type { Clock } from '../../ports/clock.ts';

/** The time is up. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** What can stop one piece of work: the end of its time, its caller, or the end of all. Cheaper than a signal for each. */
export class TimeLimit {
  /** None before its time has begun. */
  deadline = Number.POSITIVE_INFINITY;
  readonly caller: AbortSignal;
  #stopped: Readonly<{ reason: unknown }> | undefined;
  #listener: (() => void) | undefined;

  constructor(caller: AbortSignal) {
    this.caller = caller;
  }

  /** Why it was stopped, once it was. */
  get stopped(): Readonly<{ reason: unknown }> | undefined {
    return this.#stopped;
  }

  /** Whom to tell, once, when it is stopped; the work has one listener at a time. */
  listen(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  /** Stops the work; only the first time counts. */
  stop(reason: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = { reason };
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }
}

export type TimeLimits = Readonly<{
  /** Starts one, whose time has not begun; it must be ended. `caller` stops it with its reason. */
  start: (caller: AbortSignal) => TimeLimit;
  /** Its time begins. */
  begin: (limit: TimeLimit) => void;
  /** The work is over. */
  end: (limit: TimeLimit) => void;
  /** Stops all that run, and waits for nothing any more. */
  close: (reason: Error) => void;
}>;

/** Limits of one length, so that the oldest is always the next to be over and one wait at the clock serves them all. */
export function createTimeLimits(clock: Clock, milliseconds: number): TimeLimits {
  const waiting = new Set<TimeLimit>();
  const running = new Set<TimeLimit>();
  const callers = createCallers();
  const closing = new AbortController();
  let watching = false;

  const watch = async (): Promise<void> => {
    for (let [oldest] = running; oldest !== undefined; [oldest] = running) {
      const rest = oldest.deadline - clock.monotonicMilliseconds();
      if (rest > 0) {
        // Work that is over is waited for all the same: whatever began later ends later.
        await clock.wait(rest, closing.signal);
      } else {
        running.delete(oldest);
        oldest.stop(new TimedOut());
      }
    }
  };
  const keepWatch = async (): Promise<void> => {
    watching = true;
    try {
      await watch();
    } catch (error) {
      if (!closing.signal.aborted) throw error;
    } finally {
      watching = false;
    }
  };
  return {
    start: (caller) => {
      const limit = new TimeLimit(caller);
      waiting.add(limit);
      callers.follow(limit);
      return limit;
    },
    begin: (limit) => {
      waiting.delete(limit);
      limit.deadline = clock.monotonicMilliseconds() + milliseconds;
      running.add(limit);
      if (!watching) void keepWatch();
    },
    end: (limit) => {
      waiting.delete(limit);
      running.delete(limit);
      callers.leave(limit);
    },
    close: (reason) => {
      for (const limit of [...waiting, ...running]) limit.stop(reason);
      closing.abort();
    },
  };
}

/** One listener for each signal, however much work it can stop. */
function createCallers(): Readonly<{ follow: (limit: TimeLimit) => void; leave: (limit: TimeLimit) => void }> {
  const bySignal = new Map<AbortSignal, Readonly<{ limits: Set<TimeLimit>; onAbort: () => void }>>();
  return {
    follow: (limit) => {
      const known = bySignal.get(limit.caller);
      if (known !== undefined) {
        known.limits.add(limit);
        return;
      }
      const limits = new Set([limit]);
      const onAbort = (): void => {
        for (const each of limits) each.stop(limit.caller.reason);
      };
      bySignal.set(limit.caller, { limits, onAbort });
      limit.caller.addEventListener('abort', onAbort);
    },
    leave: (limit) => {
      const known = bySignal.get(limit.caller);
      known?.limits.delete(limit);
      if (known === undefined || known.limits.size > 0) return;
      bySignal.delete(limit.caller);
      limit.caller.removeEventListener('abort', known.onAbort);
    },
  };
}
