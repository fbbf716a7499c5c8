import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './api.ts';

/** Asks what the description of the API has, and nothing else: paths, parameters, bodies and answers are typed. */
export type EdgewardClient = Client<paths, 'application/json'>;

/**
 * A client of the server at `url`, such as `https://edgeward.example.net`, that shows this token. Answers that are no success come back as
 * `error`, with a `message` also where no edgeward has made them; only a server that can't be reached throws.
 */
export function openEdgeward(url: string, token: string): EdgewardClient {
  const client = createClient<paths, 'application/json'>({
    baseUrl: url,
    headers: { authorization: `Bearer ${token}` },
  });
  client.use(withMessage);
  return client;
}

/** What stands between may answer in the place of the server, a page or nothing at all: an error has its message all the same. */
const withMessage: Middleware = {
  onResponse: async ({ response }) => {
    if (response.ok || (await hasMessage(response.clone()))) return undefined;
    const headers = new Headers(response.headers);
    for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name);
    headers.set('content-type', 'application/json');
    const { status, statusText } = response;
    const message = `HTTP ${status} ${statusText}`.trimEnd();
    return new Response(JSON.stringify({ message }), { status, statusText, headers });
  },
};

async function hasMessage(response: Response): Promise<boolean> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null && 'message' in body;
  } catch {
    return false;
  }
}

/** Sends a body as a form, as `POST /source-whitelist` wants it: `bodySerializer: asForm`. */
export function asForm(body: Readonly<Record<string, string | Blob | readonly string[] | undefined>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    if (typeof value === 'string') form.append(name, value);
    else if (value instanceof Blob) form.append(name, value, value instanceof File ? value.name : name);
    else for (const each of value) form.append(name, each);
  }
  return form;
}
