import type { CommandContext } from '../../commands/aggregate.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { Architecture } from '../../events/worker-pools/architectures.ts';
import type { WorkRequestEvent } from '../../events/worker-pools/work-request.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { WorkRequestView } from '../../projections/worker-pools/work-request-view.ts';
import type { Application } from '../application.ts';
import { severalBegin } from '../ids-by-prefix.ts';

type Payload = Extract<WorkRequestEvent, { type: 'WorkRequestSubmitted' }>['data']['payload'];

/** What is to be run: what the payload means is the sender's business. */
export type NewWork = Readonly<{
  scope: string;
  architecture: Architecture;
  pool: string | null;
  payload: Payload;
  expectedSeconds: number | null;
}>;

/** A work request with its payload; undefined once it is over. */
export type ShownWork = Readonly<{ view: WorkRequestView; payload: Payload | undefined }>;

export type SubmitWorkDependencies = Pick<
  Application,
  'workRequests' | 'scopes' | 'workerPools' | 'ids' | 'clock' | 'catchUp'
> &
  Readonly<{ views: Pick<Application['views'], 'workRequests'> }>;

export type CancelWorkDependencies = Pick<Application, 'workRequests' | 'clock' | 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'workRequests'> }>;

export type ReadWorkDependencies = Pick<Application, 'workRequests' | 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'workRequests'> }>;

export const PAYLOAD_BYTES_MAX = 65_536;

/** Puts work into the queue. Gives it as it stands. */
export async function submitWork(
  work: NewWork,
  context: CommandContext,
  dependencies: SubmitWorkDependencies,
): Promise<Refusal | ShownWork> {
  const { workRequests, scopes, workerPools, ids, clock } = dependencies;
  if ((await scopes.state(work.scope)).state.scope === undefined) {
    return refuse('scope-not-found', `scope ${work.scope} not found.`, 'scope');
  }
  const problem = await poolProblem(work, { workerPools, scopes });
  if (problem !== undefined) return problem;
  const bytes = Buffer.byteLength(JSON.stringify(work.payload));
  if (bytes > PAYLOAD_BYTES_MAX) {
    const because = `payload must be at most ${PAYLOAD_BYTES_MAX} bytes as JSON, not ${bytes}.`;
    return refuse('bad-work-request', because, 'payload');
  }
  const id = ids.uuid();
  const data = { id, ...work, submittedAt: clock.nowText() };
  const answer = await workRequests.handle(id, { type: 'SubmitWork', data }, context);
  return isRefusal(answer) ? answer : showWork(id, dependencies);
}

async function poolProblem(
  { scope, pool, architecture }: NewWork,
  { workerPools, scopes }: Pick<SubmitWorkDependencies, 'workerPools' | 'scopes'>,
): Promise<Refusal | undefined> {
  if (pool === null) return undefined;
  const { record } = (await workerPools.state(pool)).state;
  if (record === undefined) return refuse('worker-pool-not-found', `worker pool ${pool} not found.`, 'pool');
  if (!record.architectures.includes(architecture)) {
    return refuse('bad-work-request', `worker pool ${pool} does not support ${architecture}.`, 'architecture');
  }
  const isLinked = (await scopes.state(scope)).state.pools[pool] !== undefined;
  if (record.instance_wide || isLinked) return undefined;
  return refuse('bad-work-request', `scope ${scope} may not use worker pool ${pool}.`, 'pool');
}

/** Takes work out of the queue, by an id as of `showWork`. A worker that has it already may go on with it; its outcome is not kept. */
export async function cancelWork(
  named: string,
  context: CommandContext,
  dependencies: CancelWorkDependencies,
): Promise<Refusal | Readonly<{ changed: boolean; shown: ShownWork }>> {
  const { workRequests, clock } = dependencies;
  const found = await workNamed(named, dependencies);
  if (isRefusal(found)) return found;
  const { id } = found;
  const data = { at: clock.nowText() };
  const answer = await workRequests.handle(id, { type: 'CancelWork', data }, context);
  if (isRefusal(answer)) return answer;
  const shown = await showWork(id, dependencies);
  return isRefusal(shown) ? shown : { changed: answer.events.length > 0, shown };
}

/** Which work requests: of one scope or state where one is named, those that come after the one of that id. */
export type WorkFilter = Readonly<{
  scope?: string | undefined;
  state?: string | undefined;
  /** Submitted then or later, in epoch milliseconds. */
  since?: number | undefined;
  after?: string | undefined;
  limit: number;
}>;

/** Work requests, the newest first: at most `limit`. */
export async function listWork(
  { scope, state, since, after, limit }: WorkFilter,
  { views, catchUp }: ReadWorkDependencies,
): Promise<Refusal | readonly WorkRequestView[]> {
  await catchUp();
  const last = after === undefined ? undefined : await views.workRequests.get(after);
  if (after !== undefined && last === undefined) return notFound(after);
  return (await views.workRequests.list())
    .map(({ view }) => view)
    .filter((view) => (scope === undefined || view.scope === scope) && (state === undefined || view.state === state))
    .filter(({ submittedAt }) => since === undefined || epochMilliseconds(submittedAt) >= since)
    .filter((view) => last === undefined || newestFirst(last, view) < 0)
    .sort(newestFirst)
    .slice(0, limit);
}

function newestFirst(a: WorkRequestView, b: WorkRequestView): number {
  if (a.submittedAt !== b.submittedAt) return a.submittedAt < b.submittedAt ? 1 : -1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

/** The one work request whose id begins with this. */
async function workNamed(
  named: string,
  { views, catchUp }: Pick<ReadWorkDependencies, 'views' | 'catchUp'>,
): Promise<Refusal | WorkRequestView> {
  await catchUp();
  const whole = await views.workRequests.get(named);
  if (whole !== undefined) return whole;
  const beginning = named.toLowerCase();
  const found = beginning === '' ? [] : await views.workRequests.list(beginning);
  if (found.length > 1) {
    const candidates = found.map(({ key, view: { scope, state } }) => ({ id: key, about: `${scope}, ${state}` }));
    return refuse('ambiguous-work-request', severalBegin(named, 'work requests', candidates), 'id');
  }
  return found[0]?.view ?? notFound(named);
}

function notFound(id: string): Refusal {
  return refuse('work-request-not-found', `work request ${id} not found.`, 'id');
}

/** One work request; its id may be shortened to what no other begins with. */
export async function showWork(named: string, dependencies: ReadWorkDependencies): Promise<Refusal | ShownWork> {
  const view = await workNamed(named, dependencies);
  if (isRefusal(view)) return view;
  const { state } = await dependencies.workRequests.state(view.id);
  return { view, payload: state.state === 'absent' ? undefined : state.payload };
}

/** As it is written outside: the command line's JSON and the administration API have the same fields. */
export function describeWork(view: WorkRequestView) {
  const { id, scope, architecture, pool, state, worker, attempts, because } = view;
  const times = { submitted_at: view.submittedAt, started_at: view.startedAt, finished_at: view.finishedAt };
  return {
    id,
    scope,
    architecture,
    pool,
    expected_seconds: view.expectedSeconds,
    state,
    worker,
    attempts,
    ...times,
    because,
  };
}

/** The same with the payload; null once it is over. */
export function describeWorkWithPayload({ view, payload }: ShownWork) {
  return { ...describeWork(view), payload: payload ?? null };
}
