import { createHmac } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { WebhookRequest, WebhookResult, WebhookSender } from '../../ports/webhooks.ts';
import { refuseUnlessPublic } from './address-guard.ts';
import { type Connections, createConnections } from './connections.ts';
import { durationText, failureText, statusFailure } from './failure-text.ts';
import { type Connector, createGuardedConnector } from './guarded-connector.ts';
import { type ResolveName, resolveThroughDns, resolveThroughSystem } from './name-resolution.ts';
import { post, type Post } from './post.ts';
import { createTimeLimits, TimedOut, type TimeLimit } from './time-limit.ts';

export type WebhookSenderOptions = Readonly<{
  clock: Clock;
  /** Bound on one delivery: connecting, and the whole answer. Waiting for others to the same receiver is not the receiver's fault, and does not count. */
  timeoutMilliseconds: number;
  /** Turns the address guard off: for tests, demos, and networks whose receivers are their own. */
  allowPrivate: boolean;
  /** Connections to one origin at a time (default 64). */
  connectionsPerOrigin?: number;
  /** Connections at a time in all (default 2,048): a file descriptor each, and with TLS some 60 kB. */
  connections?: number;
  /** How many may wait for a connection to one origin (default 16,384). */
  waitingPerOrigin?: number;
  /** How names become addresses (default: the DNS; without the guard: the operating system). */
  resolve?: ResolveName;
  /** PEM certificates that https receivers are checked against (default: the roots that Node ships). */
  authorities?: readonly string[];
}>;

/** The sender was closed while, or before, something was sent. */
export class WebhookSenderClosed extends Error {
  override readonly name = 'WebhookSenderClosed';
}

type Prepared = Readonly<{ origin: string; messageNow: () => Post }>;

const ANSWER_BYTES = 64 * 1024;
const PER_ORIGIN = 64;
const TOTAL = 2_048;
/** A request of a few hundred bytes each. */
const WAITING = 16_384;

/**
 * Sends webhooks signed after Standard Webhooks over keep-alive connections whose addresses were checked as they were made.
 * `send` rejects only with its signal's reason, or WebhookSenderClosed; a 2xx that arrived in time is delivered even when the
 * rest of the answer is not read.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const connections = createConnections(connectorOf(options), {
    perOrigin: options.connectionsPerOrigin ?? PER_ORIGIN,
    total: options.connections ?? TOTAL,
    waitingPerOrigin: options.waitingPerOrigin ?? WAITING,
    waiting: WAITING,
  });
  const limits = createTimeLimits(options.clock, options.timeoutMilliseconds);
  let closed = false;

  return {
    send: async (request, signal) => {
      if (closed) throw new WebhookSenderClosed('the webhook sender is closed');
      signal.throwIfAborted();
      const prepared = prepare(request);
      if ('because' in prepared) return { delivered: false, because: prepared.because };
      const limit = limits.start(signal);
      try {
        return await deliver(connections, prepared, limit, () => limits.begin(limit));
      } catch (error) {
        return resultOf(error, limit, options.timeoutMilliseconds);
      } finally {
        limits.end(limit);
      }
    },
    close: async () => {
      closed = true;
      limits.close(new WebhookSenderClosed('the webhook sender was closed'));
      await connections.close();
    },
  };
}

/** The limit's time, and that of the signature, begin when a connection is free. */
async function deliver(
  connections: Connections,
  { origin, messageNow }: Prepared,
  limit: TimeLimit,
  begin: () => void,
): Promise<WebhookResult> {
  const acquired = connections.acquire(origin, limit);
  const connection = acquired instanceof Promise ? await acquired : acquired;
  let reusable = false;
  try {
    begin();
    const { status, complete } = await post(connection.client, messageNow(), ANSWER_BYTES, limit);
    reusable = complete;
    const because = statusFailure(status);
    return because === undefined ? { delivered: true, status } : { delivered: false, because, status };
  } finally {
    connections.release(connection, reusable);
  }
}

/** What a failure means to the caller. @throws what is no failure of the receiver or the network */
function resultOf(failure: unknown, { stopped }: TimeLimit, timeoutMilliseconds: number): WebhookResult {
  if (stopped?.reason instanceof TimedOut) {
    return { delivered: false, because: `timed out after ${durationText(timeoutMilliseconds)}` };
  }
  if (stopped !== undefined) throw stopped.reason;
  const because = failureText(failure);
  if (because === undefined) throw failure;
  return { delivered: false, because };
}

function prepare(request: WebhookRequest): Prepared | Readonly<{ because: string }> {
  const url = parseUrl(request.url);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return { because: 'the webhook URL is not an http: or https: URL' };
  }
  if (url.username !== '' || url.password !== '') return { because: 'the webhook URL holds credentials' };
  const keys = [request.secret, ...(request.earlierSecrets ?? [])].map(signingKey);
  if (!keys.every((key) => key !== undefined))
    return { because: 'the signing secret is not whsec_ and the base64 of 24 to 64 bytes' };
  const body = Buffer.from(request.body);
  const messageNow = (): Post => {
    const timestampSeconds = request.timestampSeconds();
    const headers = [
      'content-type',
      'application/json',
      'user-agent',
      'edgeward',
      'webhook-id',
      request.messageId,
      'webhook-timestamp',
      String(timestampSeconds),
      'webhook-signature',
      signaturesOf(keys, request.messageId, timestampSeconds, body),
    ];
    return { path: url.pathname + url.search, headers, body };
  };
  return { origin: url.origin, messageNow };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function connectorOf(options: WebhookSenderOptions): Connector {
  const attemptMilliseconds = Math.max(10, Math.min(2000, Math.floor(options.timeoutMilliseconds / 4)));
  const byDefault = options.allowPrivate
    ? resolveThroughSystem
    : resolveThroughDns({ timeoutMilliseconds: attemptMilliseconds });
  return createGuardedConnector({
    resolve: options.resolve ?? byDefault,
    attemptMilliseconds,
    ...(options.allowPrivate ? {} : { refuse: refuseUnlessPublic }),
    ...(options.authorities === undefined ? {} : { authorities: options.authorities }),
  });
}

/** The key of a `whsec_` secret (Standard Webhooks: base64 of 24 to 64 bytes), or `undefined` when it is not one. */
export function signingKey(secret: string): Buffer | undefined {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (encoded === undefined) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** The `webhook-signature` of a message that several keys sign: a receiver needs to know one of them. */
function signaturesOf(keys: readonly Buffer[], messageId: string, timestampSeconds: number, body: Buffer): string {
  return keys.map((key) => signatureOf(key, messageId, timestampSeconds, body)).join(' ');
}

/**
 * The `webhook-signature` of a message after Standard Webhooks: `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`.
 * Node's own HMAC, because the reference library's JavaScript one takes three times as long; tests verify with that library.
 */
export function signatureOf(key: Buffer, messageId: string, timestampSeconds: number, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${messageId}.${timestampSeconds}.`).update(body).digest('base64')}`;
}
