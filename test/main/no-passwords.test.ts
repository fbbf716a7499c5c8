import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/adapters/log.ts';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

const PASSWORD = 'hunter2';

/** Connection strings with a fault each: of the server that does not answer, of the option, of the URL itself. */
const EVENT_STORES = [
  `esdb://admin:${PASSWORD}@127.0.0.1:1`,
  `esdb://admin:${PASSWORD}@127.0.0.1:1?tlsVerifyCert=false`,
  `esdb://admin:${PASSWORD}@127.0.0.1:1?unknown=1`,
  `esdb://admin:${PASSWORD}@127.0.0.1:1?tls=perhaps`,
  `esdbs://admin:${PASSWORD}@127.0.0.1:1`,
];
const READ_MODELS = [
  `mongodb://admin:${PASSWORD}@127.0.0.1:1/edgeward?serverSelectionTimeoutMS=100`,
  `mongodb://admin:${PASSWORD}@127.0.0.1:1/edgeward?unknown=1`,
  `mongodb://admin:${PASSWORD}@more@127.0.0.1:1/edgeward`,
  `mongodb://admin:${PASSWORD}%zz@127.0.0.1:1/edgeward`,
  `mongodb://admin:x/${PASSWORD}@127.0.0.1:1/edgeward`,
  `mongodb+srv://admin:${PASSWORD}@127.0.0.1:1/edgeward`,
];

const test = suite('no URL with a password is printed');

test('a store that can not be opened is refused without it, exit code 69 or 78', async () => {
  const edgeward = await openEdgeward();
  await edgeward.json('region', 'list');
  const settings = [
    ...EVENT_STORES.map((url) => ({ EVENT_STORE_URL: url })),
    ...READ_MODELS.map((url) => ({ READ_MODEL_URL: url })),
  ];
  try {
    await aFewAtOnce(settings, async (setting) => {
      const ended = await edgeward.spawn(['region', 'list'], setting);
      const exitCode = await ended.ended;
      const hint = `${JSON.stringify(setting)}: ${ended.out()}${ended.err()}`;
      assert.ok(exitCode === 69 || exitCode === 78, `${exitCode} ${hint}`);
      assert.not.match(ended.out() + ended.err(), PASSWORD, hint);
    });
  } finally {
    await edgeward.remove();
  }
});

test('nor by a command whose arguments hold it, whatever is wrong with them', async () => {
  const edgeward = await openEdgeward();
  const url = `esdb://admin:${PASSWORD}@127.0.0.1:1?tls=false`;
  try {
    const commands = [
      [url],
      ['stores', 'copy', '--from', 'sqlite:', '--to', `x${url}`],
      ['stores', 'grant', url, '--as', `${url}&unknown=1`],
      ['stores', 'grant', 'edge', '--as', url],
      ['customer', 'create', 'Acme', '--webhook-url', `https://hooks:${PASSWORD}@receiver.example/in`],
    ];
    await aFewAtOnce(commands, async (args) => {
      const ended = await edgeward.spawn(args);
      assert.is.not(await ended.ended, 0, args.join(' '));
      assert.not.match(ended.out() + ended.err(), PASSWORD, `${args.join(' ')}: ${ended.out()}${ended.err()}`);
    });
  } finally {
    await edgeward.remove();
  }
});

test('nor by the log, in the message of an error, its causes or its fields', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: (line) => void lines.push(line) });
  const url = `mongodb://admin:${PASSWORD}@db.example/edgeward`;
  const error = new Error(`can not read ${url}`, { cause: new Error(`"${url}" is none`) });
  log.error({ error: Object.assign(error, { connectionString: url }) }, 'failed');
  assert.is(lines.length, 1);
  assert.not.match(lines.join(''), PASSWORD);
  assert.match(lines.join(''), 'mongodb://admin:…@db.example/edgeward');
});

async function aFewAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

test.run();
