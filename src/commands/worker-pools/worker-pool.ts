import { type Command, type Decider, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import { workerNameOf } from '../../events/worker-pools/names.ts';
import { newPool, type PoolChanges, type PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { AssetCategory } from '../../events/worker-pools/asset-records.ts';
import { type WorkerPoolEvent, workerPoolEvents } from '../../events/worker-pools/worker-pool.ts';
import { activeSlots, changed, evolvePool, NO_POOL, type PoolState, refusedText, type Slot } from './pool-state.ts';
import { sameJson } from './same-json.ts';

/** What a pool has to know of an asset that it names. */
export type AssetFacts = Readonly<{ name: string; category: AssetCategory; providerType: string | null }>;

type ScalingDecided = Extract<WorkerPoolEvent, { type: 'WorkerPoolScalingDecided' }>['data'];

/** Why a run came to nothing; `accountRevision`: how far the stream of its account was. */
export type LaunchFailure = Readonly<{ code: string; because: string; accountRevision?: string }>;

export type WorkerPoolCommand =
  /** The pool is to exist with what is given; where it exists, only that is changed. */
  | Command<'EnsureWorkerPool', { pool: string; given: PoolChanges; assets: readonly AssetFacts[] }>
  | Command<'EditWorkerPool', { changes: PoolChanges; assets: readonly AssetFacts[] }>
  | Command<'DeleteWorkerPool', { force: boolean }>
  | Command<'AdmitScope', { scope: string; priority: number; limits: ScopeLimits }>
  | Command<'ReleaseScope', { scope: string }>
  /** Takes a place for each run. `partly`: as many as there is room for, where that is at least one. */
  | Command<'ReserveInstances', { runs: readonly string[]; because: string; at: string; partly: boolean }>
  | Command<
      'ReleaseInstance',
      { run: string; outcome: 'terminated' | 'launch-failed'; at: string; failure?: LaunchFailure }
    >
  | Command<'RecordScalingDecision', Omit<ScalingDecided, 'pool'>>;

/** The rules of one worker pool. */
export const workerPoolDecider = {
  category: 'workerPool',
  handles: workerPoolEvents.map(({ type }) => type),
  initial: NO_POOL,
  evolve: evolvePool,
  decide,
  snapshot: {
    version: 2,
    encode: (state: PoolState): unknown => state,
    decode: (stored: unknown) => stored as PoolState,
  },
} as const satisfies Decider<WorkerPoolCommand, PoolState, WorkerPoolEvent> &
  Readonly<{ handles: readonly WorkerPoolEvent['type'][] }>;

function decide(command: WorkerPoolCommand, state: PoolState): Decision<WorkerPoolEvent> {
  if (command.type === 'EnsureWorkerPool') {
    const { pool, given, assets } = command.data;
    return state.record === undefined ? create(pool, given, assets, state) : edit(given, assets, state, state.record);
  }
  // Instances outlive their pool where it was deleted by force.
  if (command.type === 'ReleaseInstance') return release(command.data, state);
  const { record } = state;
  if (record === undefined) {
    return command.type === 'ReleaseScope' ? [] : refuse('worker-pool-not-found', 'worker pool not found.', 'pool');
  }
  switch (command.type) {
    case 'EditWorkerPool':
      return edit(command.data.changes, command.data.assets, state, record);
    case 'DeleteWorkerPool':
      return remove(command.data.force, state, record);
    case 'AdmitScope':
      return admit(command.data, state, record);
    case 'ReleaseScope':
      if (!state.scopes.includes(command.data.scope)) return [];
      return [{ type: 'WorkerPoolScopeReleased', data: { pool: record.name, scope: command.data.scope } }];
    case 'ReserveInstances':
      return reserve(command.data, state, record);
    case 'RecordScalingDecision':
      return recordDecision(command.data, state, record);
  }
}

function create(
  name: string,
  given: PoolChanges,
  assets: readonly AssetFacts[],
  state: PoolState,
): Decision<WorkerPoolEvent> {
  const checked = newPool(name, given);
  if (!checked.ok) {
    return refuse(
      'bad-worker-pool',
      checked.problems.map(({ path, message }) => `${path} ${message}`).join('\n'),
      'pool',
    );
  }
  const left = activeSlots(state);
  if (left.length > 0) {
    return refuse(
      'worker-pool-in-use',
      `instances of a deleted pool ${name} are still ending: ${names(left)}.`,
      'pool',
    );
  }
  const problem = assetProblem(checked.value, assets);
  return problem ?? [{ type: 'WorkerPoolCreated', data: { pool: name, record: checked.value } }];
}

function edit(
  changes: PoolChanges,
  assets: readonly AssetFacts[],
  state: PoolState,
  record: PoolRecord,
): Decision<WorkerPoolEvent> {
  const wanted = changed(record, changes);
  const differing = Object.keys(changes).filter(
    (field) => !sameJson(Reflect.get(wanted, field), Reflect.get(record, field)),
  );
  if (differing.length === 0) return [];
  if (!wanted.instance_wide && state.scopes.length > 1) {
    const scopes = state.scopes.join(', ');
    return refuse(
      'worker-pool-in-use',
      `${record.name} is used by scopes ${scopes}: instance_wide false allows one.`,
      'instance_wide',
    );
  }
  const problem = assetProblem(wanted, assets);
  if (problem !== undefined) return problem;
  const named: PoolChanges = Object.fromEntries(differing.map((field) => [field, Reflect.get(wanted, field)]));
  return [{ type: 'WorkerPoolEdited', data: { pool: record.name, changes: named } }];
}

function assetProblem(record: PoolRecord, assets: readonly AssetFacts[]): Refusal | undefined {
  const { provider_account, specifications, apt_authentication } = record;
  const account = assets.find(({ name }) => name === provider_account);
  if (account?.category !== 'cloud-provider-account') {
    return refuse(
      'provider-account-not-found',
      `cloud-provider-account ${provider_account} not found.`,
      'provider_account',
    );
  }
  if (account.providerType !== specifications.provider_type) {
    const is = `provider account ${provider_account} is of ${account.providerType ?? 'no provider'}`;
    return refuse(
      'bad-provider-type',
      `${is}, and specifications.provider_type is ${specifications.provider_type}.`,
      'specifications',
    );
  }
  if (apt_authentication === null) return undefined;
  if (assets.find(({ name }) => name === apt_authentication)?.category === 'apt-authentication') return undefined;
  return refuse(
    'apt-authentication-not-found',
    `apt-authentication ${apt_authentication} not found.`,
    'apt_authentication',
  );
}

function remove(force: boolean, state: PoolState, record: PoolRecord): Decision<WorkerPoolEvent> {
  const active = activeSlots(state);
  if (active.length > 0 && !force) {
    return refuse(
      'worker-pool-in-use',
      `${record.name} has active workers: ${names(active)}. Terminate them first, or use --force.`,
      'pool',
    );
  }
  const running = active.map(({ worker }) => worker);
  return [{ type: 'WorkerPoolDeleted', data: { pool: record.name, scopes: [...state.scopes], running } }];
}

function admit(
  { scope, priority, limits }: Readonly<{ scope: string; priority: number; limits: ScopeLimits }>,
  state: PoolState,
  record: PoolRecord,
): Decision<WorkerPoolEvent> {
  if (state.scopes.includes(scope)) return [];
  const [holder] = state.scopes;
  if (!record.instance_wide && holder !== undefined) {
    return refuse('worker-pool-taken', `${record.name} is not instance-wide and belongs to scope ${holder}.`, 'pool');
  }
  return [{ type: 'WorkerPoolScopeAdmitted', data: { pool: record.name, scope, priority, limits } }];
}

function reserve(
  { runs, because, at, partly }: Readonly<{ runs: readonly string[]; because: string; at: string; partly: boolean }>,
  state: PoolState,
  record: PoolRecord,
): Decision<WorkerPoolEvent> {
  const known = new Set(state.slots.map(({ run }) => run));
  // The runs of one command are taken together: where one of them is known, the command has been carried out.
  if (runs.some((run) => known.has(run))) return [];
  if (!record.enabled)
    return refuse('worker-pool-disabled', `${record.name} is disabled: it creates no instances.`, 'pool');
  const active = activeSlots(state).length;
  const most = record.limits.max_active_instances ?? Number.POSITIVE_INFINITY;
  const free = Math.max(0, most - active);
  if (free === 0 || (runs.length > free && !partly)) {
    return refuse(
      'max-active-instances-in-use',
      `${record.name} has ${active} of ${most} active instances: no room for ${runs.length} more.`,
      'pool',
    );
  }
  const numbers = freeNumbers(state.slots, Math.min(free, runs.length));
  const { provider_account, architectures, specifications, ephemeral, apt_authentication, static_metadata } = record;
  const { exec } = static_metadata;
  const asked = { provider_account, architectures, specifications, ephemeral, apt_authentication };
  const request = typeof exec === 'string' ? { ...asked, exec } : asked;
  return runs.slice(0, numbers.length).map((run, index) => {
    const number = numbers[index] ?? 0;
    const worker = workerNameOf(record.name, number);
    const data = { pool: record.name, worker, number, run, because, reservedAt: at, request };
    return { type: 'InstanceReserved', data };
  });
}

/** Stopped workers are used again, the lowest first; then new ones follow. */
function freeNumbers(slots: readonly Slot[], count: number): readonly number[] {
  const active = new Set(slots.filter(({ isActive }) => isActive).map(({ number }) => number));
  const numbers: number[] = [];
  for (let number = 1; numbers.length < count; number += 1) if (!active.has(number)) numbers.push(number);
  return numbers;
}

function release(
  { run, outcome, at, failure }: Extract<WorkerPoolCommand, { type: 'ReleaseInstance' }>['data'],
  state: PoolState,
): Decision<WorkerPoolEvent> {
  const slot = state.slots.find((known) => known.run === run);
  if (slot === undefined || !slot.isActive) return [];
  const { number, worker } = slot;
  const pool = worker.slice(0, worker.lastIndexOf('-'));
  const data = { pool, worker, number, run, outcome, releasedAt: at };
  return [{ type: 'InstanceReleased', data: failure === undefined ? data : { ...data, failure } }];
}

function recordDecision(
  data: Omit<ScalingDecided, 'pool'>,
  state: PoolState,
  record: PoolRecord,
): Decision<WorkerPoolEvent> {
  const { decidedAt, launches, terminations, refusals, nothing } = data;
  const known = state.decision;
  if (known?.decidedAt === decidedAt) return [];
  const doesNothing = launches.length + terminations.length === 0;
  if (doesNothing && refusedText(refusals, nothing?.code) === (known?.refused ?? refusedText([]))) return [];
  return [{ type: 'WorkerPoolScalingDecided', data: { pool: record.name, ...data } }];
}

function names(slots: readonly Slot[]): string {
  return slots.map(({ worker }) => worker).join(', ');
}
