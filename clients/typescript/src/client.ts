import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './api.ts';

/** Asks what the description of the API has, and nothing else: paths, parameters, bodies and answers are typed. */
export type EdgewardClient = Client<paths, 'application/json'>;

/**
 * A client of the server at `url`, such as `https://edgeward.example.net`, that shows this token. Answers that are no success come back as
 * `error`; only a server that can't be reached throws.
 */
export function openEdgeward(url: string, token: string): EdgewardClient {
  return createClient<paths, 'application/json'>({
    baseUrl: url,
    headers: { authorization: `Bearer ${token}` },
  });
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
