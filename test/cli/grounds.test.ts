import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();

test.after(() => edgeward.remove());

/** Commands that only look, or change nothing but a store: what they do is in no event. */
const LOOKS = new Set([
  'list',
  // An agent: what it tells is recorded by the server.
  'worker run',
  'show',
  'diff',
  'status',
  'test',
  'usage',
  'schema',
  'evidence',
  'rebuild',
  'copy',
  'backup',
  'grant',
]);

async function helpOf(...command: readonly string[]): Promise<string> {
  return (await edgeward.command(...command, '--help')).out;
}

test('every command that records something takes --reason and --ticket, and no other does', async () => {
  const groups = [...(await helpOf()).matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => String(name));
  let acts = 0;
  for (const group of groups) {
    const commands = [...(await helpOf(group)).matchAll(/^ {2}(\w+) .*\[options\]/gm)].map(([, name]) => String(name));
    for (const command of commands) {
      const looks = LOOKS.has(command) || LOOKS.has(`${group} ${command}`);
      const help = await helpOf(group, command);
      const takes = ['--reason', '--ticket'].map((option) => help.includes(`  ${option} `));
      assert.equal(takes, looks ? [false, false] : [true, true], `${group} ${command}`);
      acts += looks ? 0 : 1;
    }
  }
  assert.ok(acts > 25, `${acts} commands record something`);
});

test('all that a command records says why', async () => {
  const why = ['--reason', 'opening the west', '--ticket', 'NET-7'];
  await edgeward.json('region', 'create', 'eu-west', ...why);
  await edgeward.json('customer', 'create', 'Acme', '--webhook-url', 'https://example.com/', ...why);
  await edgeward.json(
    'subnet',
    'add',
    'Acme',
    '192.0.2.0/24',
    '--region',
    'eu-west',
    '--asn',
    '64500',
    '--metro',
    'A',
    ...why,
  );
  await edgeward.json('token', 'create', 'Acme', ...why);
  const events = await edgeward.json('events', '--all');
  assert.ok(Array.isArray(events) && events.length > 6);
  for (const { type, data } of events) {
    assert.equal([data.reason, data.ticket], ['opening the west', 'NET-7'], type);
  }
});

test('a reason that is too long, empty or of control characters is a misuse, and nothing is recorded', async () => {
  const before = await edgeward.end();
  for (const [option, text, message] of [
    ['--reason', 'x'.repeat(501), '--reason must be text of 1 to 500 characters.'],
    ['--reason', '', '--reason must be text of 1 to 500 characters.'],
    ['--reason', '\u001B[2J', '--reason must not have control characters.'],
    ['--ticket', 'x'.repeat(101), '--ticket must be text of 1 to 100 characters.'],
    ['--ticket', 'a\nb', '--ticket must be one line, without control characters.'],
  ] as const) {
    const { exitCode, err } = await edgeward.command('region', 'create', 'us-east', option, text);
    assert.equal([exitCode, err], [2, `edgeward: ${message}\n`]);
  }
  assert.is(await edgeward.end(), before);
});

test.run();
