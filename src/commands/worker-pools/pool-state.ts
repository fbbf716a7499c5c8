import { epochMilliseconds } from '../../domain/instants.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import type { PoolChanges, PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';

/** A worker's place in the pool. It keeps the name of its newest run, so that a repeated question is recognized. */
export type Slot = Readonly<{ number: number; worker: string; run: string; isActive: boolean }>;

/** Launches that failed one after another. */
export type LaunchFailures = Readonly<{ count: number; lastAt: string }>;

/** Plain JSON, so that it is its own snapshot. `record` is absent before the pool is created and after it was deleted. */
export type PoolState = Readonly<{
  record?: PoolRecord;
  scopes: readonly string[];
  slots: readonly Slot[];
  failures?: LaunchFailures;
  /** The newest scaling decision: when, and what was refused to whom, in canonical JSON. */
  decision?: Readonly<{ decidedAt: string; refused: string }>;
}>;

export const NO_POOL: PoolState = { scopes: [], slots: [] };

const RETRY_SECONDS_MIN = 30;
const RETRY_SECONDS_MAX = 900;
/** Failures further apart have nothing to do with each other. */
const SERIES_SECONDS = 3_600;

/** The pool's slots whose instances are reserved, starting, running or ending. */
export function activeSlots({ slots }: PoolState): readonly Slot[] {
  return slots.filter(({ isActive }) => isActive);
}

/** The record with the changes that an edit names. */
export function changed(record: PoolRecord, changes: PoolChanges): PoolRecord {
  return { ...record, ...changes };
}

/**
 * After failed launches: no new try before this instant (epoch milliseconds); half a minute at first, then longer, at most 15 minutes. A
 * failure in the future is from before the clock was set back: nobody can say how long ago that is, and the next failure counts from now.
 */
export function launchesFrom({ failures }: PoolState, now: number): number | undefined {
  if (failures === undefined || epochMilliseconds(failures.lastAt) > now) return undefined;
  const seconds = Math.min(RETRY_SECONDS_MIN * 2 ** (failures.count - 1), RETRY_SECONDS_MAX);
  return epochMilliseconds(failures.lastAt) + seconds * 1000;
}

export function evolvePool(state: PoolState, event: WorkerPoolEvent): PoolState {
  switch (event.type) {
    case 'WorkerPoolCreated':
      return { ...state, record: event.data.record, scopes: [] };
    case 'WorkerPoolEdited':
      return state.record === undefined ? state : { ...state, record: changed(state.record, event.data.changes) };
    case 'WorkerPoolDeleted': {
      const { record: _deleted, decision: _over, ...rest } = state;
      return { ...rest, scopes: [] };
    }
    case 'WorkerPoolScopeAdmitted':
      return { ...state, scopes: [...state.scopes, event.data.scope] };
    case 'WorkerPoolScopeReleased':
      return { ...state, scopes: state.scopes.filter((scope) => scope !== event.data.scope) };
    case 'InstanceReserved': {
      const { number, worker, run } = event.data;
      return { ...state, slots: withSlot(state.slots, { number, worker, run, isActive: true }) };
    }
    case 'InstanceReleased': {
      const { number, worker, run, outcome, releasedAt } = event.data;
      const slots = withSlot(state.slots, { number, worker, run, isActive: false });
      return outcome === 'launch-failed'
        ? { ...state, slots, failures: failedAgain(state.failures, releasedAt) }
        : withoutFailures({ ...state, slots });
    }
    case 'WorkerPoolScalingDecided': {
      const { decidedAt, refusals } = event.data;
      return { ...state, decision: { decidedAt, refused: refusedText(refusals) } };
    }
  }
}

/** Who is refused and why, without the numbers, which change all the time. */
export function refusedText(
  refusals: readonly Readonly<{ scope: string; architecture: string; code: string }>[],
): string {
  return canonicalJson(refusals.map(({ scope, architecture, code }) => [scope, architecture, code]));
}

function withSlot(slots: readonly Slot[], slot: Slot): readonly Slot[] {
  return [...slots.filter(({ number }) => number !== slot.number), slot].sort((a, b) => a.number - b.number);
}

function failedAgain(before: LaunchFailures | undefined, at: string): LaunchFailures {
  const isSeries =
    before !== undefined && epochMilliseconds(at) - epochMilliseconds(before.lastAt) < SERIES_SECONDS * 1000;
  return { count: isSeries ? before.count + 1 : 1, lastAt: at };
}

function withoutFailures(state: PoolState): PoolState {
  const { failures: _over, ...rest } = state;
  return rest;
}
