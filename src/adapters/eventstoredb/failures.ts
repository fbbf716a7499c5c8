import { convertToCommandError, isCommandError } from '@eventstore/db-client';
import { StoreUnavailable } from '../../ports/event-store.ts';

/** A call that did not come to its end: it can be made again, perhaps to another node. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** The login was refused: another try is no better. */
  readonly denied: boolean;
  /** What was asked was certainly not done: it was never sent, or the server has said so. */
  readonly isUndone: boolean;
  constructor(message: string, denied: boolean, options: ErrorOptions & Readonly<{ isUndone?: boolean }> = {}) {
    super(message, options);
    this.denied = denied;
    this.isUndone = denied || (options.isUndone ?? false);
  }
}

/** Nothing has come for so long, though the call stands. */
export class SilentCall extends CallFailed {
  constructor(milliseconds: number) {
    super(`no answer for ${milliseconds} ms`, false);
  }
}

/** The server begins to read where a record begins, and nowhere else: there is none at the place that was asked for. */
export class NoSuchPlace extends Error {
  override readonly name = 'NoSuchPlace';
}

const INVALID_PLACE = /invalid position/i;

/** As the channel says it when there was no connection at all, and a server that is starting, or whose cluster has no leader. */
const NEVER_SENT = /No connection established|Name resolution failed|Server Is Not Ready/;

const DENIED: ReadonlySet<string> = new Set(['access-denied']);
const PASSING: ReadonlySet<string> = new Set([
  'timeout',
  'deadline-exceeded',
  'unavailable',
  'cancelled',
  'not-leader',
  'not-found',
  'unknown',
]);

/** Sorts what a call rejected with: CallFailed for what may pass or needs the operator, anything else as it is. */
export function failureOf(error: unknown): Error {
  if (error instanceof CallFailed) return error;
  if (!(error instanceof Error)) return new CallFailed(String(error), false);
  const converted = convertToCommandError(error);
  // Discovery fails with plain errors.
  if (!isCommandError(converted)) return new CallFailed(converted.message, false, { cause: error });
  const message = converted.message || converted.type;
  if (DENIED.has(converted.type))
    return new CallFailed(`login refused, or not permitted: ${message}`, true, { cause: error });
  if (INVALID_PLACE.test(message)) return new NoSuchPlace(message, { cause: error });
  const isUndone = NEVER_SENT.test(message);
  return PASSING.has(converted.type) ? new CallFailed(message, false, { cause: error, isUndone }) : converted;
}

/** What a caller of the port gets when its patience is over. */
export function unavailable(name: string, cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailable(`EventStoreDB at ${name} can't be used: ${reason}`, { cause });
}
