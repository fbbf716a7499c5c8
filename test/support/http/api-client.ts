import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';
import * as assert from 'uvu/assert';
import { checkExchange } from './stated-answers.ts';

/** What came back. */
export type Answer = Readonly<{
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON; `undefined` for an empty one. */
  json: unknown;
}>;

export type AskOptions = Readonly<{
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as it is. */
  body?: string | Buffer;
}>;

/** A customer's client of the API. Every answer is held to the conventions that no test should have to repeat. */
export type ApiClient = Readonly<{
  get: (path: string) => Promise<Answer>;
  /** Sends a value as JSON. */
  post: (path: string, body: unknown) => Promise<Answer>;
  send: (path: string, options: AskOptions) => Promise<Answer>;
  close: () => Promise<void>;
}>;

/** `base` is the server's URL; paths are below `/api/v1`. */
export function openApiClient(base: string, token?: string): ApiClient {
  const dispatcher = new Agent({ keepAliveTimeout: 1_000, connections: 64 });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const send = async (path: string, { method = 'GET', headers = {}, body }: AskOptions): Promise<Answer> => {
    const response = await request(`${base}/api/v1${path}`, {
      method,
      headers: { ...authorization, ...headers },
      dispatcher,
      ...(body === undefined ? {} : { body }),
    });
    const answer = checkedAnswer(response.statusCode, response.headers, await response.body.text());
    const { status, text } = answer;
    checkExchange({ method, url: `/api/v1${path}`, status, contentType: response.headers['content-type'], text });
    return answer;
  };
  return {
    get: (path) => send(path, {}),
    post: (path, body) =>
      send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    send,
    close: () => dispatcher.destroy(),
  };
}

/** Headers on every answer; JSON in every body; errors with a message and without anything of the inside. */
export function checkedAnswer(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  const where = `${status} ${text.slice(0, 200)}`;
  const limit = headers['x-ratelimit-limit'];
  const remaining = headers['x-ratelimit-remaining'];
  assert.match(String(limit), /^[1-9]\d*$/, `X-RateLimit-Limit: ${where}`);
  assert.match(String(remaining), /^\d+$/, `X-RateLimit-Remaining: ${where}`);
  assert.ok(Number(remaining) <= Number(limit), `remaining is at most the limit: ${where}`);
  assert.match(String(headers['x-request-id']), /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, `X-Request-Id: ${where}`);
  assert.not(headers['x-powered-by'], where);
  if (text === '') return { status, headers, text, json: undefined };
  assert.match(String(headers['content-type']), /^application\/json; charset=utf-8(?:; numbers=string)?$/, where);
  const json: unknown = JSON.parse(text);
  if (status >= 400) checkError(status, json, text);
  return { status, headers, text, json };
}

function checkError(status: number, json: unknown, text: string): void {
  assert.type(json, 'object', text);
  if (typeof json !== 'object' || json === null) return;
  const members = Object.keys(json);
  const allowed = ['message', ...(status === 422 ? ['errors'] : []), ...(status === 429 ? ['retry_after'] : [])];
  assert.equal(
    members.filter((member) => !allowed.includes(member)),
    [],
    text,
  );
  assert.ok('message' in json && typeof json.message === 'string' && json.message !== '', text);
  assert.not.match(
    text,
    /node_modules|node:|\.[jt]s\b|[A-Z]\w*Error\b|\n\s+at |[Zz]od|SQL|sqlite|Express|no such table/,
    'nothing of the inside',
  );
}
