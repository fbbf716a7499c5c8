import type { Clock } from '../ports/clock.ts';

/** Who waits for which position of the log. */
export type PositionWaiters = Readonly<{
  /** The newest position that was reached. */
  position: () => bigint;
  /** Lets those go on who wait for this position or an earlier one. */
  reach: (position: bigint) => void;
  /** Resolves `true` once the position is reached, `false` after `timeoutMilliseconds`. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Nothing more will be reached: those who wait for it are told `false` at once. */
  giveUp: () => void;
}>;

type Waiter = Readonly<{ position: bigint; deadline: number; settle: (isReached: boolean) => void }>;

const SWEEP_MILLISECONDS = 250;

/** Before the first position of a log, which is 0. */
const NOTHING_REACHED = -1n;

/** Nothing is reached yet. One timer serves all who wait: timeouts are rare, arrivals are not. */
export function openPositionWaiters(clock: Clock): PositionWaiters {
  let waiters: Waiter[] = [];
  let isSweeping = false;
  let newest = NOTHING_REACHED;
  let isGivenUp = false;

  return {
    position: () => newest,
    reach: (position) => {
      if (position <= newest) return;
      newest = position;
      if (waiters.length === 0) return;
      const waiting = waiters;
      waiters = waiting.filter((waiter) => waiter.position > newest);
      for (const waiter of waiting) if (waiter.position <= newest) waiter.settle(true);
    },
    reached: (position, timeoutMilliseconds) => {
      if (position <= newest) return Promise.resolve(true);
      if (isGivenUp) return Promise.resolve(false);
      return new Promise((settle) => {
        waiters.push({ position, deadline: clock.monotonicMilliseconds() + timeoutMilliseconds, settle });
        void sweep();
      });
    },
    giveUp: () => {
      isGivenUp = true;
      const waiting = waiters;
      waiters = [];
      for (const waiter of waiting) waiter.settle(false);
    },
  };

  async function sweep(): Promise<void> {
    if (isSweeping) return;
    isSweeping = true;
    while (waiters.length > 0) {
      await clock.wait(SWEEP_MILLISECONDS);
      const now = clock.monotonicMilliseconds();
      const late = waiters.filter((waiter) => waiter.deadline <= now);
      if (late.length === 0) continue;
      waiters = waiters.filter((waiter) => waiter.deadline > now);
      for (const waiter of late) waiter.settle(false);
    }
    isSweeping = false;
  }
}
