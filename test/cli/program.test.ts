import { execFileSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openOutput } from '../../src/cli/output.ts';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const bad = await openEdgeward({ PORT: 'eighty', QUIET_PERIOD: '2 minutes', WEBHOOK_RETRIES: '-1', LOG_LEVEL: 'loud' });

test.after(async () => {
  await edgeward.remove();
  await bad.remove();
});

const GROUPS = [
  'admin',
  'region',
  'router',
  'customer',
  'token',
  'subnet',
  'whitelist',
  'commit',
  'projections',
  'stores',
];
const LEAVES = ['serve', 'demo', 'init', 'events', 'state', 'verify', 'doctor'];

// Help

test('help names every command, and is no error', async () => {
  for (const args of [['--help'], ['help']]) {
    const { exitCode, out, err } = await edgeward.command(...args);
    assert.is(exitCode, 0);
    assert.is(err, '');
    for (const command of [...GROUPS, ...LEAVES]) assert.match(out, new RegExp(`^ {2}${command}\\b`, 'm'), command);
  }
});

test('every command has help of its own, which names --json', async () => {
  for (const group of GROUPS) {
    const { exitCode, out } = await edgeward.command(group, '--help');
    assert.is(exitCode, 0, group);
    const commands = [...out.matchAll(/^ {2}(\w+) .*\[options\]/gm)].map(([, name]) => String(name));
    assert.ok(commands.length > 0, `${group} has commands`);
    for (const command of commands) {
      const help = await edgeward.command(group, command, '--help');
      assert.is(help.exitCode, 0, `${group} ${command}`);
      assert.match(help.out, '--json', `${group} ${command}`);
    }
  }
  for (const leaf of ['init', 'events', 'state', 'verify'])
    assert.match((await edgeward.command(leaf, '--help')).out, '--json');
});

test('the version is asked for and no error', async () => {
  const { exitCode, out } = await edgeward.command('--version');
  assert.is(exitCode, 0);
  assert.is(out, '0.0.0-test\n');
});

test('without a command it shows help, and that is no error; help of a command is had by either way', async () => {
  const alone = await edgeward.command();
  assert.equal([alone.exitCode, alone.err], [0, '']);
  assert.match(alone.out, 'Usage: edgeward');
  const [one, other] = [
    await edgeward.command('help', 'router', 'add'),
    await edgeward.command('router', 'add', '--help'),
  ];
  assert.equal(one, other);
  assert.match(one.out, /--driver <driver> .*\(required\)/);
  assert.match(one.out, /Options of driver file .*:\n\s+path +\S.*\(required\)/);
  assert.match(one.out, /Options of driver frr .*\(required, with transport=ssh\)/s);
});

test('all options that are missing are told at once', async () => {
  const { exitCode, err } = await edgeward.command('subnet', 'add', 'acme', '192.0.2.0/24');
  assert.is(exitCode, 2);
  assert.match(err, '--region <region>, --asn <n>, --metro <metro> must be given; edgeward help subnet add says more.');
});

test('lists are cut to so many rows, and are lines of JSON where that is asked for', async () => {
  const own = await openEdgeward();
  for (const name of ['ams', 'fra', 'lon']) await own.json('region', 'create', name);
  const lines = (await own.command('region', 'list', '--json=lines', '--limit', '2')).out.trim().split('\n');
  assert.equal(
    lines.map((line) => z.object({ name: z.string() }).parse(JSON.parse(line)).name),
    ['ams', 'fra'],
  );
  const { out } = await own.command('region', 'list', '--limit', '1');
  assert.is(out.trim().split('\n').length, 2, 'a heading and a row');
  assert.is((await own.command('region', 'list', '--limit', '0')).exitCode, 2);
  await own.remove();
});

test('a table fits the terminal, cut in the middle of what is long', () => {
  let text = '';
  const rows = [{ name: 'edge1', options: 'transport=ssh host=192.0.2.10 user=edgeward key=secret:edge1-key' }];
  const print = (columns: number | undefined): string => {
    text = '';
    openOutput(false, (more) => void (text += more), { columns }).table(['name', 'options'], rows);
    return text;
  };
  assert.match(print(undefined), 'host=192.0.2.10');
  const lines = print(40).trimEnd().split('\n');
  assert.ok(
    lines.every((line) => line.length <= 40),
    lines.join('|'),
  );
  assert.match(lines[1] ?? '', /^edge1 {2}transport=ssh ho….*edge1-key$/);
});

test('completion is made of the commands as they are, and bash takes it', async () => {
  const { out } = await edgeward.command('completion', 'bash');
  const complete = (...words: readonly string[]): readonly string[] => {
    const typed = ['edgeward', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${out}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _edgeward; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
  };
  assert.equal(complete('rou'), ['router']);
  assert.ok(complete('router', '').includes('drain'));
  assert.ok(complete('router', 'add', 'eu-west', 'edge1', '--').includes('--driver'));
  assert.equal(complete('router', 'add', '--json', '--dr'), ['--driver']);
  for (const shell of ['zsh', 'fish']) assert.match((await edgeward.command('completion', shell)).out, 'worker_pool');
  assert.is((await edgeward.command('completion', 'csh')).exitCode, 2);
});

// Usage

const MISUSES: readonly (readonly string[])[] = [
  ['nothing'],
  ['--nothing'],
  ['region'],
  ['region', 'nothing'],
  ['region', 'create'],
  ['region', 'create', 'one', 'two'],
  ['region', 'list', '--nothing'],
  ['region', 'list', 'more'],
  ['router', 'add', 'eu-west', 'edge1'],
  ['router', 'add', 'eu-west', 'edge1', '--driver'],
  ['customer', 'create', 'Acme', '--rate-limit', '0'],
  ['customer', 'create', 'Acme', '--rate-limit', '-1'],
  ['customer', 'create', 'Acme', '--rate-limit', '1.5'],
  ['customer', 'create', 'Acme', '--rate-limit', 'many'],
  ['customer', 'create', 'Acme', '--rate-limit', '10000000000000000'],
  ['customer', 'create', 'Acme', '--whitelist-limit', '-1'],
  ['customer', 'create', 'Acme', '--evidence-max-bytes', '0'],
  ['customer', 'create', 'Acme', '--webhook-url', 'ftp://hooks.example.com'],
  ['customer', 'create', 'Acme', '--webhook-url', 'https://user:password@hooks.example.com'],
  ['customer', 'create', 'Acme', '--webhook-url', 'hooks.example.com'],
  ['customer', 'create', ''],
  ['customer', 'create', ' Acme'],
  ['customer', 'create', '株式会社'],
  ['customer', 'create', 'x'.repeat(65)],
  ['customer', 'create', 'a\nb'],
  ['region', 'create', ''],
  ['region', 'create', 'x'.repeat(65)],
  ['admin', 'create', 'Root'],
  ['admin', 'create', '../root'],
  ['subnet', 'add', 'Acme', '203.0.113.0/24', '--region', 'eu-west', '--asn', '64500'],
  ['subnet', 'add', 'Acme', '203.0.113.0/24', '--region', 'eu-west', '--metro', 'ams'],
  ['subnet', 'add', 'Acme', '203.0.113.0/24', '--asn', '64500', '--metro', 'ams'],
  ['commit', 'diff', 'Acme'],
  ['events'],
  ['projections', 'rebuild'],
  ['projections', 'rebuild', 'subnets', '--all'],
  ['serve', 'more'],
  ['demo', '--nothing'],
];

for (const args of MISUSES) {
  test(`"edgeward ${args.map((arg) => arg.slice(0, 20)).join(' ')}" is a misuse: 2, and why on standard error`, async () => {
    const { exitCode, out, err } = await edgeward.command(...args);
    assert.is(exitCode, 2, err);
    assert.is(out, '');
    assert.ok(err.trim().length > 0);
    assert.not.match(err, /\n\s+at /, 'no stack');
  });
}

test('a mistyped command is told what was probably meant', async () => {
  assert.match((await edgeward.command('regoin', 'list')).err, 'Did you mean region?');
});

test('nothing of all this was recorded', async () => {
  assert.equal(await edgeward.events(), []);
});

// Failures for machines

test('with --json a failure is JSON on standard error, and standard output is empty', async () => {
  for (const [args, exitCode, error] of [
    [['customer', 'show', 'Nobody'], 3, { code: 'not-found', message: 'customer Nobody not found.' }],
    [
      ['region', 'create', ' '],
      2,
      {
        code: 'bad-region-name',
        message: 'a region name has 1 to 64 characters, no space at either end and no control characters.',
      },
    ],
    [['subnet', 'remove', '99'], 3, { code: 'not-found', message: 'subnet 99 not found.' }],
  ] as const) {
    const outcome = await edgeward.command(...args, '--json');
    assert.is(outcome.exitCode, exitCode);
    assert.is(outcome.out, '');
    assert.equal(JSON.parse(outcome.err), { error });
  }
});

test('with --json a misuse is JSON as well', async () => {
  for (const [args, message] of [
    [['customer', 'create', 'Acme', '--no-such'], /^unknown option '--no-such'$/],
    [['customer', 'create'], /^missing required argument 'name'$/],
    [['customer', 'create', 'Acme', '--rate-limit', '0'], /must be a whole number from 1\.$/],
    [['customer', 'list', 'more'], /^too many arguments/],
    [['regoin', 'list'], /^unknown command 'regoin'\n\(Did you mean region\?\)$/],
    [['projections', 'rebuild'], /^name projections, or give --all\.$/],
  ] as const) {
    const outcome = await edgeward.command(...args, '--json');
    assert.equal([outcome.exitCode, outcome.out], [2, '']);
    const { error } = z
      .strictObject({ error: z.strictObject({ code: z.literal('usage'), message: z.string() }) })
      .parse(JSON.parse(outcome.err));
    assert.match(error.message, message);
  }
});

test('for people a failure is one line', async () => {
  const { exitCode, out, err } = await edgeward.command('customer', 'show', 'Nobody');
  assert.equal({ exitCode, out, err }, { exitCode: 3, out: '', err: 'edgeward: customer Nobody not found.\n' });
});

// Settings

test('bad settings are named all at once, whatever the command', async () => {
  for (const args of [['region', 'list'], ['customer', 'create', 'Acme'], ['verify']]) {
    const { exitCode, out, err } = await bad.command(...args);
    assert.is(exitCode, 78);
    assert.is(out, '');
    assert.is(err.split('\n').length, 2, 'one line');
    for (const variable of ['PORT', 'QUIET_PERIOD', 'WEBHOOK_RETRIES', 'LOG_LEVEL']) assert.match(err, variable);
    assert.not.match(err, 'DATA_DIR');
  }
});

test.run();
