import { type RequestHandler, type Response, Router } from 'express';
import { explain, methodNotAllowed, sendJson, sendProblem } from '../problems.ts';

/**
 * What `/readyz` asks for: each check's name, and why it is not ready (`undefined`: it is); and whether the log was restored, which
 * keeps nobody from being served.
 */
export type Readiness = () => Promise<
  Readonly<{ checks: Readonly<Record<string, string | undefined>>; restored: boolean }>
>;

/** `GET /healthz`: the process answers. `GET /readyz`: stores reachable, projections caught up; 503 otherwise. */
export function healthRoutes(readiness: Readiness): Router {
  const router = Router();
  router
    .route('/healthz')
    .get((_request, response) => sendJson(response, 200, { status: 'ok' }))
    .all(onlyGet);
  router
    .route('/readyz')
    .get((_request, response) => sendReadiness(readiness, response))
    .all(onlyGet);
  return router;
}

const onlyGet: RequestHandler = (_request, response) => sendProblem(response, methodNotAllowed(['GET', 'HEAD']));

async function sendReadiness(readiness: Readiness, response: Response): Promise<void> {
  const { checks: found, restored } = await readiness();
  const checks = Object.entries(found);
  const isReady = checks.every(([, problem]) => problem === undefined);
  const shown = Object.fromEntries(checks.map(([name, problem]) => [name, problem ?? 'ok']));
  if (!isReady) explain(response, shown);
  const body = { status: isReady ? 'ready' : 'not ready', checks: shown, ...(restored ? { restored } : {}) };
  sendJson(response, isReady ? 200 : 503, body);
}
