import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { startHetznerFake } from '../../support/clouds/hetzner-fake.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { undated } from '../../support/undated.ts';

const edgeward = await openEdgeward({ PUBLIC_URL: 'https://edgeward.example.net' });
test.after(() => edgeward.remove());

function file(name: string, content: unknown): string {
  const path = join(edgeward.folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function succeeds(...args: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await edgeward.command(...args);
  assert.is(exitCode, 0, `${args.join(' ')}: ${err}`);
  return out;
}

async function fails(exitCode: number, message: string | RegExp, ...args: readonly string[]): Promise<void> {
  const outcome = await edgeward.command(...args);
  assert.is(outcome.exitCode, exitCode, `${args.join(' ')}: ${outcome.out}${outcome.err}`);
  assert.is(outcome.out, '');
  if (typeof message === 'string') assert.is(outcome.err, `edgeward: ${message}\n`);
  else assert.match(outcome.err, message);
}

const account = file(
  'account.yaml',
  'name: hcloud\nprovider_type: hetzner\nconfiguration:\n  server_url: https://edgeward.example.com\ncredentials:\n  api_token: hunter2\n',
);
const specifications = file(
  'specifications.yaml',
  'provider_type: hetzner\nserver_type: cx32\nimage_name: debian-13\n',
);
const create = [
  'worker_pool',
  'create',
  'spot',
  '--provider-account',
  'hcloud',
  '--architectures',
  'arm64,amd64',
  '--specifications',
  specifications,
];

test('an account is kept; its credentials are in the secret store and are shown by nobody', async () => {
  assert.is(
    await succeeds('asset', 'create', 'cloud-provider-account', '--data', account),
    'cloud-provider-account hcloud created\n',
  );
  assert.is(
    await succeeds('asset', 'create', 'cloud-provider-account', '--data', account),
    'cloud-provider-account hcloud unchanged\n',
  );
  const shown = await succeeds('asset', 'show', 'hcloud');
  assert.match(shown, 'api_token: secret');
  assert.equal(undated(await edgeward.json('asset', 'list')), [
    { name: 'hcloud', category: 'cloud-provider-account', provider_type: 'hetzner', credentials: ['api_token'] },
  ]);
  const log = JSON.stringify((await edgeward.events()).map(({ data }) => data));
  for (const text of [shown, log]) assert.not.match(text, 'hunter2');
  const secrets = join(edgeward.dataDir, 'secrets');
  const held = readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'));
  assert.equal(held, ['{"api_token":"hunter2"}']);
});

test('other credentials replace the old ones, which are gone', async () => {
  const other = file('other.yaml', { name: 'hcloud', provider_type: 'hetzner', credentials: { api_token: 'hunter3' } });
  assert.is(
    await succeeds('asset', 'create', 'cloud-provider-account', '--data', other),
    [
      'cloud-provider-account hcloud changed:',
      '  - configuration.server_url: "https://edgeward.example.com"',
      '  ~ credentials: "secret" → "another secret"\n',
    ].join('\n'),
  );
  assert.is(readdirSync(join(edgeward.dataDir, 'secrets')).length, 1);
});

test('an account without what its provider logs in with is refused, field by field', async () => {
  const bare = file('bare.yaml', { name: 'aws-bare', provider_type: 'aws', credentials: { access_key_id: 'x' } });
  await fails(
    2,
    'cloud-provider-account.configuration.region_name is required: a string (region of the account, such as eu-central-1)\n' +
      'cloud-provider-account.credentials.secret_access_key is required: a string (secret access key)',
    'asset',
    'create',
    'cloud-provider-account',
    '--data',
    bare,
  );
});

test('an account is asked for by its provider, and deleted when nothing uses it', async () => {
  const configuration = { endpoint: 'http://127.0.0.1:9/v1' };
  const spare = file('spare.yaml', {
    name: 'spare',
    provider_type: 'hetzner',
    configuration,
    credentials: { api_token: 'x' },
  });
  await succeeds('asset', 'create', 'cloud-provider-account', '--data', spare);
  await fails(1, 'Hetzner Cloud can not be reached (ECONNREFUSED)', 'asset', 'test', 'spare');
  assert.is(await succeeds('asset', 'delete', 'spare'), 'asset spare deleted\n');
  for (const verb of ['delete', 'test']) await fails(3, 'asset spare not found.', 'asset', verb, 'spare');
});

test('an asset that is wrong is told all that is wrong, and no secret', async () => {
  const wrong = file('wrong.yaml', { name: 'X', provider_type: 'gcp', credentials: { api_token: 12_345_678 } });
  const { exitCode, err } = await edgeward.command('asset', 'create', 'cloud-provider-account', '--data', wrong);
  assert.is(exitCode, 2);
  assert.is(err.trim().split('\n').length, 3);
  assert.not.match(err, '12345678');
  await fails(
    2,
    /Allowed choices are cloud-provider-account, apt-authentication/,
    'asset',
    'create',
    'other',
    '--data',
    wrong,
  );
});

test('what would be created is shown, and nothing is', async () => {
  const out = await succeeds(...create, '--dry-run');
  assert.match(out, /^worker pool spot would be created:\n {2}\+ name: "spot"\n/);
  assert.match(out, '  + architectures: ["amd64","arm64"]\n');
  await fails(3, 'worker pool spot not found.', 'worker_pool', 'show', 'spot');
});

test('a pool is created once, and created again changes nothing', async () => {
  assert.is(await succeeds(...create), 'worker pool spot created\n');
  const before = await edgeward.end();
  assert.is(await succeeds(...create), 'worker pool spot unchanged\n');
  const { created, changed } = (await edgeward.json(...create)) as { created: boolean; changed: boolean };
  assert.equal([created, changed], [false, false]);
  assert.is(await edgeward.end(), before, 'nothing is recorded');
});

test('a pool is shown as YAML with every field of the model, and as JSON', async () => {
  const shown: unknown = parse(await succeeds('worker_pool', 'show', 'spot'));
  const json = await edgeward.json('worker_pool', 'show', 'spot');
  assert.equal(shown, json);
  assert.equal(Object.keys(json as object), [
    'name',
    'provider_account',
    'enabled',
    'architectures',
    'static_metadata',
    'dynamic_metadata',
    'specifications',
    'instance_wide',
    'ephemeral',
    'limits',
    'apt_authentication',
    'scopes',
    'active_workers',
    'created_at',
    'last_scaling_decision',
    'last_failure',
  ]);
  const none = { max_active_instances: null, target_max_seconds_per_month: null };
  assert.equal((json as { limits: object }).limits, { ...none, max_idle_seconds: 3600, max_boot_seconds: 1800 });
});

test('an edit changes only what it names, and shows the difference before', async () => {
  const limits = file('limits.json', { max_active_instances: 2, target_max_seconds_per_month: 360_000 });
  const difference =
    '  ~ limits.max_active_instances: null → 2\n  ~ limits.target_max_seconds_per_month: null → 360000\n';
  assert.is(
    await succeeds('worker_pool', 'edit', 'spot', '--limits', limits, '--dry-run'),
    `worker pool spot would be changed:\n${difference}`,
  );
  assert.is(
    await succeeds('worker_pool', 'edit', 'spot', '--limits', limits),
    `worker pool spot changed:\n${difference}`,
  );
  assert.is(await succeeds('worker_pool', 'edit', 'spot', '--limits', limits), 'worker pool spot unchanged\n');
  assert.is(await succeeds('worker_pool', 'disable', 'spot'), 'worker pool spot changed:\n  ~ enabled: true → false\n');
  assert.is(await succeeds('worker_pool', 'disable', 'spot'), 'worker pool spot unchanged\n');
  assert.is(await succeeds('worker_pool', 'enable', 'spot'), 'worker pool spot changed:\n  ~ enabled: false → true\n');
  await fails(3, 'worker pool nowhere not found.', 'worker_pool', 'edit', 'nowhere', '--no-enabled');
});

test('a target without a bound is taken with a note', async () => {
  const target = file('target.json', { target_max_seconds_per_month: 10 });
  assert.match(
    await succeeds('worker_pool', 'edit', 'spot', '--limits', target, '--dry-run'),
    'note: limits.target_max_seconds_per_month is a target, which running tasks may overrun: set max_active_instances as well',
  );
});

test('what is wrong with documents and options is told all at once', async () => {
  const wrong = file('wrong-spec.yaml', 'provider_type: hetzner\nserver_typ: cx32\nenable_ipv4: "no"\n');
  const limits = file('wrong-limits.json', { max_active_instances: -1 });
  await fails(
    2,
    [
      'architectures[1] must be one of amd64, arm64, armel, armhf, i386, ppc64el, riscv64, s390x, not "sparc"',
      'specifications.server_type is required: a string (name of the server type)',
      'specifications.image_name is required: a string (image identifier; an image with the worker software pre-installed speeds up startup)',
      'specifications.enable_ipv4 must be true or false, not "no"',
      'specifications.server_typ is not a field; did you mean server_type?',
      'limits.max_active_instances must be at least 0, not -1',
    ].join('\n'),
    'worker_pool',
    'edit',
    'spot',
    '--architectures',
    'amd64,sparc',
    '--specifications',
    wrong,
    '--limits',
    limits,
  );
  await fails(2, /^edgeward: worker pool name must be a slug/, 'worker_pool', 'create', 'Not_A_Slug');
  await fails(
    2,
    'only one of --specifications, --limits and --static-metadata can be read from standard input.',
    'worker_pool',
    'edit',
    'spot',
    '--limits',
    '-',
    '--specifications',
    '-',
  );
  const aws = { provider_type: 'aws', launch_templates: [{ ImageId: 'ami-1', InstanceType: 't' }] };
  await fails(
    2,
    'provider account hcloud is of hetzner, and specifications.provider_type is aws.',
    'worker_pool',
    'edit',
    'spot',
    '--specifications',
    file('aws.json', aws),
  );
  await fails(
    3,
    'apt-authentication nightly not found.',
    'worker_pool',
    'edit',
    'spot',
    '--apt-authentication',
    'nightly',
  );
});

test('scopes use pools with a priority and limits of their own', async () => {
  assert.is(await succeeds('scope', 'create', 'debian'), 'scope debian created\n');
  assert.is(await succeeds('scope', 'create', 'debian'), 'scope debian unchanged\n');
  const limits = file('scope-limits.json', { target_latency_seconds: 600 });
  const add = ['scope', 'add_worker_pool', 'debian', 'spot', '--priority', '5', '--limits', limits];
  assert.is(await succeeds(...add), 'scope debian uses worker pool spot with priority 5\n');
  assert.is(await succeeds(...add), 'scope debian uses worker pool spot with priority 5 (unchanged)\n');
  assert.is(
    await succeeds('scope', 'edit_worker_pool', 'debian', 'spot', '--priority', '-3'),
    'scope debian uses worker pool spot with priority -3\n',
  );
  const shown = (await edgeward.json('scope', 'show', 'debian')) as { worker_pools: unknown };
  assert.equal(shown.worker_pools, [
    { name: 'spot', priority: -3, limits: { target_max_seconds_per_month: null, target_latency_seconds: 600 } },
  ]);
  await fails(3, 'scope kali not found.', 'scope', 'add_worker_pool', 'kali', 'spot');
  await fails(3, 'worker pool nowhere not found.', 'scope', 'add_worker_pool', 'debian', 'nowhere');
});

test('a pool that is not instance-wide belongs to one scope', async () => {
  await succeeds('scope', 'create', 'kali');
  await succeeds('scope', 'add_worker_pool', 'kali', 'spot');
  await fails(
    4,
    'spot is used by scopes debian, kali: instance_wide false allows one.',
    'worker_pool',
    'edit',
    'spot',
    '--no-instance-wide',
  );
  assert.is(
    await succeeds('scope', 'remove_worker_pool', 'kali', 'spot'),
    'worker pool spot removed from scope kali\n',
  );
  await succeeds('worker_pool', 'edit', 'spot', '--no-instance-wide');
  await fails(4, 'spot is not instance-wide and belongs to scope debian.', 'scope', 'add_worker_pool', 'kali', 'spot');
  assert.equal(undated(await edgeward.json('scope', 'list')), [
    { name: 'debian', worker_pools: ['spot'] },
    { name: 'kali', worker_pools: [] },
  ]);
});

test('instances are launched up to the bound; a pool with workers is not deleted, and lowering the bound says what it means', async () => {
  assert.is(
    await succeeds('worker_pool', 'launch', 'spot', '2'),
    'worker spot-001 is being launched\nworker spot-002 is being launched\n',
  );
  await fails(4, 'spot has 2 of 2 active instances: no room for 1 more.', 'worker_pool', 'launch', 'spot', '1');
  await fails(2, /must be a whole number from 1 to 1000/, 'worker_pool', 'launch', 'spot', '0');
  await fails(
    4,
    'spot has active workers: spot-001, spot-002. Terminate them first, or use --force.',
    'worker_pool',
    'delete',
    'spot',
  );
  const one = file('one.json', { max_active_instances: 1, target_max_seconds_per_month: 360_000 });
  assert.match(
    await succeeds('worker_pool', 'edit', 'spot', '--limits', one),
    'note: 2 instances are active, limits.max_active_instances is 1: nothing that runs is ended for that, and nothing new starts before fewer than 1 are active',
  );
});

test('a queue decides what would be launched, and says why not', async () => {
  const queue = file('queue.yaml', '- {scope: debian, architecture: amd64, count: 40, expected_seconds: 300}\n');
  assert.match(
    await succeeds('worker_pool', 'scale', '--queue', queue, '--dry-run'),
    /^not \d+ more for debian \(amd64\): spot has its 1 active instance \(max_active_instances\)\n$/,
  );
  await succeeds('worker_pool', 'scale', '--queue', queue);
  const { last_scaling_decision: last } = (await edgeward.json('worker_pool', 'show', 'spot')) as {
    last_scaling_decision: { refusals: { code: string }[] };
  };
  assert.equal(
    last.refusals.map(({ code }) => code),
    ['max-active-instances'],
  );
  await fails(
    2,
    /^edgeward: queue\[0\].architecture is required/,
    'worker_pool',
    'scale',
    '--queue',
    file('q.json', [{ scope: 'debian', count: 1, expected_seconds: 1 }]),
  );
});

test('usage shows used, target and projection, with a bar', async () => {
  const out = await succeeds('worker_pool', 'usage', 'spot');
  assert.match(out, /^\d{4}-\d\d \(UTC\), 0 instances running\n/);
  assert.match(out, /pool spot +0\.0 h +100\.0 h +0\.0 h +\[\.{20}\] +0 %/);
  const json = (await edgeward.json('worker_pool', 'usage', 'spot', '--month', '2020-02')) as Record<string, unknown>;
  assert.equal(json, {
    worker_pool: 'spot',
    month: '2020-02',
    running_instances: 0,
    used_seconds: 0,
    target_max_seconds_per_month: 360_000,
    projected_seconds: 0,
    scopes: [{ scope: 'debian', used_seconds: 0, target_max_seconds_per_month: null, projected_seconds: 0 }],
  });
  const csv = await succeeds('worker_pool', 'usage', 'spot', '--month', '2020-02', '--csv');
  assert.match(
    csv,
    /^month,worker_pool,scope,used_seconds,target_max_seconds_per_month,projected_seconds\r\n2020-02,spot,,0,/,
  );
  await fails(2, /--csv and --json are two formats/, 'worker_pool', 'usage', 'spot', '--csv', '--json');
  const pools = (await edgeward.json('worker_pool', 'list')) as { name: string }[];
  const ofAll = (await edgeward.json('worker_pool', 'usage', '--month', '2020-02')) as { worker_pools: unknown[] };
  assert.equal(ofAll.worker_pools.at(-1), json);
  assert.is(ofAll.worker_pools.length, pools.length);
  const table = await succeeds('worker_pool', 'usage');
  for (const { name } of pools) assert.match(table, `pool ${name} `);
  assert.match(table, /\nall pools +0\.0 h +- +0\.0 h\n$/);
  assert.is((await succeeds('worker_pool', 'usage', '--month', '2020-02', '--csv')).match(/2020-02,spot/g)?.length, 2);
  await fails(2, /--month must be a year and a month such as/, 'worker_pool', 'usage', 'spot', '--month', '2020-13');
  await fails(3, 'worker pool nowhere not found.', 'worker_pool', 'usage', 'nowhere');
});

test('a running server takes reserved places further: a launch that the provider refuses says so, and gives them back', async () => {
  const provider = await startHetznerFake();
  const configuration = { endpoint: provider.url };
  const strange = { name: 'hcloud', provider_type: 'hetzner', configuration, credentials: { api_token: 'of-another' } };
  await succeeds('asset', 'create', 'cloud-provider-account', '--data', file('strange.yaml', strange));
  await edgeward.serve();
  try {
    await waitUntil('the places are free again', async () => {
      const shown = (await edgeward.json('worker_pool', 'show', 'spot')) as { active_workers: readonly string[] };
      return shown.active_workers.length === 0;
    });
    const worker = (await edgeward.json('worker', 'show', 'spot-001')) as {
      state: string;
      last_failure: { code: string };
    };
    assert.is(worker.state, 'stopped');
    assert.is(worker.last_failure.code, 'login-refused');
    const rows = (await edgeward.json('worker', 'list', '--pool', 'spot')) as { name: string }[];
    assert.equal(
      rows.map(({ name }) => name),
      ['spot-001', 'spot-002'],
    );
    assert.is(
      readdirSync(join(edgeward.dataDir, 'secrets')).filter((name) => name.startsWith('activation-')).length,
      0,
    );
  } finally {
    await edgeward.stop();
    await provider.stop();
  }
});

test('a deleted pool is gone from its scopes and from the list', async () => {
  assert.is(await succeeds('worker_pool', 'delete', 'spot'), 'worker pool spot deleted\ntaken from scope debian\n');
  assert.equal(await edgeward.json('worker_pool', 'list'), []);
  assert.equal(undated(await edgeward.json('scope', 'list')), [
    { name: 'debian', worker_pools: [] },
    { name: 'kali', worker_pools: [] },
  ]);
  await fails(3, 'worker pool spot not found.', 'worker_pool', 'delete', 'spot');
  await succeeds('scope', 'delete', 'debian');
  await fails(3, 'scope debian not found.', 'scope', 'delete', 'debian');
});

test('the published schemas are JSON Schemas, and need no data directory', async () => {
  for (const name of ['aws', 'hetzner', 'limits', 'scope-limits']) {
    const schema = JSON.parse(await succeeds('worker_pool', 'schema', name)) as Record<string, unknown>;
    assert.is(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema');
    assert.is(schema['additionalProperties'], false);
  }
  assert.is((await edgeward.command('worker_pool', 'schema', 'gcp')).exitCode, 2);
});

test.run();
