/**
 * One connection to one router. Lists are given and taken as canonical CIDR text, IPv4 first, then IPv6, numeric order;
 * a host is written with its length (`192.0.2.7/32`). Only lists with our prefix (`Svc-`) are ever touched.
 */
export type RouterDriver = Readonly<{
  /** What the router holds under this name, from the part of it that uses the list. */
  read: (list: string, signal: AbortSignal) => Promise<readonly string[] | 'absent'>;
  /**
   * Makes the list hold exactly `prefixes`, by the smallest change in one step; empty has the dialect's safe meaning (matches nothing).
   * Resolving is no proof: the caller reads back. @throws RouterFailure
   */
  replace: (list: string, prefixes: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Reachable, logged in, and allowed to write; changes nothing. @throws RouterFailure */
  check: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
}>;

/** Why a router did not do it. `outcome-unknown`: the change was sent and no answer came; only reading back decides. */
export type RouterFailureCode =
  | 'bad-option'
  | 'unreachable'
  | 'host-key-mismatch'
  | 'login-refused'
  | 'not-permitted'
  | 'locked'
  | 'rejected'
  | 'too-large'
  | 'timed-out'
  | 'outcome-unknown'
  | 'unreadable-answer';

/** A router said no, or said nothing. The message is for an operator and holds no secret. */
export class RouterFailure extends Error {
  override readonly name = 'RouterFailure';
  readonly code: RouterFailureCode;
  constructor(code: RouterFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A router as it is configured: which driver, and that driver's own options (validated by the driver). */
export type RouterSettings = Readonly<{ name: string; driver: string; options: Readonly<Record<string, string>> }>;

/** Opens a driver for a router, or throws RouterFailure `bad-option` with a message that names the option and what would be right. */
export type OpenRouter = (router: RouterSettings) => RouterDriver;
