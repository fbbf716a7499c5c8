import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { TakenWork, WorkDispatcher } from '../../application/worker-pools/work-dispatcher.ts';
import {
  activateWorker,
  type FinishDependencies,
  finishWork,
  type KnownWorker,
  mayActivate,
  readyWorker,
  type SessionDependencies,
  workerHeardAgain,
  workerOf,
} from '../../application/worker-pools/worker-sessions.ts';
import type { CommandContext } from '../../commands/aggregate.ts';
import { checkedBody, jsonBody, readJson } from '../middleware/json-body.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { bearerToken, contextOf } from '../middleware/request-context.ts';
import { invalid, type Problem, problems, sendJson, sendProblem } from '../problems.ts';
import { jsonOf, type Operation, problemAnswers, type Route } from '../route.ts';

export type WorkerApiDependencies = SessionDependencies &
  FinishDependencies &
  Readonly<{
    dispatcher: Pick<WorkDispatcher, 'take'>;
    /** A worker was heard of just now. */
    heard: (worker: string) => void;
    /** The program of the agent, for Node. @throws where this installation has none */
    agentProgram: () => Promise<string>;
  }>;

const WORKER_PROBLEMS = problemAnswers(401, 422, 500, 503);
const WAIT_SECONDS_MAX = 60;
const WAIT_SECONDS_DEFAULT = 30;
const nothing = z.undefined().meta({ description: 'No content.' });
const anything = z
  .custom<z.infer<ReturnType<typeof z.json>>>((value) => z.json().safeParse(value).success, 'must be JSON.')
  .meta({ description: 'Free JSON.' });

/** A work request as its worker is given it. */
const takenWork = z.strictObject({
  id: z.string(),
  scope: z.string(),
  architecture: z.string(),
  pool: z.string().nullable(),
  payload: anything,
  expected_seconds: z.number().nullable(),
  state: z.literal('running'),
  worker: z.string().nullable(),
  attempts: z.int(),
  submitted_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.null(),
  because: z.string().nullable(),
});

const activate = {
  method: 'POST',
  path: '/activate',
  scope: 'worker',
  request: {},
  answers: { 200: z.strictObject({ worker_token: z.string() }), ...WORKER_PROBLEMS },
} as const satisfies Operation;

const JAVASCRIPT = 'text/javascript; charset=utf-8';
/** By the activation token, before it is exchanged. */
const agent = {
  method: 'GET',
  path: '/agent',
  scope: 'worker',
  request: {},
  contentType: 'text/javascript',
  otherTypes: [JAVASCRIPT],
  answers: { 200: z.string().meta({ description: 'The agent, an ES module.' }), ...WORKER_PROBLEMS },
} as const satisfies Operation;

const readyBody = z.strictObject({ metadata: z.record(z.string(), anything).optional() });
const ready = {
  method: 'POST',
  path: '/ready',
  scope: 'worker',
  request: { body: jsonOf(readyBody) },
  answers: { 204: nothing, ...WORKER_PROBLEMS, ...problemAnswers(400, 409, 413, 415) },
} as const satisfies Operation;

const heartbeat = {
  method: 'POST',
  path: '/heartbeat',
  scope: 'worker',
  request: {},
  answers: { 204: nothing, ...WORKER_PROBLEMS },
} as const satisfies Operation;

const take = {
  method: 'POST',
  path: '/take',
  scope: 'worker',
  request: {
    query: z.strictObject({
      wait: z.string().meta({ format: 'duration', description: 'At most a minute.' }).optional(),
    }),
  },
  answers: { 200: takenWork, 204: nothing, ...WORKER_PROBLEMS },
} as const satisfies Operation;

const finishBody = z.strictObject({
  id: z.string().min(1).max(64),
  outcome: z.enum(['succeeded', 'failed'], { error: 'must be succeeded or failed.' }),
  because: z.string().max(2_000).optional(),
});
const finish = {
  method: 'POST',
  path: '/finish',
  scope: 'worker',
  request: { body: jsonOf(finishBody) },
  answers: { 204: nothing, ...WORKER_PROBLEMS, ...problemAnswers(400, 404, 409, 413, 415) },
} as const satisfies Operation;

/** What workers ask, below `/api/worker/v1`. @public what describes the API is made from it */
export const WORKER_OPERATIONS: readonly Operation[] = [activate, agent, ready, heartbeat, take, finish];

type Told<T> = Readonly<{ known: KnownWorker; value: T; context: CommandContext; response: Response }>;

/** What workers ask, carried out. */
export function workerRoutes(dependencies: WorkerApiDependencies): readonly Route[] {
  const { dispatcher } = dependencies;
  /** Who asks is known before the body is read. */
  const knownBy = new WeakMap<Response, KnownWorker>();
  const told = <T>(schema: z.ZodType<T>, work: (told: Told<T>) => Promise<void>): readonly RequestHandler[] => [
    async (request, response, next) => {
      const known = await knownOf(request, response, dependencies);
      if (known === undefined) return;
      knownBy.set(response, known);
      next();
    },
    ...jsonBody,
    async (request, response) => {
      const known = knownBy.get(response);
      if (known === undefined) return sendProblem(response, problems.authenticationRequired);
      const read = readJson(request.body);
      if (read === undefined) return sendProblem(response, problems.malformedJson);
      const outcome = checkedBody(schema, read, queryErrors(request));
      if ('problem' in outcome) return sendProblem(response, outcome.problem);
      await work({ known, value: outcome.value, context: contextFor(known, response), response });
    },
  ];
  return [
    { ...activate, handle: [refuseQuery, (request, response) => sendToken(request, response, dependencies)] },
    { ...agent, handle: [refuseQuery, (request, response) => sendAgent(request, response, dependencies)] },
    {
      ...ready,
      handle: told(readyBody, async ({ known, value: { metadata = {} }, context, response }) => {
        const refusal = await readyWorker(known, metadata, context, dependencies);
        if (refusal === undefined) sendNothing(response);
        else sendProblem(response, { ...NOT_NOW, message: refusal.because });
      }),
    },
    {
      ...heartbeat,
      handle: [
        refuseQuery,
        async (request, response) => {
          if ((await knownOf(request, response, dependencies)) !== undefined) sendNothing(response);
        },
      ],
    },
    { ...take, handle: [(request, response) => sendWork(request, response, dispatcher, dependencies)] },
    {
      ...finish,
      handle: told(finishBody, async ({ known, value, context, response }) => {
        const { id, outcome, because = null } = value;
        const refusal = await finishWork(known.worker, { id, outcome, because }, context, dependencies);
        if (refusal === undefined) return sendNothing(response);
        const status = refusal.refused === 'work-request-not-found' ? 404 : 409;
        sendProblem(response, { status, message: refusal.because });
      }),
    },
  ];
}

/** The worker is right, and too early: its creation has not been recorded yet. */
const NOT_NOW = { status: 409, headers: { 'Retry-After': '5' } } as const;

async function sendToken(request: Request, response: Response, dependencies: WorkerApiDependencies): Promise<void> {
  const token = bearerToken(request);
  const context = { actor: 'system:worker-api', requestId: contextOf(response).requestId };
  const activated = token === undefined ? undefined : await activateWorker(token, context, dependencies);
  if (activated === undefined) return sendProblem(response, problems.authenticationRequired);
  dependencies.heard(activated.worker);
  sendJson(response, 200, { worker_token: activated.token });
}

async function sendAgent(request: Request, response: Response, dependencies: WorkerApiDependencies): Promise<void> {
  const token = bearerToken(request);
  if (token === undefined || !(await mayActivate(token, dependencies))) {
    return sendProblem(response, problems.authenticationRequired);
  }
  response
    .status(200)
    .set('Content-Type', JAVASCRIPT)
    .end(await dependencies.agentProgram());
}

async function sendWork(
  request: Request,
  response: Response,
  dispatcher: WorkerApiDependencies['dispatcher'],
  dependencies: WorkerApiDependencies,
): Promise<void> {
  const known = await knownOf(request, response, dependencies);
  if (known === undefined) return;
  const seconds = waitSeconds(request);
  if (typeof seconds !== 'number') return sendProblem(response, seconds);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), seconds * 1000);
  response.once('close', () => over.abort());
  try {
    const work = await dispatcher.take(known, over.signal);
    dependencies.heard(known.worker);
    if (work === undefined) sendNothing(response);
    else sendJson(response, 200, shown(work));
  } finally {
    clearTimeout(timer);
  }
}

/** `PT30S` of the query, at most a minute. */
function waitSeconds(request: Request): number | Problem {
  const errors = queryErrors(request, ['wait']);
  if (Object.keys(errors).length > 0) return invalid(errors);
  const { wait } = request.query;
  if (wait === undefined) return WAIT_SECONDS_DEFAULT;
  const text = typeof wait === 'string' ? wait : '';
  const found = /^PT(?=\d)(?:(\d)M)?(?:(\d{1,2}(?:\.\d{1,3})?)S)?$/.exec(text);
  const seconds = found === null ? Number.NaN : Number(found[1] ?? 0) * 60 + Number(found[2] ?? 0);
  if (seconds <= WAIT_SECONDS_MAX) return seconds;
  return invalid({ wait: [`must be an ISO 8601 duration up to PT${WAIT_SECONDS_MAX}S.`] });
}

/** The worker whose token the request has, or a 401. */
async function knownOf(
  request: Request,
  response: Response,
  dependencies: WorkerApiDependencies,
): Promise<KnownWorker | undefined> {
  const token = bearerToken(request);
  const known = token === undefined ? undefined : await workerOf(token, dependencies);
  if (known === undefined) {
    sendProblem(response, problems.authenticationRequired);
    return undefined;
  }
  dependencies.heard(known.worker);
  if (known.isSilent) await workerHeardAgain(known.worker, contextFor(known, response), dependencies);
  return known;
}

function shown({ expectedSeconds, submittedAt, startedAt, ...work }: TakenWork) {
  const times = { submitted_at: submittedAt, started_at: startedAt, finished_at: null };
  return { ...work, expected_seconds: expectedSeconds, state: 'running', ...times };
}

function contextFor({ worker }: KnownWorker, response: Response): CommandContext {
  return { actor: `worker:${worker}`, requestId: contextOf(response).requestId };
}

function sendNothing(response: Response): void {
  if (response.writableEnded) return;
  response.statusCode = 204;
  response.end();
}
