import { errors } from 'undici';
import { SemaphoreFull } from '../../concurrency/semaphore.ts';
import { AddressRefused } from './guarded-connector.ts';

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ECONNABORTED: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection closed without an answer',
  ETIMEDOUT: 'no connection: the receiver does not respond',
  EHOSTUNREACH: 'no route to the receiver',
  ENETUNREACH: 'no route to the receiver',
  EADDRNOTAVAIL: 'no route to the receiver',
  EMFILE: 'too many open files on this server',
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name has no address',
  EBADNAME: 'host name is not valid',
  ESERVFAIL: 'host name could not be resolved',
  EREFUSED: 'host name could not be resolved',
  ETIMEOUT: 'host name could not be resolved',
  EAI_AGAIN: 'host name could not be resolved',
  EAI_FAIL: 'host name could not be resolved',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host name',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate is not trusted',
  INVALID_CA: 'certificate is not trusted',
  EPROTO: 'TLS handshake failed',
  UND_ERR_HEADERS_OVERFLOW: 'answer has too large headers',
  UND_ERR_INVALID_ARG: 'message id or path can not be sent',
};

const BY_PREFIX: readonly (readonly [prefix: string, because: string])[] = [
  ['CERT_', 'certificate is not trusted'],
  ['UNABLE_TO_', 'certificate is not trusted'],
  ['ERR_SSL_', 'TLS handshake failed'],
  ['ERR_TLS_', 'TLS handshake failed'],
];

/** Why a delivery failed, in our words: nothing of what the receiver sent. `undefined` for what is no trouble of the network but a bug. */
export function failureText(failure: unknown): string | undefined {
  if (failure instanceof AddressRefused) return failure.message;
  if (failure instanceof SemaphoreFull) return 'too many deliveries are waiting for this receiver';
  if (failure instanceof errors.HTTPParserError) return 'answer is not HTTP';
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  if (typeof code === 'string') return textOfCode(code);
  const isBug = !(failure instanceof Error) || failure instanceof TypeError || failure instanceof RangeError;
  return isBug ? undefined : 'connection failed';
}

function textOfCode(code: string): string {
  return BY_CODE[code] ?? BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? `connection failed (${code})`;
}

/** Why an answer is no delivery, or `undefined` when it is one (2xx). */
export function statusFailure(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  return status >= 300 && status < 400 ? `redirects are not followed (${status})` : `answered ${status}`;
}

/** A duration as an operator reads it: `10 s`, `1.5 s`, `250 ms`. */
export function durationText(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}
