import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BadConfig, readConfig } from '../src/config.ts';

/** The message that these variables are refused with. */
function refusal(variables: Readonly<Record<string, string>>): string {
  try {
    readConfig(variables);
  } catch (error) {
    assert.instance(error, BadConfig);
    return error instanceof Error ? error.message : '';
  }
  throw new Error(`accepted: ${JSON.stringify(variables)}`);
}

test('without any variable the defaults hold', () => {
  assert.equal(readConfig({}), {
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    eventStoreUrl: 'sqlite:',
    eventStoreStreamPrefix: 'edgeward.',
    readModelUrl: 'sqlite:',
    schedulerIntervalMilliseconds: 60_000,
    quietPeriodMilliseconds: 120_000,
    quietPeriodMillisecondsMax: undefined,
    deployTimeoutMilliseconds: 30_000,
    regionConcurrency: 12,
    driftIntervalMilliseconds: 900_000,
    commitRetryDelaysMilliseconds: [60_000, 120_000, 300_000, 600_000, 900_000],
    synchronousTimeoutMilliseconds: 60_000,
    webhookRetries: 3,
    webhookRetryDelayMilliseconds: 30_000,
    webhookTimeoutMilliseconds: 10_000,
    webhookAllowPrivate: false,
    metricsPort: undefined,
    publicUrl: undefined,
    workerAllowLoopback: false,
    adminEnabled: true,
    adminPort: undefined,
    adminUrl: undefined,
    adminSecondFactor: 'optional',
    lookupUrl: undefined,
    routerFilesRoot: undefined,
    corsOrigins: [],
    trustProxy: false,
    logLevel: 'info',
  });
});

test('every variable is read', () => {
  const config = readConfig({
    HOST: '::1',
    PORT: '0',
    DATA_DIR: '/var/lib/edgeward',
    EVENT_STORE_URL: 'esdb://events.example:2113?tls=true',
    EVENT_STORE_STREAM_PREFIX: 'edge_2.',
    READ_MODEL_URL: 'mongodb://views.example/edgeward',
    SCHEDULER_INTERVAL: 'PT0.25S',
    QUIET_PERIOD: 'PT0S',
    QUIET_PERIOD_MAX: 'PT10M',
    DEPLOY_TIMEOUT: 'PT1M30S',
    REGION_CONCURRENCY: '3',
    DRIFT_INTERVAL: 'PT0S',
    COMMIT_RETRY_DELAYS: 'PT1S,P1D',
    SYNCHRONOUS_TIMEOUT: 'PT2H',
    WEBHOOK_RETRIES: '0',
    WEBHOOK_RETRY_DELAY: 'PT0S',
    WEBHOOK_TIMEOUT: 'PT0.5S',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    METRICS_PORT: '9464',
    PUBLIC_URL: 'https://edgeward.example.net',
    WORKER_ALLOW_LOOPBACK: 'true',
    ADMIN_ENABLED: 'false',
    ADMIN_PORT: '9465',
    ADMIN_URL: 'https://edgeward.example/',
    ADMIN_SECOND_FACTOR: 'required',
    LOOKUP_URL: 'https://registry.example/{cidr}',
    ROUTER_FILES_ROOT: '/srv/lists',
    CORS_ORIGINS: 'https://portal.example.com, http://localhost:8080',
    TRUST_PROXY: '2',
    LOG_LEVEL: 'debug',
  });
  assert.equal(config, {
    host: '::1',
    port: 0,
    dataDir: '/var/lib/edgeward',
    eventStoreUrl: 'esdb://events.example:2113?tls=true',
    eventStoreStreamPrefix: 'edge_2.',
    readModelUrl: 'mongodb://views.example/edgeward',
    schedulerIntervalMilliseconds: 250,
    quietPeriodMilliseconds: 0,
    quietPeriodMillisecondsMax: 600_000,
    deployTimeoutMilliseconds: 90_000,
    regionConcurrency: 3,
    driftIntervalMilliseconds: 0,
    commitRetryDelaysMilliseconds: [1_000, 86_400_000],
    synchronousTimeoutMilliseconds: 7_200_000,
    webhookRetries: 0,
    webhookRetryDelayMilliseconds: 0,
    webhookTimeoutMilliseconds: 500,
    webhookAllowPrivate: true,
    metricsPort: 9464,
    publicUrl: 'https://edgeward.example.net',
    workerAllowLoopback: true,
    adminEnabled: false,
    adminPort: 9465,
    adminUrl: 'https://edgeward.example',
    adminSecondFactor: 'required',
    lookupUrl: 'https://registry.example/{cidr}',
    routerFilesRoot: '/srv/lists',
    corsOrigins: ['https://portal.example.com', 'http://localhost:8080'],
    trustProxy: 2,
    logLevel: 'debug',
  });
});

test('an empty variable counts as absent', () => {
  assert.equal(
    readConfig({ PORT: '', HOST: '', QUIET_PERIOD: '', EVENT_STORE_URL: '', TRUST_PROXY: '' }),
    readConfig({}),
  );
});

test('the prefix of streams may be nothing, as it was in logs that were begun without one, and has up to 32 characters', () => {
  assert.is(readConfig({ EVENT_STORE_STREAM_PREFIX: '' }).eventStoreStreamPrefix, '');
  const longest = 'x'.repeat(32);
  assert.is(readConfig({ EVENT_STORE_STREAM_PREFIX: longest }).eventStoreStreamPrefix, longest);
});

test('variables that are not ours are left alone', () => {
  assert.equal(readConfig({ PATH: '/usr/bin', PORTS: 'x', host: 'lower case' }), readConfig({}));
});

test('the settings can not be changed afterwards', () => {
  assert.ok(Object.isFrozen(readConfig({})));
});

const BAD: Readonly<Record<string, readonly string[]>> = {
  ADMIN_URL: [
    'edgeward.example',
    'https://edgeward.example/admin',
    'ftp://edgeward.example',
    'https://a@edgeward.example',
  ],
  ADMIN_SECOND_FACTOR: ['true', 'Required'],
  LOOKUP_URL: ['registry.example/{cidr}', 'https://registry.example/', 'javascript:{cidr}'],
  PORT: ['-1', '65536', '80a', '0x50', '8080.5', ' 8080', '08080', 'http'],
  EVENT_STORE_STREAM_PREFIX: ['two words', 'with-dash.', '$system', '.dot', 'x'.repeat(33)],
  EVENT_STORE_URL: [
    'sqlite',
    'sqlite:other.db',
    'esdb:',
    'esdb://',
    'http://events.example',
    'mongodb://views.example',
  ],
  READ_MODEL_URL: ['sqlite', 'mongo://views.example', 'mongodb://', 'esdb://events.example'],
  SCHEDULER_INTERVAL: ['PT0S', '-PT1M', '60', '1m', 'P1M', 'P1W', 'P1Y', 'PT'],
  QUIET_PERIOD: ['-PT2M', '120', 'P1M', 'two minutes'],
  QUIET_PERIOD_MAX: ['-PT2M', '600', 'none'],
  DEPLOY_TIMEOUT: ['PT0S', '30s'],
  COMMIT_RETRY_DELAYS: ['PT0S', 'PT1M,', ',', 'PT1M;PT2M', 'PT1M,-PT2M', '1,2,5'],
  SYNCHRONOUS_TIMEOUT: ['PT0S', '60000'],
  WEBHOOK_RETRIES: ['-1', '101', '3.5', 'three'],
  WEBHOOK_RETRY_DELAY: ['-PT30S', '30'],
  WEBHOOK_TIMEOUT: ['PT0S', '10'],
  WEBHOOK_ALLOW_PRIVATE: ['yes', '1', 'TRUE', 'True'],
  TRUST_PROXY: ['yes', 'True', 'nginx', '10.0.0.0/33', '10.0.0.1,', '-1', '1.5', '10.0.0.256'],
  LOG_LEVEL: ['verbose', 'INFO', '30'],
};

for (const [variable, values] of Object.entries(BAD)) {
  test(`a bad ${variable} is refused, and named`, () => {
    for (const value of values) {
      const message = refusal({ [variable]: value });
      assert.match(message, variable, value);
      assert.is(message.split('; ').length, 1, `one problem: ${message}`);
    }
  });
}

test('all bad variables are named in one message, each with what would be right', () => {
  const message = refusal(Object.fromEntries(Object.entries(BAD).map(([variable, [value = '']]) => [variable, value])));
  for (const variable of Object.keys(BAD)) assert.match(message, variable);
  assert.is(message.split('; ').length, Object.keys(BAD).length);
  assert.match(message, 'PORT must be a whole number from 0 to 65535');
  assert.match(message, 'LOG_LEVEL must be one of');
  assert.match(message, 'EVENT_STORE_URL must be sqlite: or esdb://');
  assert.match(message, 'WEBHOOK_ALLOW_PRIVATE must be true or false');
});

test('what listens has a port of its own: two settings that name the same one are refused', () => {
  assert.is(
    refusal({ PORT: '8080', ADMIN_PORT: '9000', METRICS_PORT: '8080' }),
    'bad settings: METRICS_PORT must be another port than PORT',
  );
  const both = 'bad settings: ADMIN_PORT must be another port than PORT; METRICS_PORT must be another port than PORT';
  assert.is(refusal({ ADMIN_PORT: '8080', METRICS_PORT: '8080' }), both);
  readConfig({ PORT: '0', ADMIN_PORT: '0', METRICS_PORT: '0' });
  readConfig({ ADMIN_ENABLED: 'false', ADMIN_PORT: '8080' });
});

test('a refusal does not repeat what may be a secret', () => {
  const message = refusal({ EVENT_STORE_URL: 'esbd://admin:changeit@events.example' });
  assert.not.match(message, 'changeit');
});

test('the proxies that are trusted are true, false, a number of them, or their addresses', () => {
  assert.is(readConfig({ TRUST_PROXY: 'true' }).trustProxy, true);
  assert.is(readConfig({ TRUST_PROXY: 'false' }).trustProxy, false);
  assert.is(readConfig({ TRUST_PROXY: '1' }).trustProxy, 1);
  assert.is(readConfig({ TRUST_PROXY: 'loopback, 10.0.0.0/8' }).trustProxy, 'loopback, 10.0.0.0/8');
  assert.is(readConfig({ TRUST_PROXY: '192.0.2.1,2001:db8::/32' }).trustProxy, '192.0.2.1,2001:db8::/32');
});

test.run();
