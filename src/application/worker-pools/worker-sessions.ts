import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { WorkOutcome } from '../../commands/worker-pools/work-request.ts';
import type { WorkerState } from '../../commands/worker-pools/worker-state.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import { workerNamedBy, workerToken } from '../../domain/worker-pools/worker-token.ts';
import type { Architecture } from '../../events/worker-pools/architectures.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';

type Metadata = Extract<WorkerEvent, { type: 'WorkerConnected' }>['data']['dynamicMetadata'];

/** A worker that has shown its token. `run` is null without a pool. */
export type KnownWorker = Readonly<{ worker: string; run: string | null }>;

export type SessionDependencies = Pick<Application, 'workers' | 'clock' | 'ids'>;

const TOKEN_BYTES = 32;

/** Makes a worker without a pool known, and gives its activation token, once. */
export async function registerWorker(
  worker: string,
  architectures: readonly Architecture[],
  context: CommandContext,
  { workers, clock, ids }: SessionDependencies,
): Promise<Refusal | Readonly<{ token: string }>> {
  const token = newToken(worker, ids);
  const data = { worker, pool: null, architectures, activationSha256: sha256(token), at: clock.nowText() };
  const answer = await workers.handle(worker, { type: 'RegisterWorker', data }, context);
  if (isRefusal(answer)) return answer;
  if (answer.events.length > 0) return { token };
  return refuse('worker-exists', `worker ${worker} is registered already.`, 'worker');
}

/** Exchanges an activation token, once, for the worker's own. Unknown and ended tokens: `undefined`. */
export async function activateWorker(
  activationToken: string,
  context: CommandContext,
  { workers, clock, ids }: SessionDependencies,
): Promise<Readonly<{ worker: string; token: string }> | undefined> {
  const worker = workerNamedBy(activationToken);
  if (worker === undefined) return undefined;
  const token = newToken(worker, ids);
  const data = { activationSha256: sha256(activationToken), tokenSha256: sha256(token), at: clock.nowText() };
  const answer = await workers.handle(worker, { type: 'ActivateWorker', data }, context);
  return isRefusal(answer) || answer.events.length === 0 ? undefined : { worker, token };
}

/** Whether a worker may still be activated by this token. */
export async function mayActivate(token: string, { workers }: Pick<SessionDependencies, 'workers'>): Promise<boolean> {
  const worker = workerNamedBy(token);
  if (worker === undefined) return false;
  const { pool, instance, activationSha256 } = (await workers.state(worker)).state;
  if (pool === null) return activationSha256 === sha256(token);
  return instance?.tokenSha256 === undefined && instance?.activationSha256 === sha256(token);
}

/** The worker whose token this is, as long as its instance is there. */
export async function workerOf(
  token: string,
  { workers }: Pick<SessionDependencies, 'workers'>,
): Promise<(KnownWorker & Readonly<{ isSilent: boolean }>) | undefined> {
  const worker = workerNamedBy(token);
  if (worker === undefined) return undefined;
  const { state } = await workers.state(worker);
  if (tokenOf(state) !== sha256(token)) return undefined;
  return { worker, run: state.instance?.run ?? null, isSilent: state.isSilent === true };
}

/** A worker that had fallen silent is heard of by this server, which may not be the one that judges it. */
export async function workerHeardAgain(
  worker: string,
  context: CommandContext,
  { workers, clock }: Pick<SessionDependencies, 'workers' | 'clock'>,
): Promise<void> {
  await workers.handle(worker, { type: 'RecordHeard', data: { at: clock.nowText() } }, context);
}

function tokenOf({ pool, instance, tokenSha256 }: WorkerState): string | undefined {
  return pool === null ? tokenSha256 : instance?.tokenSha256;
}

/** The worker takes work from now on. Refused as `run-not-found` while its creation is not recorded yet: then it is to say so again. */
export async function readyWorker(
  { worker, run }: KnownWorker,
  dynamicMetadata: Metadata,
  context: CommandContext,
  { workers, clock }: SessionDependencies,
): Promise<Refusal | undefined> {
  const data = { run, dynamicMetadata, at: clock.nowText() };
  const answer = await workers.handle(worker, { type: 'RecordWorkerConnected', data }, context);
  return isRefusal(answer) ? answer : undefined;
}

export type FinishDependencies = Pick<Application, 'workers' | 'workRequests' | 'clock'>;

/** Keeps how a worker's work has ended; told twice it is kept once. The request first: what a crash leaves in between is finished by a process. */
export async function finishWork(
  worker: string,
  { id, outcome, because }: Readonly<{ id: string; outcome: WorkOutcome; because: string | null }>,
  context: CommandContext,
  { workers, workRequests, clock }: FinishDependencies,
): Promise<Refusal | undefined> {
  const at = clock.nowText();
  const finished = { worker, outcome, because, at };
  const answer = await workRequests.handle(id, { type: 'FinishWork', data: finished }, context);
  const over = await workers.handle(worker, { type: 'FinishTask', data: { task: id, at } }, context);
  if (isRefusal(answer)) return answer;
  return isRefusal(over) ? over : undefined;
}

function newToken(worker: string, ids: SessionDependencies['ids']): string {
  return workerToken(worker, Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url'));
}

function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
