import { epochMilliseconds } from '../../domain/instants.ts';
import { awaitedAfter, type LaunchFailures, pauseSeconds } from '../../domain/worker-pools/launch-pause.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import type { PoolChanges, PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { LaunchRequest, WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';

/** A worker's place in the pool. It keeps the name of its newest run, so that a repeated question is recognized. */
export type Slot = Readonly<{
  number: number;
  worker: string;
  run: string;
  isActive: boolean;
  reservedAt?: string;
  /** What the run is launched with, while it is active. Places from before this was kept have none. */
  request?: LaunchRequest;
}>;

/** Plain JSON, so that it is its own snapshot. `record` is absent before the pool is created and after it was deleted. */
export type PoolState = Readonly<{
  record?: PoolRecord;
  scopes: readonly string[];
  slots: readonly Slot[];
  failures?: LaunchFailures;
  /** The newest scaling decision: when, what was refused to whom and why nothing was done, in canonical JSON. */
  decision?: Readonly<{ decidedAt: string; refused: string }>;
}>;

export const NO_POOL: PoolState = { scopes: [], slots: [] };

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
 * After failed launches: no new try for so many milliseconds from the newest failure on; infinity: before the pool, or its account (whose
 * stream is at `accountRevision`), has been edited.
 */
export function launchesRest({ failures }: PoolState, accountRevision?: string): number | undefined {
  if (failures === undefined) return undefined;
  switch (awaitedAfter(failures)) {
    case 'pool-edit':
      return Number.POSITIVE_INFINITY;
    case 'account-edit':
      return failures.accountRevision === accountRevision ? Number.POSITIVE_INFINITY : undefined;
    case 'time':
      return pauseSeconds(failures) * 1000;
  }
}

export function evolvePool(state: PoolState, event: WorkerPoolEvent): PoolState {
  switch (event.type) {
    case 'WorkerPoolCreated':
      return { ...state, record: event.data.record, scopes: [] };
    case 'WorkerPoolEdited':
      if (state.record === undefined) return state;
      // What failed before may succeed with what was changed.
      return withoutFailures({ ...state, record: changed(state.record, event.data.changes) });
    case 'WorkerPoolDeleted': {
      const { record: _deleted, decision: _over, ...rest } = state;
      return { ...rest, scopes: [] };
    }
    case 'WorkerPoolScopeAdmitted':
      return { ...state, scopes: [...state.scopes, event.data.scope] };
    case 'WorkerPoolScopeReleased':
      return { ...state, scopes: state.scopes.filter((scope) => scope !== event.data.scope) };
    case 'InstanceReserved': {
      const { number, worker, run, reservedAt, request } = event.data;
      const taken = { number, worker, run, isActive: true, reservedAt };
      return { ...state, slots: withSlot(state.slots, request === undefined ? taken : { ...taken, request }) };
    }
    case 'InstanceReleased':
      return released(state, event.data);
    case 'WorkerPoolScalingDecided': {
      const { decidedAt, refusals, nothing } = event.data;
      return { ...state, decision: { decidedAt, refused: refusedText(refusals, nothing?.code) } };
    }
  }
}

/** Who is refused and why, and why nothing is done, without the numbers, which change all the time. */
export function refusedText(
  refusals: readonly Readonly<{ scope: string; architecture: string; code: string }>[],
  nothing?: string,
): string {
  const refused = refusals.map(({ scope, architecture, code }) => [scope, architecture, code]);
  return canonicalJson(nothing === undefined ? refused : [...refused, [nothing]]);
}

/** Launches that were not wanted any more say nothing of the next one. */
const WITHDRAWN: ReadonlySet<string> = new Set(['withdrawn', 'pool-deleted']);

type Released = Extract<WorkerPoolEvent, { type: 'InstanceReleased' }>['data'];

function released(state: PoolState, data: Released): PoolState {
  const { number, worker, run, outcome, failure } = data;
  const reservedAt = state.slots.find((slot) => slot.run === run)?.reservedAt;
  const after = { ...state, slots: withSlot(state.slots, { number, worker, run, isActive: false }) };
  if (outcome === 'terminated' && failure === undefined) return withoutFailures(after);
  if (failure !== undefined && WITHDRAWN.has(failure.code)) return after;
  return { ...after, failures: failedAgain(state.failures, reservedAt, data) };
}

function withSlot(slots: readonly Slot[], slot: Slot): readonly Slot[] {
  return [...slots.filter(({ number }) => number !== slot.number), slot].sort((a, b) => a.number - b.number);
}

function failedAgain(
  before: LaunchFailures | undefined,
  reservedAt: string | undefined,
  { releasedAt: lastAt, failure }: Released,
): LaunchFailures {
  const isSeries =
    before !== undefined && epochMilliseconds(lastAt) - epochMilliseconds(before.lastAt) < SERIES_SECONDS * 1000;
  const isSameDecision = isSeries && reservedAt !== undefined && before.reservedAt === reservedAt;
  const count = isSeries ? before.count + (isSameDecision ? 0 : 1) : 1;
  return { count, lastAt, ...(reservedAt === undefined ? {} : { reservedAt }), ...failure };
}

function withoutFailures(state: PoolState): PoolState {
  const { failures: _over, ...rest } = state;
  return rest;
}
