import type { Clock } from '../../ports/clock.ts';
import type { Lease } from '../../ports/leases.ts';
import type { Log } from '../../ports/log.ts';
import type { Holding, LeaseRecords } from './lease-records.ts';

export type HeldLeaseOptions = Readonly<{
  records: LeaseRecords;
  clock: Clock;
  log: Log;
  holding: Holding;
  /** When the lease was asked for, by the monotonic clock: it counts from then. */
  since: number;
  expiryMilliseconds: number;
  /** Told once, when the lease is held no more. */
  ended: () => void;
}>;

/** Renewed this many times within the expiry time. */
const RENEWALS = 4;
/** Given up after this part of the expiry time without a renewal, well before another may take it. */
const SAFE_PART = 5 / 8;

/** Renews a lease until it is released or can't be relied upon any more; then `lost` aborts. */
export function holdLease(options: HeldLeaseOptions): Lease {
  const { records, clock, log, holding, ended } = options;
  const { name, fence } = holding;
  const lost = new AbortController();
  /** When the newest renewal that succeeded was asked for. */
  let confirmed = options.since;
  void keep(options, lost.signal).then((reason) => {
    if (lost.signal.aborted) return undefined;
    log.warn({ lease: name, fence: String(fence), reason }, 'a lease was lost');
    return end(new Error(`the lease ${name} was lost: ${reason}`));
  });
  return {
    name,
    fence,
    lost: lost.signal,
    isHeld: () => !lost.signal.aborted && !isOverdue(),
    release: async () => {
      if (lost.signal.aborted) return;
      end(new Error(`the lease ${name} was released`));
      await records.release(holding).catch((error: unknown) => {
        log.warn({ lease: name, error }, 'a lease could not be released; it runs out');
      });
    },
  };

  function end(reason: Error): void {
    ended();
    lost.abort(reason);
  }

  /** Resolves with why the lease is lost. */
  function isOverdue(): boolean {
    return clock.monotonicMilliseconds() - confirmed >= options.expiryMilliseconds * SAFE_PART;
  }

  async function keep({ expiryMilliseconds }: HeldLeaseOptions, stopped: AbortSignal): Promise<string> {
    for (;;) {
      await clock.wait(expiryMilliseconds / RENEWALS, stopped).catch(() => undefined);
      if (stopped.aborted) return 'released';
      const asked = clock.monotonicMilliseconds();
      const left = confirmed + expiryMilliseconds * SAFE_PART - asked;
      const outcome = left <= 0 ? 'late' : await renewWithin(left, stopped);
      if (outcome === 'renewed') confirmed = asked;
      if (outcome === 'taken') return 'another process has it';
      if (isOverdue()) return 'it could not be renewed in time';
    }
  }

  async function renewWithin(
    milliseconds: number,
    stopped: AbortSignal,
  ): Promise<'renewed' | 'taken' | 'failed' | 'late'> {
    const waiting = new AbortController();
    const late = clock.wait(milliseconds, AbortSignal.any([waiting.signal, stopped])).then(
      () => 'late' as const,
      () => 'late' as const,
    );
    const renewing = records.renew(holding).then(
      (ours) => (ours ? ('renewed' as const) : ('taken' as const)),
      () => 'failed' as const,
    );
    const outcome = await Promise.race([renewing, late]);
    waiting.abort();
    return outcome;
  }
}
