import type { CommandContext } from '../../commands/aggregate.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Assets, WorkerPools, Workers } from '../../commands/worker-pools/aggregates.ts';
import type { Instance } from '../../commands/worker-pools/worker-state.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Clock } from '../../ports/clock.ts';
import { CloudFailure, type CloudInstance } from '../../ports/clouds.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { WithAccount } from './provider-accounts.ts';

export type CreateInstanceDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  assets: Assets;
  secrets: Secrets;
  withAccount: WithAccount;
  /** The installation's own mark on what it makes at a provider. */
  installation: () => Promise<string>;
  clock: Clock;
  /** How long a launch with an uncertain outcome is asked for again, from the first try after a start. */
  launchPatienceMilliseconds: number;
}>;

type Run = Readonly<{ worker: string; pool: string; run: string }>;

/** `accountRevision`: how far the account's stream was when the provider refused it. */
type Failure = Readonly<{ code: string; because: string; accountRevision?: string }>;

/** What one process knows of its tries of one run; monotonic milliseconds. */
type Tries = {
  readonly firstAt: number;
  /** After this nothing was asked for any more. */
  lastAt: number;
  /** Every try that there ever was is this process's own, and the provider has said of each that nothing came of it. */
  areCertain: boolean;
  /** Why no further instance is asked for. */
  givenUp: Failure | undefined;
};

/** A provider's reads may lag behind so long: before that, what is not listed may exist. */
export const VISIBLE_AFTER_MILLISECONDS = 300_000;
/** Whose tries are remembered. */
const RUNS_MAX = 10_000;

/** Performs `CreateInstance` for as long as one server leads. */
export function openCreateInstance(
  dependencies: CreateInstanceDependencies,
): (run: Run, context: CommandContext, signal: AbortSignal) => Promise<void> {
  const creation = new Creation(dependencies);
  return (run, context, signal) => creation.perform(run, context, signal);
}

/**
 * Has the provider create the instance of a run and records it, or why there is none. A run of which any try was uncertain ends without an
 * instance only once the provider lists none, past the time in which its reads may lag: neither a later refusal, nor a deleted pool, nor an
 * edited account is a proof. Until then it throws, and is asked again. What is found is recorded, and ended where it is not wanted.
 */
class Creation {
  readonly #with: CreateInstanceDependencies;
  readonly #tries = new BoundedMap<string, Tries>(RUNS_MAX);

  constructor(dependencies: CreateInstanceDependencies) {
    this.#with = dependencies;
  }

  async perform({ worker, pool, run }: Run, context: CommandContext, signal: AbortSignal): Promise<void> {
    const { workers, clock } = this.#with;
    const { instance } = (await workers.state(worker)).state;
    if (instance?.run !== run || instance.created !== undefined) return;
    const tries = this.#triesOf(run);
    try {
      const outcome = await this.#outcome({ worker, pool, run }, instance, tries, context, signal);
      await this.#record(worker, run, outcome, context);
    } catch (error) {
      if (!(error instanceof CloudFailure)) throw error;
      const { code, message: because } = error;
      const failed = { run, call: 'create', code, because, at: clock.nowText() } as const;
      accept(await workers.handle(worker, { type: 'RecordCallFailed', data: failed }, context));
      throw error;
    }
  }

  async #outcome(
    run: Run,
    instance: Instance,
    tries: Tries,
    context: CommandContext,
    signal: AbortSignal,
  ): Promise<CloudInstance | Failure> {
    tries.givenUp ??= await this.#notWanted(run, instance, tries);
    if (tries.givenUp !== undefined) return this.#giveUp(run, instance, tries.givenUp, tries, signal);
    const userData = await this.#userDataOf(run.run);
    if (userData === undefined) {
      tries.givenUp = { code: 'no-user-data', because: `the first-boot user data of ${run.worker} are gone` };
      return this.#giveUp(run, instance, tries.givenUp, tries, signal);
    }
    const started = await this.#start(run, context);
    tries.areCertain ||= started;
    const accountRevision = String((await this.#with.assets.state(instance.providerAccount)).revision);
    const wereCertain = tries.areCertain;
    try {
      return await this.#ask(run, instance, userData, tries, signal);
    } catch (error) {
      if (!(error instanceof CloudFailure) || error.kind === 'uncertain') throw error;
      tries.areCertain = wereCertain;
      if (error.kind === 'later') throw error;
      tries.givenUp = { code: error.code, because: error.message, accountRevision };
      // Of this alone the provider says that there is no instance, whatever was tried before.
      if (error.code === 'instance-gone') return tries.givenUp;
      return this.#giveUp(run, { ...instance, creationStarted: true }, tries.givenUp, tries, signal);
    } finally {
      tries.lastAt = this.#with.clock.monotonicMilliseconds();
    }
  }

  /** Why no instance is asked for any more; `undefined`: it is. */
  async #notWanted({ pool }: Run, instance: Instance, tries: Tries): Promise<Failure | undefined> {
    const { workerPools, clock, launchPatienceMilliseconds } = this.#with;
    if ((await workerPools.state(pool)).state.record === undefined) {
      return { code: 'pool-deleted', because: `worker pool ${pool} was deleted` };
    }
    const { termination, callFailed } = instance;
    if (termination !== undefined) return { code: 'withdrawn', because: termination.because };
    if (clock.monotonicMilliseconds() - tries.firstAt < launchPatienceMilliseconds) return undefined;
    const { code = 'outcome-unknown', because = 'the provider did not say what became of the launch' } =
      callFailed ?? {};
    return { code, because };
  }

  async #giveUp(
    { run }: Run,
    instance: Instance,
    failure: Failure,
    tries: Tries,
    signal: AbortSignal,
  ): Promise<CloudInstance | Failure> {
    if (instance.creationStarted === undefined || tries.areCertain) return failure;
    const { withAccount, installation, clock } = this.#with;
    const rest = tries.lastAt + VISIBLE_AFTER_MILLISECONDS - clock.monotonicMilliseconds();
    if (rest > 0) {
      const because = `${failure.because}; an instance may exist all the same: the provider's list is looked at in ${Math.ceil(rest / 1000)} s`;
      throw new CloudFailure('outcome-unknown', because);
    }
    const mark = await installation();
    const known = await withAccount(instance, (cloud) => cloud.list(mark, signal));
    return known.find((other) => other.run === run) ?? failure;
  }

  async #ask(
    marks: Run,
    instance: Instance,
    userData: readonly string[],
    tries: Tries,
    signal: AbortSignal,
  ): Promise<CloudInstance> {
    const { workerPools, withAccount, installation } = this.#with;
    const { record, slots } = (await workerPools.state(marks.pool)).state;
    const request = slots.find(({ run }) => run === marks.run)?.request ?? record;
    if (request === undefined) throw new CloudFailure('rejected', `worker pool ${marks.pool} was deleted`);
    const { specifications } = request;
    const asked = { ...marks, installation: await installation(), specifications, userData };
    return withAccount(instance, (cloud) => {
      // Until the provider has answered; what failed before has asked it for nothing.
      tries.areCertain = false;
      return cloud.create(asked, signal);
    });
  }

  /** Whether this is the first try that there ever was. */
  async #start({ worker, run }: Run, context: CommandContext): Promise<boolean> {
    const { workers, clock } = this.#with;
    const data = { run, at: clock.nowText() };
    const answer = await workers.handle(worker, { type: 'StartCreation', data }, context);
    if (isRefusal(answer)) throw new Error(answer.because);
    return answer.events.length > 0;
  }

  async #record(worker: string, run: string, outcome: CloudInstance | Failure, context: CommandContext): Promise<void> {
    const { workers, clock } = this.#with;
    if ('code' in outcome) {
      const data = { run, ...outcome, at: clock.nowText() };
      return accept(await workers.handle(worker, { type: 'RecordLaunchFailed', data }, context));
    }
    const { createdAt: instanceCreatedAt, data: workerPoolData, state, endedAt, because } = outcome;
    const created = { run, instanceCreatedAt, workerPoolData: { ...workerPoolData } };
    accept(await workers.handle(worker, { type: 'RecordInstanceCreated', data: created }, context));
    if (state !== 'ended') return;
    const end = { run, because: because ?? 'the provider ended it', at: endedAt ?? clock.nowText() };
    accept(await workers.handle(worker, { type: 'RecordInstanceTerminated', data: end }, context));
  }

  async #userDataOf(run: string): Promise<readonly string[] | undefined> {
    const text = await this.#with.secrets.get(activationSecretId(run));
    return text?.startsWith('[') === true ? (JSON.parse(text) as readonly string[]) : undefined;
  }

  /** A process that takes over counts its patience from its own start, which costs time alone. */
  #triesOf(run: string): Tries {
    const now = this.#with.clock.monotonicMilliseconds();
    const tries = this.#tries.get(run) ?? { firstAt: now, lastAt: now, areCertain: false, givenUp: undefined };
    this.#tries.set(run, tries);
    return tries;
  }
}

function accept(answer: Refusal | object): void {
  if (isRefusal(answer)) throw new Error(answer.because);
}
