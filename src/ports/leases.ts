/**
 * The right to do one thing in the whole cluster. `lost` aborts when it can no longer be relied upon; `fence` grows with
 * every holder, so that a holder that acts can prove to be the newest.
 */
export type Lease = Readonly<{
  name: string;
  fence: bigint;
  lost: AbortSignal;
  /** Whether it can be relied upon at this moment; also right when this process has just slept, before `lost` could abort. */
  isHeld: () => boolean;
  release: () => Promise<void>;
}>;

export type Leases = Readonly<{
  /** Takes the lease, or answers who has it. */
  tryAcquire: (name: string) => Promise<Lease | Readonly<{ heldBy: string }>>;
  /** Waits until the lease can be taken; rejects when `signal` aborts. */
  acquire: (name: string, signal: AbortSignal) => Promise<Lease>;
  close: () => Promise<void>;
}>;
