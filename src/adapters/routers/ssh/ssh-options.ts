import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { RouterFailure } from '../../../ports/routers.ts';
import type { Secrets } from '../../../ports/secrets.ts';
import { parseHostKeyPin } from './host-key.ts';
import { mustBe, wholeNumber } from '../driver-kit/router-options.ts';
import type { SshLogin, SshTarget } from './ssh-connection.ts';
import type { SshSessionLimits } from './ssh-session.ts';

const HOST = 'a host name or an IP address';
const PORT = 'a port number from 1 to 65535';
const USER = 'a user name';
const SECRET = 'secret:<id> or the absolute path of a file';
const HOST_KEY =
  'the public host key ("ssh-ed25519 AAAA…", or the base64 alone) or its fingerprint ("SHA256:…", as ssh-keygen -l shows it)';

/** Never the secret itself: options are shown, and kept for good. */
const SECRET_REFERENCE = /^(?:secret:([A-Za-z0-9][A-Za-z0-9_.-]{0,127})|\/[^\n\0]+)$/;

const secret = (): z.ZodString => z.string(mustBe(SECRET)).regex(SECRET_REFERENCE, mustBe(SECRET));

/** What every driver over SSH is told about its router. */
export const SSH_OPTIONS = {
  host: z
    .string(mustBe(HOST))
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.:%-]*$|^::[A-Fa-f0-9:.]*$/, mustBe(HOST))
    .meta({ description: `the router: ${HOST}` }),
  port: z
    .string(mustBe(PORT))
    .regex(/^[1-9]\d{0,4}$/, mustBe(PORT))
    .transform(Number)
    .refine((port) => port <= 65_535, mustBe(PORT))
    .default(22)
    .meta({ description: 'SSH port (22)' }),
  user: z
    .string(mustBe(USER))
    .regex(/^[^\s\0]{1,64}$/, mustBe(USER))
    .meta({ description: 'user to log in as' }),
  key: secret().optional().meta({ description: 'private key to log in with (or password)', secret: true }),
  passphrase: secret().optional().meta({ description: 'passphrase of the private key', secret: true }),
  password: secret().optional().meta({ description: 'password to log in with (or key)', secret: true }),
  host_key: z
    .string(mustBe(HOST_KEY))
    .transform((text, context) => {
      const pin = parseHostKeyPin(text.trim());
      if (pin !== undefined) return pin;
      context.addIssue({ code: 'custom', message: `must be ${HOST_KEY}` });
      return z.NEVER;
    })
    .meta({ description: `the router's host key: ${HOST_KEY}` }),
  connect_seconds: wholeNumber('a number of seconds from 1 to 300', 1, 300)
    .default(10)
    .meta({ description: 'how long connecting and logging in may take (10)' }),
  idle_seconds: wholeNumber('a number of seconds from 0 to 3600', 0, 3600)
    .default(30)
    .meta({ description: 'a connection that is not used is closed after so many seconds (30)' }),
};

type SshOptions = z.output<z.ZodObject<typeof SSH_OPTIONS>>;

/** Refines an object with the options above: there is one way to log in. */
export function refuseLoginProblems(
  options: { key?: string | undefined; password?: string | undefined; passphrase?: string | undefined },
  context: z.RefinementCtx,
): void {
  const { key, password, passphrase } = options;
  const refuse = (option: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [option], message });
  if (key === undefined && password === undefined) refuse('key', `is missing; it must be ${SECRET} (or password must)`);
  if (key !== undefined && password !== undefined) refuse('password', 'must be left out, as key is given');
  if (key === undefined && passphrase !== undefined) refuse('passphrase', 'must be left out without key');
}

/** Where and how to connect; secrets are read when it comes to it. */
export function sshTarget(options: SshOptions, secrets: Secrets): SshTarget {
  const { host, port, user, host_key: hostKey } = options;
  return { host, port, user, hostKey, login: () => readLogin(options, secrets) };
}

/** How long connecting may take, and how long an unused connection is kept. */
export function sshLimits({ connect_seconds: connect, idle_seconds: idle }: SshOptions): SshSessionLimits {
  return { connectMilliseconds: connect * 1000, idleMilliseconds: idle * 1000 };
}

async function readLogin({ key, passphrase, password }: SshOptions, secrets: Secrets): Promise<SshLogin> {
  if (key === undefined) return { password: firstLine(await readSecret('password', password ?? '', secrets)) };
  return {
    privateKey: await readSecret('key', key, secrets),
    passphrase: passphrase === undefined ? undefined : firstLine(await readSecret('passphrase', passphrase, secrets)),
  };
}

async function readSecret(option: string, reference: string, secrets: Secrets): Promise<string> {
  const id = SECRET_REFERENCE.exec(reference)?.[1];
  if (id === undefined) return readSecretFile(option, reference);
  const value = await secrets.get(id).catch((cause: unknown) => {
    throw new RouterFailure('bad-option', `option ${option}: the secret ${id} can't be read`, { cause });
  });
  if (value !== undefined) return value;
  throw new RouterFailure('bad-option', `option ${option}: there is no secret ${id}`);
}

async function readSecretFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const because = cause instanceof Error ? cause.message : String(cause);
    throw new RouterFailure('bad-option', `option ${option}: its file can't be read: ${because}`, { cause });
  }
}

/** Files end with a line's end, passwords don't. */
function firstLine(text: string): string {
  return text.replace(/\r?\n$/, '');
}
