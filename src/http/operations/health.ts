import type { Response } from 'express';
import { z } from 'zod';
import { explain, sendJson, VIEWS_CATCH_UP } from '../problems.ts';
import type { Operation, Route } from '../route.ts';

/**
 * What `/readyz` asks for: each check's name, and why it is not ready (`undefined`: it is); whether the log was restored, which
 * keeps no client from being served; and the version of edgeward.
 */
export type Readiness = () => Promise<
  Readonly<{ checks: Readonly<Record<string, string | undefined>>; restored: boolean; version: string }>
>;

const health = {
  method: 'GET',
  path: '/healthz',
  scope: 'anybody',
  request: {},
  answers: { 200: z.strictObject({ status: z.literal('ok') }) },
} as const satisfies Operation;

const readinessOf = <S extends string>(status: S) =>
  z.strictObject({
    status: z.literal(status),
    version: z.string(),
    checks: z.record(z.string(), z.string()),
    restored: z.literal(true).optional(),
  });
const ready = {
  method: 'GET',
  path: '/readyz',
  scope: 'anybody',
  request: {},
  answers: { 200: readinessOf('ready'), 503: readinessOf('not ready') },
} as const satisfies Operation;

/** What those ask who watch over the server. @public what describes the API is made from it */
export const HEALTH_OPERATIONS: readonly Operation[] = [health, ready];

/** The process answers; stores reachable, projections caught up. */
export function healthRoutes(readiness: Readiness): readonly Route[] {
  return [
    { ...health, handle: [(_request, response) => sendJson(response, 200, { status: 'ok' })] },
    { ...ready, handle: [(_request, response) => sendReadiness(readiness, response)] },
  ];
}

async function sendReadiness(readiness: Readiness, response: Response): Promise<void> {
  const { checks: found, restored, version } = await readiness();
  const checks = Object.entries(found);
  const isReady = checks.every(([, problem]) => problem === undefined);
  const shown = Object.fromEntries(checks.map(([name, problem]) => [name, problem ?? 'ok']));
  const { projections: behind, ...stores } = found;
  const isBehind = behind !== undefined && Object.values(stores).every((problem) => problem === undefined);
  if (!isReady) explain(response, isBehind ? VIEWS_CATCH_UP : shown);
  const body = { status: isReady ? 'ready' : 'not ready', version, checks: shown, ...(restored ? { restored } : {}) };
  sendJson(response, isReady ? 200 : 503, body);
}
