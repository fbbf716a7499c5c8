import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const LIST = 'Svc-ACME-CORP-BLACKHOLE';

const edgeward = await openEdgeward({ COMMIT_RETRY_DELAYS: 'PT0.2S', SCHEDULER_INTERVAL: 'PT0.1S' });
await addRegion(edgeward, 'eu-west', 2);
await addRegion(edgeward, 'us-east', 1);
await addRegion(edgeward, 'nowhere', 0);
await addRegion(edgeward, 'half', 1);
const missing = join(edgeward.folder, 'not-there-yet');
await edgeward.json('router', 'add', 'half', 'half-broken', '--driver', 'file', '--option', `path=${missing}`);
rmSync(missing, { recursive: true });
const acme = await addCustomer(
  edgeward,
  'Acme Corp.',
  [
    ['203.0.113.0/24', 'eu-west'],
    ['198.51.100.0/24', 'us-east'],
    ['192.0.2.0/24', 'half'],
    ['2001:db8::/48', 'eu-west'],
    ['100.64.0.0/24', 'nowhere'],
  ],
  ['--allow-synchronous'],
);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

function held(router: string): string {
  return readFileSync(join(edgeward.folder, router, LIST), 'utf8');
}

async function recordedBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await edgeward.events()).length;
  await work();
  return (await edgeward.events()).slice(before).map(({ type }) => type);
}

test('the push happens inside the request, to every router of the region', async () => {
  const { status, text } = await api.post('/ips/disable', { ip: '203.0.113.7', synchronous: true });
  assert.is(status, 200);
  assert.is(
    text,
    '{"data":{"address":"203.0.113.7","status":"disabled","pending_change":false},' +
      '"meta":{"synchronous":true,"commit_status":"success","pending_changes":0}}',
  );
  assert.is(held('eu-west'), '203.0.113.7/32\n');
  assert.is(held('eu-west-2'), '203.0.113.7/32\n');
  assert.match((await api.get('/subnets/1/pending')).text, '"ips":[]},"meta":{"pending_changes":0}');
});

test('it carries all that is pending in the region', async () => {
  await api.post('/ips/bulk', { action: 'disable', range: { start: '203.0.113.8', end: '203.0.113.15' } });
  await api.post('/ips/bulk', { action: 'disable', cidr: '2001:db8:0:ff00::/56' });
  await api.post('/ips/disable', { ip: '198.51.100.1' });
  const { text } = await api.post('/ips/enable', { ip: '203.0.113.7', synchronous: true });
  assert.match(text, '"status":"enabled","pending_change":false}');
  assert.match(text, '"meta":{"synchronous":true,"commit_status":"success","pending_changes":0}');
  assert.is(held('eu-west'), '203.0.113.8/29\n2001:db8:0:ff00::/56\n');
  assert.match((await api.get('/subnets/2')).text, '"meta":{"pending_changes":1}', 'the other region waits');
});

test('without the word it stays a later push, also for such an account', async () => {
  const { text } = await api.post('/ips/disable', { ip: '203.0.113.99', synchronous: false });
  assert.is(
    text,
    '{"data":{"address":"203.0.113.99","status":"disabled","pending_change":true},"meta":{"pending_changes":1}}',
  );
});

test('what is already so but pending is pushed all the same', async () => {
  const recorded = await recordedBy(async () => {
    const { text } = await api.post('/ips/disable', { ip: '203.0.113.99', synchronous: true });
    assert.match(
      text,
      '"pending_change":false},"meta":{"synchronous":true,"commit_status":"success","pending_changes":0}',
    );
  });
  assert.equal(recorded, ['CommitRequested', 'CommitCompleted']);
});

test('what is already so and deployed succeeds at once, and nothing is recorded', async () => {
  for (const [path, body] of [
    ['/ips/disable', { ip: '203.0.113.99' }],
    ['/ips/enable', { ip: '203.0.113.200' }],
    ['/ips/bulk', { action: 'enable', cidr: '203.0.113.128/25' }],
    ['/ips/bulk', { action: 'disable', cidr: '192.88.99.0/24' }],
  ] as const) {
    const recorded = await recordedBy(async () => {
      const { text } = await api.post(path, { ...body, synchronous: true });
      assert.match(text, '"synchronous":true,"commit_status":"success","pending_changes":0}');
    });
    assert.equal(recorded, [], path);
  }
});

test('a call that changes nothing deploys what else is pending in the regions that it names', async () => {
  for (const [at, [path, body]] of (
    [
      ['/ips/enable', { ip: '203.0.113.200' }],
      ['/ips/disable', { ip: '203.0.113.99' }],
      ['/ips/bulk', { action: 'enable', ips: ['203.0.113.200', '203.0.113.201'] }],
      ['/ips/bulk', { action: 'disable', range: { start: '203.0.113.99', end: '203.0.113.99' } }],
      ['/ips/bulk', { action: 'enable', cidr: '203.0.113.224/27' }],
    ] as const
  ).entries()) {
    await api.post('/ips/disable', { ip: `203.0.113.${210 + at * 2}` });
    const recorded = await recordedBy(async () => {
      const { text } = await api.post(path, { ...body, synchronous: true });
      assert.match(text, '"synchronous":true,"commit_status":"success","pending_changes":0}');
    });
    assert.equal(recorded, ['CommitRequested', 'CommitCompleted']);
    assert.match(held('eu-west'), `203.0.113.${210 + at * 2}/32\n`);
  }
});

test('a success has nothing pending, whoever changes something meanwhile', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      api.post('/ips/disable', { ip: `2001:db8::${(at + 1).toString(16)}`, synchronous: at % 2 === 0 }),
    ),
  );
  for (const [at, { text }] of answers.entries())
    if (at % 2 === 0) assert.match(text, '"commit_status":"success","pending_changes":0}');
});

test('a bulk call deploys every region that it touched', async () => {
  const { status, text } = await api.post('/ips/bulk', {
    action: 'disable',
    ips: ['203.0.113.1', '198.51.100.2', '198.51.100.3'],
    synchronous: true,
  });
  assert.is(status, 200);
  assert.is(
    text,
    '{"data":{"changed":3,"action":"disable"},"meta":{"synchronous":true,"commit_status":"success","pending_changes":0}}',
  );
  assert.match(held('eu-west'), '203.0.113.1/32\n');
  assert.is(held('us-east'), '198.51.100.1/32\n198.51.100.2/31\n');
});

test('a region without routers has nothing to wait for', async () => {
  const { text } = await api.post('/ips/disable', { ip: '100.64.0.1', synchronous: true });
  assert.match(
    text,
    '"pending_change":false},"meta":{"synchronous":true,"commit_status":"success","pending_changes":0}',
  );
});

test('requests at the same moment all wait for a commit that carries them', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      api.post('/ips/disable', { ip: `198.51.100.${128 + at * 2}`, synchronous: true }),
    ),
  );
  for (const { status, text } of answers) {
    assert.is(status, 200);
    assert.match(text, '"pending_change":false},"meta":{"synchronous":true,"commit_status":"success"');
  }
  const expected = [1, 2, ...Array.from({ length: 20 }, (_, at) => 128 + at * 2)];
  assert.is(held('us-east'), expected.map((last) => `198.51.100.${last}/${last === 2 ? 31 : 32}\n`).join(''));
});

test('a router that fails: recorded, pending, 200, and tried again until it gets through', async () => {
  const single = await api.post('/ips/disable', { ip: '192.0.2.1', synchronous: true });
  assert.is(single.status, 200);
  assert.is(
    single.text,
    '{"data":{"address":"192.0.2.1","status":"disabled","pending_change":true},' +
      '"meta":{"synchronous":true,"commit_status":"failed","pending_changes":1}}',
  );
  assert.is(held('half'), '192.0.2.1/32\n', 'the router that works has it');
  const bulk = await api.post('/ips/bulk', { action: 'disable', ips: ['192.0.2.2', '203.0.113.2'], synchronous: true });
  assert.is(
    bulk.text,
    '{"data":{"changed":2,"action":"disable"},"meta":{"synchronous":true,"commit_status":"failed","pending_changes":2}}',
    'what is on the routers of the other region is not pending',
  );
  mkdirSync(missing);
  await waitUntil('it has got through', async () => (await api.get('/subnets/3')).text.includes('"pending_changes":0'));
  assert.is(readFileSync(join(missing, LIST), 'utf8'), '192.0.2.1/32\n192.0.2.2/32\n');
});

test('a customer that may no longer is refused before anything is looked at', async () => {
  await edgeward.json('customer', 'update', 'Acme Corp.', '--no-allow-synchronous');
  await waitUntil('the server knows', async () => (await api.post('/ips/bulk', { synchronous: true })).status === 403);
  const recorded = await recordedBy(async () => {
    const answer = await api.post('/ips/disable', { ip: '203.0.113.3', synchronous: true });
    assert.is(answer.status, 403);
    assert.equal(answer.json, { message: 'synchronous mode is not enabled for your account' });
  });
  assert.equal(recorded, []);
});

test('a router that takes its time: in progress, and the deployment goes on', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const slow = await openEdgeward({ SYNCHRONOUS_TIMEOUT: 'PT0.2S' });
  try {
    await addRegion(slow, 'far-away', 0);
    writeFileSync(join(slow.folder, 'secret'), 'let me in');
    const options = [
      'transport=ssh',
      'host=127.0.0.1',
      `port=${port}`,
      'user=edgeward',
      `password=${slow.folder}/secret`,
    ];
    const pin = `host_key=SHA256:${Buffer.alloc(32).toString('base64').replace(/=+$/, '')}`;
    await slow.json(
      'router',
      'add',
      'far-away',
      'silent',
      '--driver',
      'frr',
      ...[...options, pin].flatMap((option) => ['--option', option]),
    );
    const { token } = await addCustomer(slow, 'Patient', [['203.0.113.0/24', 'far-away']], ['--allow-synchronous']);
    const client = openApiClient(await slow.serve(), token);
    for (const times of [1, 2]) {
      const { status, text } = await client.post('/ips/disable', { ip: '203.0.113.7', synchronous: true });
      assert.is(status, 200, `${times}`);
      assert.is(
        text,
        '{"data":{"address":"203.0.113.7","status":"disabled","pending_change":true},' +
          '"meta":{"synchronous":true,"commit_status":"in_progress","pending_changes":1}}',
      );
    }
    const bulk = await client.post('/ips/bulk', { action: 'disable', ips: ['203.0.113.8'], synchronous: true });
    assert.match(
      bulk.text,
      '"changed":1,"action":"disable"},"meta":{"synchronous":true,"commit_status":"in_progress","pending_changes":2}',
    );
    silent.close();
    for (const socket of sockets) socket.destroy();
    await waitUntil('the deployment has ended', async () =>
      (await slow.events()).some(({ type }) => type === 'CommitFailed'),
    );
    await client.close();
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await slow.remove();
  }
});

test.run();
