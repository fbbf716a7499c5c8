import type { Clock } from '../../src/ports/clock.ts';
import {
  type Cloud,
  type CloudAccount,
  CloudFailure,
  type CloudFailureCode,
  type CloudInstance,
  type InstanceRequest,
  type OpenCloud,
} from '../../src/ports/clouds.ts';

/** What the next calls come to. `after`: the provider does it and the answer is lost. */
export type PlannedFailure = Readonly<{ call: 'create' | 'terminate' | 'list'; code: CloudFailureCode; after?: true }>;

/** A provider in memory, which does what a real one does and fails where a test wants it to. */
export type DummyCloud = Readonly<{
  openCloud: OpenCloud;
  /** The next call of that kind fails; several are used up in order. */
  fail: (...failures: readonly PlannedFailure[]) => void;
  /** Instances that exist and cost. */
  instances: () => readonly CloudInstance[];
  /** Every instance that ever existed. */
  createdCount: () => number;
  /** How often each call came. */
  calls: () => Readonly<Record<string, number>>;
  /** The requests that were carried out. */
  requests: () => readonly InstanceRequest[];
  /** Every account that was opened, in order. */
  accounts: () => readonly string[];
  /** Accounts that are open now. */
  openCount: () => number;
}>;

export function createDummyCloud(clock: Pick<Clock, 'nowText'>): DummyCloud {
  const instances = new Map<string, CloudInstance & Readonly<{ pool: string }>>();
  const requests: InstanceRequest[] = [];
  const planned: PlannedFailure[] = [];
  const calls: Record<string, number> = { create: 0, terminate: 0, list: 0 };
  const accounts: string[] = [];
  let open = 0;

  return {
    openCloud,
    fail: (...failures) => void planned.push(...failures),
    instances: () => [...instances.values()],
    createdCount: () => requests.length,
    calls: () => calls,
    requests: () => requests,
    accounts: () => accounts,
    openCount: () => open,
  };

  function openCloud({ credentials, name }: CloudAccount): Cloud {
    if (Object.keys(credentials).length === 0) throw new CloudFailure('bad-account', `${name} has no credentials`);
    open += 1;
    accounts.push(name);
    return {
      create: (request, signal) => call('create', signal, () => create(request)),
      terminate: ({ run }, signal) => call('terminate', signal, () => void instances.delete(String(run))),
      list: (pool, signal) =>
        call('list', signal, () => [...instances.values()].filter((known) => known.pool === pool)),
      check: async () => undefined,
      close: async () => void (open -= 1),
    };
  }

  function create(request: InstanceRequest): CloudInstance {
    const { run, pool } = request;
    const known = instances.get(run);
    if (known !== undefined) return known;
    requests.push(request);
    const instance = { run, pool, createdAt: clock.nowText(), data: { run, instance_id: `i-${requests.length}` } };
    instances.set(run, instance);
    return instance;
  }

  async function call<T>(kind: PlannedFailure['call'], signal: AbortSignal, work: () => T): Promise<T> {
    signal.throwIfAborted();
    calls[kind] = (calls[kind] ?? 0) + 1;
    const at = planned.findIndex((failure) => failure.call === kind);
    const [failure] = at < 0 ? [] : planned.splice(at, 1);
    if (failure === undefined) return work();
    if (failure.after) work();
    throw new CloudFailure(failure.code, `the dummy was told to fail: ${failure.code}`);
  }
}
