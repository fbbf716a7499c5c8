import type { Clock } from '../../../src/ports/clock.ts';
import {
  type Cloud,
  type CloudAccount,
  CloudFailure,
  type CloudFailureCode,
  type CloudInstance,
  type InstanceData,
  type InstanceRequest,
  type OpenCloud,
} from '../../../src/ports/clouds.ts';

type Call = 'create' | 'terminate' | 'list' | 'inspect' | 'check';

/** What the next calls come to. `after`: the provider does it and the answer is lost. */
export type PlannedFailure = Readonly<{ call: Call; code: CloudFailureCode; after?: true }>;

/** A provider in memory, which does what a real one does and fails where a test wants it to. */
export type DummyCloud = Readonly<{
  openCloud: OpenCloud;
  /** The next call of that kind fails; several are used up in order. */
  fail: (...failures: readonly PlannedFailure[]) => void;
  /** From now on calls of that kind are never answered, until their signal or `answer`. */
  hang: (call: Call) => void;
  answer: () => void;
  /** The provider takes the instance of a run away, and says why. */
  interrupt: (run: string, because: string) => void;
  /** The provider shows the instance of a run no more. */
  forget: (run: string) => void;
  /** Instances that exist and cost. */
  instances: () => readonly CloudInstance[];
  /** Every instance that ever existed, as it is now. */
  everyInstance: () => readonly CloudInstance[];
  /** How many there ever were. */
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
  const instances = new Map<string, CloudInstance>();
  const requests: InstanceRequest[] = [];
  const planned: PlannedFailure[] = [];
  const hanging = new Set<Call>();
  const released = new EventTarget();
  const calls: Record<Call, number> = { create: 0, terminate: 0, list: 0, inspect: 0, check: 0 };
  const accounts: string[] = [];
  let open = 0;

  return {
    openCloud,
    fail: (...failures) => void planned.push(...failures),
    hang: (kind) => void hanging.add(kind),
    answer: () => {
      hanging.clear();
      released.dispatchEvent(new Event('answer'));
    },
    forget: (run) => void instances.delete(run),
    interrupt: (run, because) => end(run, because),
    instances: () => [...instances.values()].filter(({ state }) => state !== 'ended'),
    everyInstance: () => [...instances.values()],
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
      terminate: (data, signal) =>
        call('terminate', signal, () => {
          const { run, endedAt } = end(runOf(data), null) ?? { run: undefined, endedAt: null };
          return { outcome: run === undefined ? 'unknown-to-provider' : 'ending', endedAt };
        }),
      list: (installation, signal) =>
        call('list', signal, () => [...instances.values()].filter((known) => known.installation === installation)),
      inspect: (data, signal) => call('inspect', signal, () => instances.get(runOf(data))),
      removeLeftovers: async () => 0,
      check: (signal) => call('check', signal, () => undefined),
      close: async () => void (open -= 1),
    };
  }

  function create({ installation, pool, worker, run, ...rest }: InstanceRequest): CloudInstance {
    const known = instances.get(run);
    if (known !== undefined) return known;
    requests.push({ installation, pool, worker, run, ...rest });
    const marks = { installation, pool, worker, run };
    const data = { run, instance_id: `i-${requests.length}` };
    const instance: CloudInstance = {
      ...marks,
      data,
      createdAt: clock.nowText(),
      state: 'running',
      endedAt: null,
      because: null,
    };
    instances.set(run, instance);
    return instance;
  }

  function end(run: string, because: string | null): CloudInstance | undefined {
    const known = instances.get(run);
    if (known === undefined || known.state === 'ended') return known;
    const ended: CloudInstance = { ...known, state: 'ended', endedAt: clock.nowText(), because };
    instances.set(run, ended);
    return ended;
  }

  async function call<T>(kind: Call, signal: AbortSignal, work: () => T): Promise<T> {
    signal.throwIfAborted();
    calls[kind] += 1;
    if (hanging.has(kind)) await answerOr(signal);
    const at = planned.findIndex((failure) => failure.call === kind);
    const [failure] = at < 0 ? [] : planned.splice(at, 1);
    if (failure === undefined) return work();
    if (failure.after) work();
    throw new CloudFailure(failure.code, `the dummy was told to fail: ${failure.code}`);
  }

  function answerOr(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        released.removeEventListener('answer', go);
        reject(signal.reason);
      };
      const go = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      released.addEventListener('answer', go, { once: true });
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}

function runOf({ run }: InstanceData): string {
  return String(run);
}
