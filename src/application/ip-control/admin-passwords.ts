import { scrypt, timingSafeEqual } from 'node:crypto';
import { Semaphore, SemaphoreFull, stopOf } from '../../concurrency/semaphore.ts';
import { type Refusal, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Ids } from '../../ports/ids.ts';

const PASSWORD_BYTES = 18;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** RFC 7914; the parameters are stored beside the hash, so that they can grow. One check takes 0.2 s of a core, and 32 MiB. */
const COST = { N: 32_768, r: 8, p: 1 };
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
const CHARACTERS_MIN = 12;
const CHARACTERS_MAX = 128;
const CHECKS_AT_ONCE = 2;
const CHECKS_WAITING_MAX = 20;

/** A password that no person knows yet. */
export function newPassword(ids: Pick<Ids, 'random'>): string {
  return Buffer.from(ids.random(PASSWORD_BYTES)).toString('base64url');
}

/** What is wrong with a password that an administrator has chosen. */
export function badPassword(password: string, account: string): Refusal | undefined {
  const characters = Array.from(password).length;
  if (characters < CHARACTERS_MIN || characters > CHARACTERS_MAX)
    return refuse('bad-password', `a password has ${CHARACTERS_MIN} to ${CHARACTERS_MAX} characters.`, 'password');
  if (password.toLowerCase() === account)
    return refuse('bad-password', 'a password must not be the name of its account.', 'password');
  return undefined;
}

/** `scrypt$N$r$p$salt$hash`, the last two in base64. */
export async function passwordHash(password: string, { random }: Pick<Ids, 'random'>): Promise<string> {
  const salt = random(SALT_BYTES);
  const hash = await derived(password, salt, COST);
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, Buffer.from(salt).toString('base64'), hash.toString('base64')].join('$');
}

/** Checks passwords against their hashes, a few at once. */
export type PasswordChecks = Readonly<{
  /** Whether it is the password; `busy` when too many wait. Without a hash it takes as long, and is never the password. */
  check: (password: string, stored: string | undefined) => Promise<boolean | 'busy'>;
}>;

/** Checks of one server: at most two at a time, as each takes a core, and at most twenty that wait. */
export function openPasswordChecks(): PasswordChecks {
  const semaphore = new Semaphore(CHECKS_AT_ONCE, CHECKS_WAITING_MAX);
  const never = stopOf(new AbortController().signal);
  return {
    check: async (password, stored) => {
      try {
        await semaphore.enter(never);
      } catch (error) {
        if (error instanceof SemaphoreFull) return 'busy';
        throw error;
      }
      try {
        return await isPassword(password, stored);
      } finally {
        semaphore.leave();
      }
    },
  };
}

async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const { cost, salt, hash } = stored === undefined ? NO_ACCOUNT : partsOf(stored);
  const found = await derived(password, salt, cost);
  return timingSafeEqual(found, hash) && stored !== undefined;
}

/** What is compared with where there is no such account: nothing gives this hash. */
const NO_ACCOUNT = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

function partsOf(stored: string): typeof NO_ACCOUNT {
  const [kind, N, r, p, salt = '', hash = ''] = stored.split('$');
  invariant(kind === 'scrypt', 'the hash of a password says how it was made');
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

function derived(password: string, salt: Uint8Array, cost: typeof COST): Promise<Buffer> {
  // The same characters are the same password, however a keyboard has composed them.
  const text = password.normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, { ...cost, maxmem: MEMORY_BYTES_MAX }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
