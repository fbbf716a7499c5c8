import { Metadata, type ServiceError, status } from '@grpc/grpc-js';

/** The errors of a call, with the trailers from which the client makes its own errors. */
export function notLeader(host: string, port: number): ServiceError {
  return refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
}

export function accessDenied(): ServiceError {
  return refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
}

export function unauthenticated(): ServiceError {
  return refusal(status.UNAUTHENTICATED, 'Unauthenticated', {});
}

export function notReady(): ServiceError {
  return refusal(status.UNAVAILABLE, 'Server Is Not Ready', {});
}

/** A place of `$all` at which no record begins. */
export function invalidPosition(): ServiceError {
  return refusal(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.', {});
}

export function commitTimeout(): ServiceError {
  return refusal(status.ABORTED, 'Commit phase timeout', {});
}

export function maximumAppendSizeExceeded(limit: number): ServiceError {
  return refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
}

function refusal(code: status, details: string, trailers: Readonly<Record<string, string>>): ServiceError {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
  return Object.assign(new Error(details), { code, details, metadata });
}
