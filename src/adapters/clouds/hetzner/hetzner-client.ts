import { z } from 'zod';
import { CloudFailure, type CloudFailureCode } from '../../../ports/clouds.ts';
import { type HttpAnswer, openHttpCalls } from '../driver-kit/http-call.ts';

/** The REST API of a project. */
export type HetznerClient = Readonly<{
  /** @throws HetznerRefusal; CloudFailure where there was no answer, or none that can be read */
  get: <T>(
    path: string,
    query: Readonly<Record<string, string | number>>,
    answer: z.ZodType<T>,
    signal: AbortSignal,
  ) => Promise<T>;
  post: <T>(path: string, body: object, answer: z.ZodType<T>, signal: AbortSignal) => Promise<T>;
  remove: <T>(path: string, answer: z.ZodType<T>, signal: AbortSignal) => Promise<T>;
  close: () => Promise<void>;
}>;

/** The provider said no. `code` is the one that all providers share, `hetznerCode` the provider's own. */
export class HetznerRefusal extends CloudFailure {
  readonly hetznerCode: string;
  constructor(code: CloudFailureCode, hetznerCode: string, message: string, retryAfterMilliseconds?: number) {
    super(code, message, retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds });
    this.hetznerCode = hetznerCode;
  }
}

type Account = Readonly<{
  configuration: Readonly<{ endpoint?: string | undefined }>;
  credentials: Readonly<{ api_token: string }>;
}>;

const ENDPOINT = 'https://api.hetzner.cloud/v1';
const MESSAGE_CHARACTERS_MAX = 300;

/** By the official client's list. What is not listed is uncertain where the status says that the provider itself failed, and refused otherwise. */
const CODES: Readonly<Record<string, CloudFailureCode>> = {
  resource_unavailable: 'no-capacity',
  placement_error: 'no-capacity',
  no_space_left_in_location: 'no-capacity',
  resource_limit_exceeded: 'quota-exceeded',
  rate_limit_exceeded: 'throttled',
  unauthorized: 'login-refused',
  forbidden: 'not-permitted',
  token_readonly: 'not-permitted',
  invalid_input: 'bad-specifications',
  invalid_server_type: 'bad-specifications',
  not_found: 'bad-specifications',
  deprecated_api_endpoint: 'bad-specifications',
  unsupported_error: 'bad-specifications',
  protected: 'end-refused',
  conflict: 'outcome-unknown',
  locked: 'outcome-unknown',
  bad_gateway: 'outcome-unknown',
  timeout: 'outcome-unknown',
  server_error: 'outcome-unknown',
  service_error: 'outcome-unknown',
  maintenance: 'outcome-unknown',
  unknown_error: 'outcome-unknown',
  // Its driver looks up whose server has the name.
  uniqueness_error: 'outcome-unknown',
};

const refusal = z.object({ error: z.object({ code: z.string(), message: z.string().default('') }) });

/** Opens a project; nothing is sent before the first call. A request is sent once: the driver says what may be asked again. */
export function openHetznerClient({ configuration, credentials }: Account): HetznerClient {
  const endpoint = (configuration.endpoint ?? ENDPOINT).replace(/\/$/, '');
  const token = credentials.api_token;
  const calls = openHttpCalls('Hetzner Cloud');
  const call = async <T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body: object | undefined,
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const sent =
      body === undefined
        ? { headers }
        : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await calls.call({ method, url: `${endpoint}${path}`, ...sent }, signal);
    const what = `Hetzner Cloud ${method} ${path.replace(/\?.*$/, '')}`;
    if (answer.status < 200 || answer.status >= 300) throw refusalOf(answer, what, token);
    const read = schema.safeParse(jsonOf(answer.text));
    if (read.success) return read.data;
    const fields = read.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw new CloudFailure('unreadable-answer', `${what}: the answer is not what was expected (${fields})`);
  };
  return {
    get: (path, query, answer, signal) => {
      const search = new URLSearchParams(
        Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
      );
      return call('GET', search.size === 0 ? path : `${path}?${search.toString()}`, undefined, answer, signal);
    },
    post: (path, body, answer, signal) => call('POST', path, body, answer, signal),
    remove: (path, answer, signal) => call('DELETE', path, undefined, answer, signal),
    close: calls.close,
  };
}

/** What a code of the provider's means here. */
export function failureCodeOf(code: string, status: number): CloudFailureCode {
  const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  return known ?? (status >= 500 ? 'outcome-unknown' : 'rejected');
}

function refusalOf({ status, headers, text }: HttpAnswer, what: string, token: string): CloudFailure {
  const read = refusal.safeParse(jsonOf(text));
  if (!read.success) {
    const kind = status >= 500 ? 'outcome-unknown' : 'unreadable-answer';
    return new CloudFailure(kind, `${what}: answer with status ${status} is not Hetzner's`);
  }
  const { code, message } = read.data.error;
  const ours = failureCodeOf(code, status);
  const shown = message.replaceAll(token, '…').slice(0, MESSAGE_CHARACTERS_MAX);
  return new HetznerRefusal(
    ours,
    code,
    `${what}: ${code}${shown === '' ? '' : `: ${shown}`}`,
    ours === 'throttled' ? untilReset(headers) : undefined,
  );
}

/** `RateLimit-Reset` is in epoch seconds; the provider's own `Date` says what it takes for now. */
function untilReset(headers: HttpAnswer['headers']): number | undefined {
  const reset = Number(headers['ratelimit-reset']);
  const now = typeof headers['date'] === 'string' ? Date.parse(headers['date']) : Number.NaN;
  return Number.isFinite(reset) && Number.isFinite(now) ? Math.max(0, reset * 1_000 - now) : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
