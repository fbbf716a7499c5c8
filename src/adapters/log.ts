import { type DestinationStream, type Logger, pino } from 'pino';
import { build as prettyStream } from 'pino-pretty';
import type { Log } from '../ports/log.ts';
import { systemClock } from './clock.ts';
import { withoutPasswords } from './without-passwords.ts';

/** Fields that are never printed, whatever holds them: the last line of defence, since no code should hand a secret to a log. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'token',
  'apitoken',
  'secret',
  'webhooksecret',
  'password',
  'passphrase',
  'privatekey',
  'credentials',
]);

const LINES_TOGETHER_BYTES = 15 * 1024;
const FLUSH_MILLISECONDS = 200;

/** How deep below a line's fields a secret is looked for. */
const DEPTH_MAX = 6;

export type LogOptions = Readonly<{
  level: string;
  /** Where lines go: pretty when it is a terminal, JSON otherwise. A function gets each line as JSON. Default: standard output. */
  destination?: 'stdout' | 'stderr' | ((line: string) => void);
}>;

/** Opens the log: one line a message. An `error` field is written with its stack and causes. */
export function createLog({ level, destination = 'stdout' }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      // What pino's own says, and many times cheaper: the clock renders each second once.
      timestamp: () => `,"time":"${systemClock.nowText().replace('+00:00', 'Z')}"`,
      // In place of pino's own redaction, which looks up each path in each line: 90 µs a line with these fields.
      formatters: { level: (label) => ({ level: label }), log: redacted },
      serializers: { error: shownError },
    },
    streamTo(destination),
  );
  return logOf(logger);
}

function streamTo(destination: NonNullable<LogOptions['destination']>): DestinationStream {
  if (typeof destination === 'function') return { write: destination };
  const { fd, isTTY } = process[destination];
  if (isTTY) return prettyStream({ destination: pino.destination(fd), translateTime: 'SYS:HH:MM:ss.l' });
  // One write for many lines, none of them late by more than a moment; the rest is written at exit.
  return pino.destination({ fd, sync: false, minLength: LINES_TOGETHER_BYTES, periodicFlush: FLUSH_MILLISECONDS });
}

function logOf(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    // The fields of a child are rendered once, past the formatter.
    child: (fields) => logOf(logger.child(redacted(fields))),
  };
}

/** What a library says of a connection string that it could not read may hold the string. */
function shownError(error: unknown): unknown {
  // Why an answer is a failure may be said in words alone.
  if (!(error instanceof Error)) return typeof error === 'string' ? withoutPasswords(error) : error;
  const shownAsFields: object = pino.stdSerializers.err(error);
  return Object.fromEntries(
    Object.entries(shownAsFields).map(([name, value]) => [
      name,
      typeof value === 'string' ? withoutPasswords(value) : value,
    ]),
  );
}

/** The fields without their secrets. */
function redacted(fields: object): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...fields };
  for (const name in copy) {
    // Most fields are texts and numbers that hide nothing: they stay as they are.
    if (isObject(copy[name]) || isSecret(name)) copy[name] = shown(name, copy[name], DEPTH_MAX);
  }
  return copy;
}

function shown(name: string, value: unknown, depth: number): unknown {
  if (isSecret(name)) return '[redacted]';
  if (!isObject(value) || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => shown('', item, depth - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shown(key, field, depth - 1)]));
}

function isSecret(name: string): boolean {
  return SECRET_FIELDS.has(name) || SECRET_FIELDS.has(name.toLowerCase());
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
