import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { userInfo } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openEdgeward } from '../support/servers/edgeward-server.ts';
import { undated } from '../support/undated.ts';

const edgeward = await openEdgeward();
const routerPath = join(edgeward.folder, 'edge1');

test.after(() => edgeward.remove());

/** Secrets that commands have shown: none may ever be seen again. */
const shown: string[] = [];

async function fails(exitCode: number, message: string, ...args: readonly string[]): Promise<void> {
  const before = await edgeward.end();
  const outcome = await edgeward.command(...args);
  assert.equal(outcome, { exitCode, out: '', err: `edgeward: ${message}\n` });
  assert.is(await edgeward.end(), before, 'nothing is recorded');
}

async function prints(out: string, ...args: readonly string[]): Promise<void> {
  assert.equal(await edgeward.command(...args), { exitCode: 0, out, err: '' });
}

// Regions and routers

test('regions are numbered from 1', async () => {
  await prints('region eu-west created (id 1)\n', 'region', 'create', 'eu-west');
  assert.equal(await edgeward.json('region', 'create', 'us-east'), { id: 2, name: 'us-east', deploy_policy: 'each' });
  await prints(
    'ID  NAME     ROUTERS  DEPLOY_POLICY\n1   eu-west  0        each\n2   us-east  0        each\n',
    'region',
    'list',
  );
  assert.equal(undated(await edgeward.json('region', 'list')), [
    { id: 1, name: 'eu-west', routers: 0, deploy_policy: 'each' },
    { id: 2, name: 'us-east', routers: 0, deploy_policy: 'each' },
  ]);
});

test('a region name is given once', async () => {
  await fails(4, 'region eu-west exists already.', 'region', 'create', 'eu-west');
});

test('a router is added with the options of its driver', async () => {
  const add = ['router', 'add', 'eu-west', 'edge1', '--driver', 'file', '--option', `path=${routerPath}`];
  await prints('router edge1 added to region eu-west\n', ...add);
  // Asked for what is so already, there is nothing to say against it.
  assert.is((await edgeward.command(...add)).exitCode, 0);
  assert.equal(undated(await edgeward.json('router', 'list')), [
    {
      region: 'eu-west',
      name: 'edge1',
      driver: 'file',
      state: 'enabled',
      status: 'not-seen',
      last_seen: null,
      repair: true,
      drifted: [],
      unowned: [],
      options: { path: routerPath },
    },
  ]);
  assert.equal(await edgeward.json('router', 'list', '--region', 'us-east'), []);
});

test('a router name is given once in a region', async () => {
  await fails(
    4,
    'region eu-west has a router edge1 already.',
    'router',
    'add',
    'eu-west',
    'edge1',
    '--driver',
    'file',
    '--option',
    `path=${edgeward.folder}`,
  );
});

test('wrong options of a driver are a misuse, and say what would be right', async () => {
  const add = ['router', 'add', 'eu-west', 'edge2', '--driver'];
  for (const [args, reason] of [
    [['nothing'], 'driver "nothing" is unknown; the drivers are file, frr'],
    [['file'], 'path'],
    [['file', '--option', 'path='], 'path'],
    [['file', '--option', `path=${routerPath}`, '--option', 'more=1'], 'more'],
    [['file', '--option', 'path'], '--option path must look like key=value.'],
    [['file', '--option', '=x'], '--option =x must look like key=value.'],
    [['file', '--option', 'path=/a', '--option', 'path=/b'], '--option path is given twice.'],
  ] as const) {
    const { exitCode, out, err } = await edgeward.command(...add, ...args);
    assert.is(exitCode, 2, err);
    assert.is(out, '');
    assert.match(err, reason);
  }
  await fails(
    3,
    'region nowhere not found.',
    'router',
    'add',
    'nowhere',
    'edge2',
    '--driver',
    'file',
    '--option',
    `path=${routerPath}`,
  );
});

test('a directory is made where it is not there, and named from the root', async () => {
  const path = join(edgeward.folder, 'deep', 'er');
  const add = ['router', 'add', 'us-east', 'files', '--driver', 'file', '--option', `path=${relative('.', path)}`];
  assert.equal(await edgeward.json(...add), { name: 'files', region: 'us-east', driver: 'file', options: { path } });
  assert.ok(existsSync(path));
  await edgeward.json('router', 'remove', 'files');
});

test('a router is tested, by its name or by region and name', async () => {
  await prints('router edge1: reachable, and lists can be written\n', 'router', 'test', 'edge1');
  assert.equal(await edgeward.json('router', 'test', 'eu-west', 'edge1'), { name: 'edge1', reachable: true });
  await fails(3, 'router edge9 not found.', 'router', 'test', 'edge9');
  await fails(3, 'router edge1 not found.', 'router', 'test', 'us-east', 'edge1');
  await fails(3, 'region nowhere not found.', 'router', 'test', 'nowhere', 'edge1');
});

test('a router that can not be reached fails its test, with the reason', async () => {
  const path = join(edgeward.folder, 'a-file');
  await edgeward.json('router', 'add', 'us-east', 'broken', '--driver', 'file', '--option', `path=${path}`);
  // Whatever adding it has made of the path, a router may be gone later.
  rmSync(path, { recursive: true, force: true });
  const { exitCode, out, err } = await edgeward.command('router', 'test', 'broken');
  assert.is(exitCode, 1);
  assert.is(out, '');
  assert.match(err, 'edgeward: router broken: ');
});

test('a router is removed, once', async () => {
  await prints('router broken removed from region us-east\n', 'router', 'remove', 'us-east', 'broken');
  await fails(3, 'router broken not found.', 'router', 'remove', 'broken');
});

test('a name that several regions have needs its region', async () => {
  await edgeward.json('router', 'add', 'us-east', 'edge1', '--driver', 'file', '--option', `path=${routerPath}-2`);
  await fails(2, 'several regions have a router edge1: name the region first.', 'router', 'test', 'edge1');
  assert.equal(await edgeward.json('router', 'remove', 'us-east', 'edge1'), { name: 'edge1', region: 'us-east' });
});

// Customers

test('a customer has the defaults of the specification', async () => {
  await prints(
    'customer Acme Corp. created (id 1); its lists are Svc-ACME-CORP-…\n',
    'customer',
    'create',
    'Acme Corp.',
  );
  assert.equal(await edgeward.json('customer', 'show', 'Acme Corp.'), {
    id: 1,
    name: 'Acme Corp.',
    list_name: 'ACME-CORP',
    rate_limit: 60,
    allow_synchronous: false,
    allow_source_whitelist: false,
    trusted: false,
    whitelist_limit: 100,
    prefix_limit: 10_000,
    evidence_max_bytes: 5 * 1024 * 1024,
    webhook_url: null,
    state: 'enabled',
    tokens: [],
    subnets: [],
  });
});

test('a customer is created with all its settings; the webhook secret is shown once', async () => {
  const created = z
    .strictObject({
      id: z.literal(2),
      name: z.literal('Hooked'),
      webhook_secret: z.string().regex(/^whsec_[A-Za-z0-9+/=]{32,}$/),
    })
    .parse(
      await edgeward.json(
        'customer',
        'create',
        'Hooked',
        '--rate-limit',
        '5',
        '--allow-synchronous',
        '--allow-source-whitelist',
        '--trusted',
        '--whitelist-limit',
        '0',
        '--evidence-max-bytes',
        '1',
        '--webhook-url',
        'https://hooks.example.com/edgeward?a=b',
      ),
    );
  shown.push(created.webhook_secret);
  const { out } = await edgeward.command('customer', 'show', '2');
  assert.match(out, /^rate_limit: 5$/m);
  assert.match(out, /^allow_synchronous: true$/m);
  assert.match(out, /^trusted: true$/m);
  assert.match(out, /^webhook_url: https:\/\/hooks\.example\.com\/edgeward\?a=b$/m);
});

test('names and list names are given once', async () => {
  await fails(4, 'customer Hooked exists already.', 'customer', 'create', 'Hooked');
  await fails(
    4,
    'the prefix-lists of ACME (corp) would have the names of those of customer Acme Corp. (Svc-ACME-CORP-…).',
    'customer',
    'create',
    'ACME (corp)',
  );
});

test('only what is named changes', async () => {
  const before = z.record(z.string(), z.unknown()).parse(await edgeward.json('customer', 'show', 'Hooked'));
  await prints(
    'customer Hooked updated\n',
    'customer',
    'update',
    'Hooked',
    '--rate-limit',
    '7',
    '--no-allow-synchronous',
    '--no-trusted',
  );
  assert.equal(await edgeward.json('customer', 'show', 'Hooked'), {
    ...before,
    rate_limit: 7,
    allow_synchronous: false,
    trusted: false,
  });
  await prints('customer Hooked unchanged\n', 'customer', 'update', 'Hooked', '--rate-limit', '7');
  await prints('customer Hooked unchanged\n', 'customer', 'update', 'Hooked');
  await fails(3, 'customer Nobody not found.', 'customer', 'update', 'Nobody', '--rate-limit', '7');
});

test('a webhook secret is rotated, and a first URL brings one', async () => {
  const rotated = await edgeward.command('customer', 'update', 'Hooked', '--rotate-webhook-secret');
  const secret = /^webhook secret \(shown once\): (whsec_\S+)$/m.exec(rotated.out)?.[1] ?? '';
  assert.ok(secret.length > 32 && !shown.includes(secret));
  shown.push(secret);
  const first = z
    .object({ webhook_secret: z.string() })
    .parse(await edgeward.json('customer', 'update', '1', '--webhook-url', 'http://198.51.100.1/'));
  shown.push(first.webhook_secret);
  const again = await edgeward.json('customer', 'update', '1', '--webhook-url', 'http://198.51.100.2/');
  assert.not('webhook_secret' in Object(again), 'another URL keeps it');
  const none = await edgeward.json('customer', 'update', '1', '--webhook-url', 'none');
  assert.is(Object(none).webhook_url, null);
});

test('customers are listed', async () => {
  const rows = z.array(z.object({ id: z.number(), name: z.string() })).parse(await edgeward.json('customer', 'list'));
  assert.equal(
    rows.map(({ id, name }) => [id, name]),
    [
      [1, 'Acme Corp.'],
      [2, 'Hooked'],
    ],
  );
  const { out } = await edgeward.command('customer', 'list');
  assert.match(
    out,
    /^ID {2}NAME {8}RATE_LIMIT {2}ALLOW_SYNCHRONOUS {2}ALLOW_SOURCE_WHITELIST {2}WEBHOOK_URL {2,}STATE$/m,
  );
});

// Tokens

test('a token is printed once and known by its hash alone', async () => {
  const { out } = await edgeward.command('token', 'create', 'Acme Corp.', '--label', 'ci');
  const token = /^token \(shown once\): (edw_[A-Za-z0-9_-]{43})$/m.exec(out)?.[1] ?? '';
  const second = z
    .strictObject({ id: z.uuid(), token: z.string() })
    .parse(await edgeward.json('token', 'create', 'Acme Corp.'));
  assert.is.not(second.token, token);
  shown.push(token, second.token);
  const issued = (await edgeward.events()).filter(({ type }) => type === 'ApiTokenIssued').map(({ data }) => data);
  assert.equal(
    issued.map((data) => Object(data).sha256),
    [token, second.token].map((text) => createHash('sha256').update(text).digest('hex')),
  );
  assert.is(Object(issued[0]).label, 'ci');
});

const tokenRow = z.strictObject({
  id: z.uuid(),
  customer: z.string(),
  label: z.string(),
  prefix: z.string().regex(/^edw_[\w-]{6}$/),
  created_at: z.iso.datetime({ offset: true }),
  expires_at: z.iso.datetime({ offset: true }).nullable(),
  read_only: z.boolean(),
  allowed_addresses: z.array(z.string()),
  last_used: z.iso.datetime({ offset: true }).nullable(),
  state: z.enum(['enabled', 'disabled']),
});

async function listedTokens(...args: readonly string[]): Promise<readonly z.infer<typeof tokenRow>[]> {
  return z.array(tokenRow).parse(await edgeward.json('token', 'list', ...args));
}

test('tokens are listed and revoked by their ids', async () => {
  const listed = await listedTokens('Acme Corp.');
  assert.equal(
    listed.map(({ label }) => label),
    ['ci', ''],
  );
  assert.equal(await edgeward.json('token', 'list'), listed);
  assert.equal(await edgeward.json('token', 'list', 'Hooked'), []);
  const id = listed[0]?.id ?? '';
  await prints(`token ${id} revoked\n`, 'token', 'revoke', id);
  await fails(3, `token ${id} not found.`, 'token', 'revoke', id);
  await fails(3, 'customer Nobody not found.', 'token', 'create', 'Nobody');
});

test('a token is issued with what it may, and disabled, enabled and revoked by its visible prefix', async () => {
  const limits = ['--expires', 'P30D', '--read-only', '--allow', '192.0.2.0/24', '--allow', '2001:DB8::/32'];
  const issued = z
    .strictObject({ id: z.uuid(), token: z.string() })
    .parse(await edgeward.json('token', 'create', 'Hooked', '--label', 'watch', ...limits));
  const prefix = issued.token.slice(0, 10);
  const [row] = await listedTokens('Hooked');
  assert.equal(
    [row?.prefix, row?.read_only, row?.allowed_addresses, row?.last_used, row?.state],
    [prefix, true, ['192.0.2.0/24', '2001:db8::/32'], null, 'enabled'],
  );
  await prints(`token ${issued.id} disabled\n`, 'token', 'disable', prefix);
  await prints(`token ${issued.id} disabled\n`, 'token', 'disable', issued.id.slice(0, 13));
  assert.is((await listedTokens('Hooked'))[0]?.state, 'disabled');
  await prints(`token ${issued.id} enabled\n`, 'token', 'enable', prefix);
  await prints(`token ${issued.id} revoked\n`, 'token', 'revoke', prefix);
  assert.equal(await listedTokens('Hooked'), []);
});

test('a token is not issued for a time that is over, or for what is no block of addresses', async () => {
  const create = ['token', 'create', 'Hooked'];
  await fails(2, '--expires must be in the future.', ...create, '--expires', '2020-01-01T00:00:00Z');
  await fails(
    2,
    '--expires must be an instant with an offset, or a duration, such as P90D.',
    ...create,
    '--expires',
    'soon',
  );
  const { exitCode, err } = await edgeward.command(...create, '--allow', '192.0.2.1/24');
  assert.is(exitCode, 2);
  assert.match(err, '--allow ');
});

// Subnets

const PLACE = ['--region', 'eu-west', '--asn', '64500', '--metro', 'ams'];

test('subnets are numbered, and their addresses belong to one customer', async () => {
  await prints(
    'subnet 203.0.113.0/24 assigned to Acme Corp. (id 1)\n',
    'subnet',
    'add',
    'Acme Corp.',
    '203.0.113.0/24',
    ...PLACE,
  );
  assert.equal(await edgeward.json('subnet', 'add', '2', '2001:DB8:0:0::/48', ...PLACE), {
    id: 2,
    customer: 'Hooked',
    cidr: '2001:db8::/48',
    region: 'eu-west',
    asn: 64_500,
    metro: 'ams',
  });
  for (const [customer, cidr, other] of [
    ['Acme Corp.', '203.0.113.0/24', '203.0.113.0/24 (subnet 1)'],
    ['Hooked', '203.0.113.128/25', '203.0.113.0/24 (subnet 1)'],
    ['Hooked', '203.0.0.0/16', '203.0.113.0/24 (subnet 1)'],
    ['Acme Corp.', '2001:db8:0:ffff::/64', '2001:db8::/48 (subnet 2)'],
  ] as const) {
    await fails(4, `${cidr} overlaps ${other}.`, 'subnet', 'add', customer, cidr, ...PLACE);
  }
});

test('what can not be a subnet is a misuse or not found', async () => {
  await fails(
    2,
    'cidr: "203.0.113.5/24" has host bits set: the network is probably 203.0.113.0/24',
    'subnet',
    'add',
    'Hooked',
    '203.0.113.5/24',
    ...PLACE,
  );
  await fails(
    2,
    '--asn must be a whole number.',
    'subnet',
    'add',
    'Hooked',
    '192.0.2.0/24',
    '--region',
    'eu-west',
    '--asn',
    'AS64500',
    '--metro',
    'ams',
  );
  await fails(
    2,
    'an ASN is a whole number from 1 to 4294967295 (RFC 6793).',
    'subnet',
    'add',
    'Hooked',
    '192.0.2.0/24',
    '--region',
    'eu-west',
    '--asn',
    '4294967296',
    '--metro',
    'ams',
  );
  await fails(
    3,
    'region nowhere not found.',
    'subnet',
    'add',
    'Hooked',
    '192.0.2.0/24',
    '--region',
    'nowhere',
    '--asn',
    '1',
    '--metro',
    'ams',
  );
  await fails(3, 'customer Nobody not found.', 'subnet', 'add', 'Nobody', '192.0.2.0/24', ...PLACE);
  await fails(3, 'customer Nobody not found.', 'subnet', 'list', 'Nobody');
});

test('subnets are listed and taken back; their addresses are free again, their numbers are not', async () => {
  await prints(
    [
      'ID  CUSTOMER    CIDR            REGION   ASN    METRO',
      '1   Acme Corp.  203.0.113.0/24  eu-west  64500  ams',
      '2   Hooked      2001:db8::/48   eu-west  64500  ams',
      '',
    ].join('\n'),
    'subnet',
    'list',
  );
  await prints('subnet 2001:db8::/48 removed\n', 'subnet', 'remove', '2');
  await fails(3, 'subnet 2 not found.', 'subnet', 'remove', '2');
  await fails(3, 'subnet two not found.', 'subnet', 'remove', 'two');
  assert.is(Object(await edgeward.json('subnet', 'add', 'Acme Corp.', '2001:db8::/49', ...PLACE)).id, 3);
  assert.is(z.array(z.unknown()).parse(await edgeward.json('subnet', 'list', 'Acme Corp.')).length, 2);
});

// Administrators

test("an administrator's password is printed once and kept as a salted hash", async () => {
  const { out } = await edgeward.command('admin', 'create', 'ada');
  const password = /^administrator ada created\npassword \(shown once\): ([A-Za-z0-9_-]{24})\n$/.exec(out)?.[1] ?? '';
  shown.push(password);
  const second = z
    .strictObject({ name: z.literal('bob'), password: z.string() })
    .parse(await edgeward.json('admin', 'create', 'bob'));
  shown.push(second.password);
  await fails(4, 'administrator ada exists already.', 'admin', 'create', 'ada');
  const secrets = readdirSync(join(edgeward.dataDir, 'secrets')).filter((name) => name.includes('administrator-ada'));
  assert.is(secrets.length, 1, 'of a name that was taken nothing is left');
  const file = join(edgeward.dataDir, 'secrets', secrets[0] ?? '');
  assert.match(readFileSync(file, 'utf8'), /^scrypt\$32768\$8\$1\$[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+$/);
});

// Secrets and the audit

test('who asked is in every event: the user of the machine, who is not the account of that name', async () => {
  const operator = `admin:${process.env['SUDO_USER'] ?? userInfo().username}@cli`;
  for (const { metadata } of await edgeward.events()) {
    assert.is(metadata.actor, operator);
    assert.match(metadata.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    assert.match(metadata.$correlationId, /^[0-9a-f-]{36}$/);
  }
});

/** Who the newest event says has asked, when a command was given behind sudo. */
async function actorBehind(user: string): Promise<string | undefined> {
  process.env['SUDO_USER'] = user;
  await edgeward.json('token', 'create', 'Hooked');
  return (await edgeward.events()).at(-1)?.metadata.actor;
}

test('behind sudo it is who has called it', async () => {
  const before = process.env['SUDO_USER'];
  try {
    assert.is(await actorBehind('grace'), 'admin:grace@cli');
    assert.is(await actorBehind('grace@corp.example'), 'admin:grace@corp.example@cli');
    for (const nobody of ['', ' ', 'grace\n', 'x'.repeat(257)])
      assert.is(await actorBehind(nobody), `admin:${userInfo().username}@cli`);
  } finally {
    if (before === undefined) delete process.env['SUDO_USER'];
    else process.env['SUDO_USER'] = before;
  }
});

test("an account can't have the name of a user of the machine", async () => {
  const rule = 'a name has 1 to 64 of a–z 0–9 _ . - and starts with a letter or digit.';
  await fails(2, rule, 'admin', 'create', 'grace@cli');
});

test('no secret is in the events, in any other command, or in a file that others may read', async () => {
  assert.is(shown.filter((secret) => secret.length >= 24).length, 7);
  const commands = [
    ['customer', 'show', '1'],
    ['customer', 'show', '2'],
    ['customer', 'list'],
    ['token', 'list'],
    ['events', '1'],
    ['events', '2'],
    ['router', 'list'],
    ['state', '1'],
  ];
  const outputs = [JSON.stringify((await edgeward.events()).map(({ data, metadata }) => ({ data, metadata })))];
  for (const args of commands)
    for (const json of [[], ['--json']]) outputs.push((await edgeward.command(...args, ...json)).out);
  const databases = ['events.db', 'views.db']
    .map((name) => join(edgeward.dataDir, name))
    .filter((file) => existsSync(file));
  for (const file of databases)
    for (const part of [file, `${file}-wal`]) if (existsSync(part)) outputs.push(readFileSync(part, 'latin1'));
  for (const output of outputs) for (const secret of shown) assert.not.ok(output.includes(secret));
  const secrets = join(edgeward.dataDir, 'secrets');
  assert.is(statSync(secrets).mode & 0o077, 0);
  for (const name of readdirSync(secrets)) assert.is(statSync(join(secrets, name)).mode & 0o777, 0o600, name);
  assert.is(statSync(edgeward.dataDir).mode & 0o077, 0);
});

test('the log verifies', async () => {
  const { exitCode, out } = await edgeward.command('verify');
  assert.is(exitCode, 0);
  assert.match(out, /^\d+ events in \d+ streams,? .*0 commits .*checked: 0 problems\n$/);
});

test.run();
