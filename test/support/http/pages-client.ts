import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';
import * as assert from 'uvu/assert';

/** What came back, as a browser would see it; redirects are not followed. */
export type PageReply = Readonly<{ status: number; headers: IncomingHttpHeaders; text: string; location: string }>;

/** A browser without scripts: it keeps cookies, and says where its forms come from. */
export type PagesClient = Readonly<{
  get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<PageReply>;
  /** Sends a form from our own pages, unless the headers say otherwise. */
  post: (
    path: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<PageReply>;
  /** Logs in; a password that must be changed is changed to `OWN_PASSWORD`. */
  logIn: (name: string, password: string) => Promise<void>;
  cookies: Map<string, string>;
  close: () => Promise<void>;
}>;

export const OWN_PASSWORD = 'correct horse battery staple';
const OWN_PAGES = { 'sec-fetch-site': 'same-origin' };

/** `base` is the server's URL. */
export function openPagesClient(base: string): PagesClient {
  const dispatcher = new Agent({ keepAliveTimeout: 1_000 });
  const cookies = new Map<string, string>();

  const send = async (
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await request(`${base}${path}`, {
      method,
      dispatcher,
      headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.body.text();
    const { statusCode: status, headers: answered } = response;
    return { status, headers: answered, text, location: String(answered['location'] ?? '') };
  };
  const client: PagesClient = {
    get: (path, headers = {}) => send('GET', path, headers),
    post: (path, form, headers = OWN_PAGES) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return send('POST', path, { ...type, ...headers }, new URLSearchParams(form).toString());
    },
    logIn: async (name, password) => {
      const entered = await client.post('/admin/login', { name, password });
      assert.is(entered.status, 303, entered.text);
      const first = await client.get('/admin/');
      if (first.location !== '/admin/account/password') return;
      const changed = await client.post('/admin/account/password', { password: OWN_PASSWORD, again: OWN_PASSWORD });
      assert.is(changed.status, 303, changed.text);
    },
    cookies,
    close: () => dispatcher.destroy(),
  };
  return client;
}
