import {
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { StoreUnavailable } from '../../ports/event-store.ts';

const DUPLICATE_KEY = 11_000;
const UNAUTHORIZED = 13;
/** A refused login: of the server itself, and of those that are hosted. */
const LOGIN_REFUSED: ReadonlySet<unknown> = new Set([18, 8_000]);

/**
 * Codes of a server that is starting, stopping, without a leader, or too busy: not writable primary, primary stepped down,
 * shutdown, interrupted, host not found, time limit exceeded, exceeded time limit, write concern that could not be met.
 */
const PASSING: ReadonlySet<unknown> = new Set([
  6, 7, 50, 64, 75, 79, 89, 91, 100, 112, 134, 189, 202, 262, 9_001, 10_058, 10_107, 11_600, 11_602, 13_388, 13_435,
  13_436,
]);

/** Where a large message breaks off, the driver gives the socket's own error. */
const SOCKET_FAILURES: ReadonlySet<unknown> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_DESTROYED',
]);

/** Another process made a document of this id. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

export function isLoginRefused(error: unknown): boolean {
  return error instanceof MongoServerError && LOGIN_REFUSED.has(error.code);
}

export function isNotPermitted(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === UNAUTHORIZED;
}

/** A store that is away, as the ports say it; anything else as it is. */
export function failureOf(error: unknown): unknown {
  if (!isAway(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`MongoDB can't be used: ${reason}`, { cause: error });
}

function isAway(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && SOCKET_FAILURES.has(error.code)) return true;
  if (!(error instanceof MongoError)) return false;
  if (error.hasErrorLabel('RetryableWriteError') || error.hasErrorLabel('RetryableError')) return true;
  if (error instanceof MongoWriteConcernError) return true;
  if (error instanceof MongoServerError) return PASSING.has(error.code);
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoOperationTimeoutError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    error.name === 'MongoPoolClearedError' ||
    error.name === 'MongoClientClosedError'
  );
}
