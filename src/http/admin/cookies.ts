import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { COOKIES_SECRET_ID } from '../../application/operations/secrets.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { Ids } from '../../ports/ids.ts';
import { invariant } from '../../kernel/invariant.ts';

const KEY_BYTES = 32;

/** The cookies of the pages: the session's secret, when a person was last seen, the device, and a message for the next page. */
export type CookieName = 'session' | 'seen' | 'device' | 'message';

const NAMES: Readonly<Record<CookieName, string>> = {
  session: 'edgeward',
  seen: 'edgeward-seen',
  device: 'edgeward-device',
  message: 'edgeward-message',
};

/** Signs texts, so that a browser can keep them and not make them up. */
export type Signer = Readonly<{
  sign: (text: string) => string;
  /** The text, when it was signed here. */
  opened: (signed: string | undefined) => string | undefined;
}>;

/** The signer of this installation; its key is made when it is first needed. */
export async function openSigner(secrets: Secrets, ids: Pick<Ids, 'random'>): Promise<Signer> {
  // Another server may put one at the same moment: all use the one that was first.
  await secrets.putIfAbsent(COOKIES_SECRET_ID, Buffer.from(ids.random(KEY_BYTES)).toString('base64'));
  const key = await secrets.get(COOKIES_SECRET_ID);
  invariant(key !== undefined && key !== '', `the secret ${COOKIES_SECRET_ID} signs cookies, and is not empty`);
  return signerWith(key);
}

function signerWith(key: string): Signer {
  const mac = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    sign: (text) => `${Buffer.from(text).toString('base64url')}.${mac(text).toString('base64url')}`,
    opened: (signed) => {
      const [payload = '', signature = ''] = (signed ?? '').split('.');
      const text = Buffer.from(payload, 'base64url').toString('utf8');
      const given = Buffer.from(signature, 'base64url');
      const wanted = mac(text);
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? text : undefined;
    },
  };
}

/** A cookie of the request; the first one where it is sent twice. */
export function cookieOf(request: Request, name: CookieName): string | undefined {
  const wanted = fullName(request, name);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() === wanted) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Keeps a cookie in the browser, out of reach of scripts; without a time for as long as the browser runs. */
export function setCookie(
  request: Request,
  response: Response,
  name: CookieName,
  { value, seconds }: Readonly<{ value: string; seconds?: number }>,
): void {
  const parts = [`${fullName(request, name)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (request.secure) parts.push('Secure');
  if (seconds !== undefined) parts.push(`Max-Age=${seconds}`);
  response.append('Set-Cookie', parts.join('; '));
}

/** Takes a cookie out of the browser. */
export function clearCookie(request: Request, response: Response, name: CookieName): void {
  setCookie(request, response, name, { value: '', seconds: 0 });
}

/** Over TLS browsers keep others from setting it (`__Host-`); without TLS, on loopback alone, they would not take such a name. */
function fullName(request: Request, name: CookieName): string {
  return request.secure ? `__Host-${NAMES[name]}` : NAMES[name];
}
