import { Agent, request } from 'undici';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { Edgeward } from '../servers/edgeward-server.ts';
import { type Answer, type AskOptions, checkedAnswer } from './api-client.ts';

/** A client of the administration API. Every answer is held to the conventions, and to what its operation states. */
export type AdminClient = Readonly<{
  get: (path: string) => Promise<Answer>;
  put: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  patch: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  post: (path: string, body?: unknown) => Promise<Answer>;
  remove: (path: string) => Promise<Answer>;
  send: (path: string, options: AskOptions) => Promise<Answer>;
  close: () => Promise<void>;
}>;

/** `base` is the server's URL; paths are below `/api/admin/v1`. */
export function openAdminClient(base: string, token?: string): AdminClient {
  const dispatcher = new Agent({ keepAliveTimeout: 1_000, connections: 64 });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const send = async (path: string, { method = 'GET', headers = {}, body }: AskOptions): Promise<Answer> => {
    const response = await request(`${base}/api/admin/v1${path}`, {
      method,
      headers: { ...authorization, ...headers },
      dispatcher,
      ...(body === undefined ? {} : { body }),
    });
    return checkedAnswer(response.statusCode, response.headers, await response.body.text());
  };
  const sendJson =
    (method: string) =>
    (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      send(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  return {
    get: (path) => send(path, {}),
    put: sendJson('PUT'),
    patch: sendJson('PATCH'),
    post: (path, body = {}) => sendJson('POST')(path, body),
    remove: (path) => send(path, { method: 'DELETE' }),
    send,
    close: () => dispatcher.destroy(),
  };
}

const issued = z.object({ token: z.string(), id: z.string() });

/** An admin token of an account, which is made where it is not there. */
export async function adminToken(
  edgeward: Edgeward,
  account: string,
  scopes: readonly string[],
): Promise<Readonly<{ token: string; id: string }>> {
  const { exitCode, err } = await edgeward.command('admin', 'create', account, '--json');
  assert.ok(exitCode === 0 || err.includes('administrator-exists'), err);
  return issued.parse(await edgeward.json('admin', 'token', 'create', account, '--scopes', scopes.join(',')));
}
