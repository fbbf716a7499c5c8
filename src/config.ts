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

/** No dash: EventStoreDB's own projections take what is before the first one for the category. */
const streamPrefix = z
  .string()
  .regex(
    /^([A-Za-z0-9_][A-Za-z0-9_.]{0,31})?$/,
    'must be at most 32 letters, digits, dots and underscores, or nothing',
  );

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

/** A scheme and a host, as browsers send an origin: `https://edgeward.example`. */
const origin = z.string().transform((text, context): string => {
  const url = /^https?:\/\/[^/?#@]+\/?$/.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined) return url.origin;
  context.addIssue({ code: 'custom', message: 'must be a scheme and a host, such as https://edgeward.example' });
  return z.NEVER;
});

/** Origins as browsers send them: scheme, host, and port where it is not the scheme's own. */
const origins = z.string().transform((text, context): readonly string[] => {
  const all = text.split(',').map((part) => part.trim());
  if (text === '') return [];
  if (all.every((one) => /^https?:/.test(one) && URL.canParse(one) && new URL(one).origin === one)) return all;
  const message = 'must be origins such as https://portal.example.com, separated by commas';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** A page that tells whose a block is: `https://registry.example/{cidr}`. */
const lookupUrl = z
  .string()
  .refine((text) => /^https?:\/\//.test(text) && text.includes('{cidr}') && URL.canParse(text), {
    error: 'must be an http or https URL with {cidr} in it, such as https://registry.example/{cidr}',
  });

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(65_535).prefault('8080'),
  DATA_DIR: z.string().min(1).default('./data'),
  EVENT_STORE_URL: eventStoreUrl.default('sqlite:'),
  EVENT_STORE_STREAM_PREFIX: streamPrefix.default('edgeward.'),
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
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  WORKER_ALLOW_LOOPBACK: flag.prefault('false'),
  ADMIN_ENABLED: flag.prefault('true'),
  ADMIN_PORT: wholeNumber(65_535).optional(),
  ADMIN_URL: origin.optional(),
  ADMIN_SECOND_FACTOR: z.enum(['optional', 'required'], { error: 'must be optional or required' }).default('optional'),
  LOOKUP_URL: lookupUrl.optional(),
  ROUTER_FILES_ROOT: z
    .string()
    .regex(/^\/[^\0\n]+$/, 'must be the absolute path of a folder')
    .optional(),
  CORS_ORIGINS: origins.prefault(''),
  TRUST_PROXY: trustProxy.prefault('false'),
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
});

const PORTS = ['PORT', 'ADMIN_PORT', 'METRICS_PORT'] as const;

/** Each is a port of its own; 0 is any that is free. The pages have one only where they are served. */
const settings = environment.superRefine((value, context) => {
  const used = PORTS.filter((name) => name !== 'ADMIN_PORT' || value.ADMIN_ENABLED).filter((name) => value[name]);
  for (const [at, name] of used.entries()) {
    const other = used.slice(0, at).find((before) => value[before] === value[name]);
    if (other === undefined) continue;
    context.addIssue({ code: 'custom', path: [name], message: `must be another port than ${other}` });
  }
});

/** The settings, checked; every duration in milliseconds. */
export type Config = Readonly<{
  host: string;
  port: number;
  dataDir: string;
  eventStoreUrl: string;
  /** Before the names of our streams in an EventStoreDB; may be empty. */
  eventStoreStreamPrefix: string;
  readModelUrl: string;
  schedulerIntervalMilliseconds: number;
  quietPeriodMilliseconds: number;
  /** The oldest waiting change waits no longer than this for its customer to be quiet; without it, as long as that takes. */
  quietPeriodMillisecondsMax: number | undefined;
  deployTimeoutMilliseconds: number;
  /** Deployments at the same moment in one region. */
  regionConcurrency: number;
  /** Between two looks at all routers; zero: they are never looked at. */
  driftIntervalMilliseconds: number;
  /** After the first failed try, the second, …; the last one repeats. */
  commitRetryDelaysMilliseconds: readonly number[];
  synchronousTimeoutMilliseconds: number;
  webhookRetries: number;
  webhookRetryDelayMilliseconds: number;
  webhookTimeoutMilliseconds: number;
  webhookAllowPrivate: boolean;
  /** Where `/metrics` is served, on the same host; without one, nowhere. */
  metricsPort: number | undefined;
  /** Where workers find the service; without one no instance is launched. */
  publicUrl: string | undefined;
  /** Workers may be told a loopback address: for tests on one machine. */
  workerAllowLoopback: boolean;
  /** Whether the pages and the API for administrators are served. */
  adminEnabled: boolean;
  /** Where they are served, on the same host; without one, beside the customer API. */
  adminPort: number | undefined;
  /** The origin of the pages, where it is not what requests name as their host. */
  adminUrl: string | undefined;
  adminSecondFactor: 'optional' | 'required';
  lookupUrl: string | undefined;
  /** Routers that are folders may be added over HTTP below this one; without it, by the command line alone. */
  routerFilesRoot: string | undefined;
  /** Of pages that browsers may call the customers' API from. */
  corsOrigins: readonly string[];
  trustProxy: boolean | number | string;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}>;

/** The settings are wrong: one message that names every bad variable. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
}

/** Where nothing is a value of its own. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['EVENT_STORE_STREAM_PREFIX']);

/** Reads the settings from environment variables; an empty variable counts as absent, but for the prefix. @throws BadConfig */
export function readConfig(variables: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(
    Object.entries(variables).filter(
      ([name, value]) => value !== undefined && (value !== '' || MAY_BE_EMPTY.has(name)),
    ),
  );
  const parsed = settings.safeParse(given);
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
    eventStoreStreamPrefix: value.EVENT_STORE_STREAM_PREFIX,
    readModelUrl: value.READ_MODEL_URL,
    schedulerIntervalMilliseconds: value.SCHEDULER_INTERVAL,
    quietPeriodMilliseconds: value.QUIET_PERIOD,
    quietPeriodMillisecondsMax: value.QUIET_PERIOD_MAX,
    deployTimeoutMilliseconds: value.DEPLOY_TIMEOUT,
    regionConcurrency: value.REGION_CONCURRENCY,
    driftIntervalMilliseconds: value.DRIFT_INTERVAL,
    commitRetryDelaysMilliseconds: value.COMMIT_RETRY_DELAYS,
    synchronousTimeoutMilliseconds: value.SYNCHRONOUS_TIMEOUT,
    webhookRetries: value.WEBHOOK_RETRIES,
    webhookRetryDelayMilliseconds: value.WEBHOOK_RETRY_DELAY,
    webhookTimeoutMilliseconds: value.WEBHOOK_TIMEOUT,
    webhookAllowPrivate: value.WEBHOOK_ALLOW_PRIVATE,
    metricsPort: value.METRICS_PORT,
    publicUrl: value.PUBLIC_URL,
    workerAllowLoopback: value.WORKER_ALLOW_LOOPBACK,
    adminEnabled: value.ADMIN_ENABLED,
    adminPort: value.ADMIN_PORT,
    adminUrl: value.ADMIN_URL,
    adminSecondFactor: value.ADMIN_SECOND_FACTOR,
    lookupUrl: value.LOOKUP_URL,
    routerFilesRoot: value.ROUTER_FILES_ROOT,
    corsOrigins: value.CORS_ORIGINS,
    trustProxy: value.TRUST_PROXY,
    logLevel: value.LOG_LEVEL,
  });
}
