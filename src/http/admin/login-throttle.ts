import type { Request } from 'express';
import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { isAdministratorName } from '../../domain/ip-control/admin-roles.ts';
import type { Clock } from '../../ports/clock.ts';
import { clientOf } from '../middleware/client-address.ts';

const FAILURES_MAX = 10;
/** The window of a count. */
export const THROTTLE_MILLISECONDS = 15 * 60_000;

/** Who tries to show a password or a code. `isKnownDevice`: attempts from elsewhere can't lock out an account that has logged in with this browser before. */
export type LoginTry = Readonly<{ request: Request; account: string; isKnownDevice: boolean }>;

/** Too many tries have failed or are under way. */
export type LoginWait = Readonly<{ waitSeconds: number }>;

/** Keeps passwords and codes from being tried out. */
export type LoginThrottle = Readonly<{
  /**
   * What the check says, or how long to wait until one is heard. A try counts before it is checked, so that of many at the same moment
   * no more are checked than may fail; one that did not fail is taken off again.
   */
  hear: <T>(tried: LoginTry, check: () => Promise<T>, hasFailed: (found: T) => boolean) => Promise<T | LoginWait>;
  /** How many logins to the account have failed since the last one that did not. */
  failures: (account: string) => Promise<number>;
  /** They count from none again. */
  succeeded: (account: string) => Promise<void>;
}>;

/** Over counts of 15 minutes: 10 failures per client address (IPv6: per /64), and 10 per account from browsers that are not known. */
export function openLoginThrottle(counts: Store, clock: Pick<Clock, 'now'>): LoginThrottle {
  const takeOff = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys) await counts.decrement(key);
  };
  return {
    hear: async (tried, check, hasFailed) => {
      const keys = keysOf(tried);
      const found: ClientRateLimitInfo[] = [];
      for (const key of keys) found.push(await counts.increment(key));
      const full = found.filter(({ totalHits }) => totalHits > FAILURES_MAX);
      if (full.length > 0) {
        await takeOff(keys);
        return { waitSeconds: secondsUntilOver(full, clock) };
      }
      let mayHaveFailed = false;
      try {
        const answer = await check();
        mayHaveFailed = hasFailed(answer);
        if (mayHaveFailed && isAdministratorName(tried.account)) await counts.increment(keyOfAccount(tried.account));
        return answer;
      } finally {
        // What could not be checked, as a store is away, tells nothing of a password.
        if (!mayHaveFailed) await takeOff(keys);
      }
    },
    failures: async (account) => (await counts.get?.(keyOfAccount(account)))?.totalHits ?? 0,
    succeeded: async (account) => {
      await counts.resetKey(keyOfAccount(account));
    },
  };
}

function secondsUntilOver(full: readonly ClientRateLimitInfo[], clock: Pick<Clock, 'now'>): number {
  const now = clock.now().epochMilliseconds;
  const left = full.map(({ resetTime }) => (resetTime?.getTime() ?? now + THROTTLE_MILLISECONDS) - now);
  return Math.max(1, Math.ceil(Math.min(Math.max(...left), THROTTLE_MILLISECONDS) / 1000));
}

/** A name that no account can have counts for its address alone: no key holds what a caller has typed. */
function keysOf({ request, account, isKnownDevice }: LoginTry): readonly string[] {
  const ofAddress = `login-address:${clientOf(request.ip)}`;
  const isOfStranger = !isKnownDevice && isAdministratorName(account);
  return isOfStranger ? [ofAddress, `login-stranger:${account}`] : [ofAddress];
}

function keyOfAccount(account: string): string {
  return `login-account:${account}`;
}
