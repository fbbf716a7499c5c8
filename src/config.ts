import { Temporal } from '@js-temporal/polyfill';
import { z } from 'zod';

/** An ISO 8601 duration (`PT2M`), at least zero, in milliseconds. Years, months and weeks have no fixed length: none. */
function millisecondsOf(text: string): number | undefined {
  try {
    const parsed = Temporal.Duration.from(text);
    const isFixed = parsed.years === 0 && parsed.months === 0 && parsed.weeks === 0 && parsed.sign >= 0;
    return isFixed ? parsed.total('milliseconds') : undefined;
  } catch {
    return undefined;
  }
}

const duration = z.string().transform((text, context): number => {
  const milliseconds = millisecondsOf(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: 'custom', message: 'must be an ISO 8601 duration such as PT2M' });
  return z.NEVER;
});

const positiveDuration = duration.refine((milliseconds) => milliseconds > 0, 'must be longer than zero');

/** Comma-separated durations, longer than zero. One message for all of them: the variable is what its reader knows. */
const durations = z.string().transform((text, context): readonly number[] => {
  const all = text.split(',').map((part) => millisecondsOf(part) ?? 0);
  if (all.every((milliseconds) => milliseconds > 0)) return all;
  context.addIssue({ code: 'custom', message: 'must be ISO 8601 durations, separated by commas, such as PT1M,PT5M' });
  return z.NEVER;
});

const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^(0|[1-9]\d*)$/, `must be a whole number from 0 to ${max}`)
    .transform(Number)
    .refine((number) => number <= max, `must be a whole number from 0 to ${max}`);

const eventStoreUrl = z
  .string()
  .regex(/^(sqlite:|(esdb|kurrentdb)(\+discover)?:\/\/.+)$/, 'must be sqlite: or esdb://… or kurrentdb://…');
const readModelUrl = z
  .string()
  .regex(/^(sqlite:|mongodb(\+srv)?:\/\/.+)$/, 'must be sqlite: or mongodb://… or mongodb+srv://…');

const proxyAddress = z.union([
  z.enum(['loopback', 'linklocal', 'uniquelocal']),
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.cidrv6(),
]);

/** Express's `trust proxy`: true, false, a number of hops, or a list of addresses and subnets. */
const trustProxy = z.string().transform((text, context): boolean | number | string => {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^\d{1,3}$/.test(text)) return Number(text);
  if (text.split(',').every((part) => proxyAddress.safeParse(part.trim()).success)) return text;
  const message = 'must be true, false, a number of proxies, or their addresses and CIDRs, separated by commas';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(65_535).prefault('8080'),
  DATA_DIR: z.string().min(1).default('./data'),
  EVENT_STORE_URL: eventStoreUrl.default('sqlite:'),
  READ_MODEL_URL: readModelUrl.default('sqlite:'),
  SCHEDULER_INTERVAL: positiveDuration.prefault('PT1M'),
  QUIET_PERIOD: duration.prefault('PT2M'),
  QUIET_PERIOD_MAX: duration.optional(),
  DEPLOY_TIMEOUT: positiveDuration.prefault('PT30S'),
  REGION_CONCURRENCY: wholeNumber(1000)
    .refine((number) => number > 0, 'must be a whole number from 1 to 1000')
    .prefault('12'),
  DRIFT_INTERVAL: duration.prefault('PT15M'),
  COMMIT_RETRY_DELAYS: durations.prefault('PT1M,PT2M,PT5M,PT10M,PT15M'),
  SYNCHRONOUS_TIMEOUT: positiveDuration.prefault('PT60S'),
  WEBHOOK_RETRIES: wholeNumber(100).prefault('3'),
  WEBHOOK_RETRY_DELAY: duration.prefault('PT30S'),
  WEBHOOK_TIMEOUT: positiveDuration.prefault('PT10S'),
  WEBHOOK_ALLOW_PRIVATE: flag.prefault('false'),
  METRICS_PORT: wholeNumber(65_535).optional(),
  TRUST_PROXY: trustProxy.prefault('false'),
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
});

/** The settings, checked; every duration in milliseconds. */
export type Config = Readonly<{
  host: string;
  port: number;
  dataDir: string;
  eventStoreUrl: string;
  readModelUrl: string;
  schedulerIntervalMilliseconds: number;
  quietPeriodMilliseconds: number;
  /** The oldest waiting change waits no longer than this for its customer to be quiet; without it, as long as that takes. */
  quietPeriodMillisecondsMax: number | undefined;
  deployTimeoutMilliseconds: number;
  /** Deployments at the same moment in one region. */
  regionConcurrency: number;
  /** Between two looks at all routers; zero: nobody looks. */
  driftIntervalMilliseconds: number;
  /** After the first failed try, the second, …; the last one repeats. */
  commitRetryMilliseconds: readonly number[];
  synchronousTimeoutMilliseconds: number;
  webhookRetries: number;
  webhookRetryDelayMilliseconds: number;
  webhookTimeoutMilliseconds: number;
  webhookAllowPrivate: boolean;
  /** Where `/metrics` is served, on the same host; without one, nowhere. */
  metricsPort: number | undefined;
  trustProxy: boolean | number | string;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}>;

/** The settings are wrong: one message that names every bad variable. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
}

/** Reads the settings from environment variables; an empty variable counts as absent. @throws BadConfig */
export function readConfig(variables: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new BadConfig(`bad settings: ${problems.join('; ')}`);
  }
  const value = parsed.data;
  return Object.freeze({
    host: value.HOST,
    port: value.PORT,
    dataDir: value.DATA_DIR,
    eventStoreUrl: value.EVENT_STORE_URL,
    readModelUrl: value.READ_MODEL_URL,
    schedulerIntervalMilliseconds: value.SCHEDULER_INTERVAL,
    quietPeriodMilliseconds: value.QUIET_PERIOD,
    quietPeriodMillisecondsMax: value.QUIET_PERIOD_MAX,
    deployTimeoutMilliseconds: value.DEPLOY_TIMEOUT,
    regionConcurrency: value.REGION_CONCURRENCY,
    driftIntervalMilliseconds: value.DRIFT_INTERVAL,
    commitRetryMilliseconds: value.COMMIT_RETRY_DELAYS,
    synchronousTimeoutMilliseconds: value.SYNCHRONOUS_TIMEOUT,
    webhookRetries: value.WEBHOOK_RETRIES,
    webhookRetryDelayMilliseconds: value.WEBHOOK_RETRY_DELAY,
    webhookTimeoutMilliseconds: value.WEBHOOK_TIMEOUT,
    webhookAllowPrivate: value.WEBHOOK_ALLOW_PRIVATE,
    metricsPort: value.METRICS_PORT,
    trustProxy: value.TRUST_PROXY,
    logLevel: value.LOG_LEVEL,
  });
}
