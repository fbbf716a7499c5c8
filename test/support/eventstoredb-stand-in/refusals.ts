import { Metadata, type ServiceError, status } from '@grpc/grpc-js';

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
