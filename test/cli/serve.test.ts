import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { openRawConnection } from '../support/http/raw-http.ts';
import { waitUntil } from '../support/wait-until.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['10.0.0.0/16', 'eu-west']], ['--allow-synchronous']);

test.after(() => edgeward.remove());

const POST = `POST /api/v1/ips/disable HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${acme.token}\r\nContent-Type: application/json\r\n`;

test('the log is JSON, one line a message, and holds no token', async () => {
  const serving = await edgeward.spawn(['serve']);
  const api = openApiClient(await serving.listening(), acme.token);
  await api.get('/subnets');
  await waitUntil('the request is logged', () => serving.out().includes('"path":"/api/v1/subnets"'));
  for (const line of serving.out().trim().split('\n'))
    z.object({ level: z.string(), time: z.iso.datetime(), msg: z.string() }).parse(JSON.parse(line));
  assert.not.match(serving.out() + serving.err(), acme.token);
  await api.close();
  serving.child.kill('SIGINT');
  assert.is(await serving.ended, 0);
  assert.is(serving.err(), '');
});

test('a port in use is told by its setting, before the server leads or answers anything', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const place = other.address();
  const port = String(typeof place === 'object' && place !== null ? place.port : 0);
  for (const setting of ['PORT', 'METRICS_PORT']) {
    const serving = await edgeward.spawn(['serve'], { [setting]: port });
    assert.is(await serving.ended, 78, serving.out());
    assert.match(serving.err(), `edgeward: bad settings: ${setting}: 127.0.0.1:${port} is in use by another program`);
    assert.not.match(serving.out(), 'leads');
  }
  other.close();
});

test('a port of pages that are not served may be in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const place = other.address();
  const port = String(typeof place === 'object' && place !== null ? place.port : 0);
  const serving = await edgeward.spawn(['serve'], { ADMIN_PORT: port, ADMIN_ENABLED: 'false' });
  await serving.listening();
  serving.child.kill('SIGINT');
  assert.is(await serving.ended, 0);
  other.close();
});

test('HOST that is no address of this machine is a bad setting', async () => {
  const serving = await edgeward.spawn(['serve'], { HOST: '192.0.2.1' });
  assert.is(await serving.ended, 78, serving.out());
  assert.match(serving.err(), 'edgeward: bad settings: HOST: 192.0.2.1 is no address of this machine');
});

test('a request in flight is answered before SIGTERM ends the server with 0', async () => {
  const serving = await edgeward.spawn(['serve']);
  const url = await serving.listening();
  const idle = await openRawConnection(url);
  const inFlight = await openRawConnection(url);
  const body = '{"ip":"10.0.0.1","synchronous":true}';
  inFlight.send(`${POST}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
  assert.is((await inFlight.answer()).status, 100);
  serving.child.kill('SIGTERM');
  await waitUntil('the server is stopping', () => serving.out().includes('"msg":"stopping"'));
  await idle.closed;
  await assertRefused(url);
  inFlight.send(body);
  await waitUntil('the answer', () => inFlight.received().includes('"commit_status":"success"'));
  await inFlight.closed;
  assert.is(await serving.ended, 0);
  assert.match(serving.out(), '"msg":"stopped"');
});

async function assertRefused(url: string): Promise<void> {
  const refused = await openRawConnection(url).then(
    () => false,
    () => true,
  );
  assert.ok(refused, 'nobody new gets in');
}

test('a list under way is sent to its end', async () => {
  const serving = await edgeward.spawn(['serve']);
  const reader = await openRawConnection(await serving.listening());
  reader.socket.pause();
  reader.send(`GET /api/v1/subnets/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`);
  await waitUntil('it has begun', () => reader.socket.readableLength > 0);
  serving.child.kill('SIGTERM');
  await waitUntil('the server is stopping', () => serving.out().includes('"msg":"stopping"'));
  reader.socket.resume();
  await reader.closed;
  assert.ok(reader.received().endsWith('"meta":{"pending_changes":0}}\r\n0\r\n\r\n'));
  assert.is(await serving.ended, 0);
});

test('a deployment that does not end is given up after its time, and goes on after the restart', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const far = await openEdgeward({
    DEPLOY_TIMEOUT: 'PT0.5S',
    SYNCHRONOUS_TIMEOUT: 'PT0.1S',
    SCHEDULER_INTERVAL: 'PT0.1S',
    COMMIT_RETRY_DELAYS: 'PT0.1S',
  });
  try {
    await addRegion(far, 'far-away', 0);
    writeFileSync(join(far.folder, 'secret'), 'let me in');
    const pin = `host_key=SHA256:${Buffer.alloc(32).toString('base64').replace(/=+$/, '')}`;
    const options = ['transport=ssh', 'host=127.0.0.1', `port=${port}`, 'user=x', `password=${far.folder}/secret`, pin];
    await far.json(
      'router',
      'add',
      'far-away',
      'silent',
      '--driver',
      'frr',
      ...options.flatMap((option) => ['--option', option]),
    );
    const { token } = await addCustomer(far, 'Patient', [['203.0.113.0/24', 'far-away']], ['--allow-synchronous']);
    const serving = await far.spawn(['serve']);
    const api = openApiClient(await serving.listening(), token);
    const { text } = await api.post('/ips/disable', { ip: '203.0.113.7', synchronous: true });
    assert.match(text, '"commit_status":"in_progress"');
    await api.close();
    serving.child.kill('SIGTERM');
    await waitUntil('it is given up', () => serving.out().includes('"msg":"commit failed"'));
    for (const socket of sockets) socket.destroy();
    assert.is(await serving.ended, 0);
    await far.json('router', 'remove', 'silent');
    await far.serve();
    await waitUntil('it is deployed', async () => (await far.events()).some(({ type }) => type === 'CommitCompleted'));
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await far.remove();
  }
});

test('a second server on the same data refuses and names the first', async () => {
  const first = await edgeward.spawn(['serve']);
  const url = await first.listening();
  const second = await edgeward.spawn(['serve']);
  assert.is(await second.ended, 1);
  assert.is(second.out(), '');
  assert.is(second.err(), `edgeward: another server runs on ${edgeward.dataDir}: pid ${first.child.pid} (serve)\n`);
  const api = openApiClient(url, acme.token);
  assert.is((await api.get('/subnets')).status, 200, 'the first goes on');
  await api.close();
  first.child.kill('SIGTERM');
  assert.is(await first.ended, 0);
  const third = await edgeward.spawn(['serve']);
  await third.listening();
  third.child.kill('SIGTERM');
  assert.is(await third.ended, 0);
});

test('an event that was altered ends the server at once, with its place', async () => {
  const spoilt = await openEdgeward();
  try {
    await addRegion(spoilt, 'eu-west');
    const db = openSqlite(join(spoilt.dataDir, 'events.db'));
    db.exec("UPDATE events SET data = replace(data, 'eu-west', 'eu-best') WHERE type = 'RegionCreated'");
    db.close();
    const serving = await spoilt.spawn(['serve']);
    assert.is(await serving.ended, 69);
    assert.match(
      serving.err(),
      /^edgeward: \/.*events\.db is damaged: event RegionCreated at position \d+ \(revision 0 of region-1\) .*its hash.*\n$/,
    );
  } finally {
    await spoilt.remove();
  }
});

test('bad settings end it with 78 and one line that names every one of them', async () => {
  const serving = await edgeward.spawn(['serve'], {
    PORT: '70000',
    QUIET_PERIOD: 'P1Y',
    SCHEDULER_INTERVAL: 'PT0S',
    DEPLOY_TIMEOUT: '-PT1S',
    EVENT_STORE_URL: 'postgres://localhost',
    READ_MODEL_URL: 'redis://localhost',
    WEBHOOK_ALLOW_PRIVATE: 'yes',
    TRUST_PROXY: 'not an address',
  });
  assert.is(await serving.ended, 78);
  assert.is(serving.out(), '');
  const lines = serving.err().trim().split('\n');
  assert.is(lines.length, 1);
  for (const variable of [
    'PORT',
    'QUIET_PERIOD',
    'SCHEDULER_INTERVAL',
    'DEPLOY_TIMEOUT',
    'EVENT_STORE_URL',
    'READ_MODEL_URL',
    'WEBHOOK_ALLOW_PRIVATE',
    'TRUST_PROXY',
  ])
    assert.match(lines[0] ?? '', variable);
});

test('a reader of its output that goes away is no failure to shout about', async () => {
  const listing = await edgeward.spawn(['events', 'Acme']);
  listing.child.stdout?.destroy();
  await listing.ended;
  assert.not.match(listing.err(), /EPIPE|\n\s+at /);
});

test('the demo that stays says where the pages for administrators are, with an account', async () => {
  const demo = await edgeward.spawn(['demo']);
  await waitUntil('it has played through', async () => demo.out().includes('The pages for administrators:'), 90);
  const [, url = '', name = '', password = ''] =
    /(http:\S+\/admin\/) \(name: (\S+), password: (\S+)\)/.exec(demo.out()) ?? [];
  const answer = await fetch(`${url}login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: new URL(url).origin },
    body: new URLSearchParams({ name, password }).toString(),
    redirect: 'manual',
  });
  assert.is(answer.status, 303);
  assert.match(String(answer.headers.get('set-cookie')), 'edgeward=');
  demo.child.kill('SIGINT');
  await demo.ended;
});

test('the demo plays the main job to its end and leaves nothing behind', async () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('edgeward-demo-'));
  const demo = await edgeward.npm(['run', 'demo', '--', '--exit']);
  assert.is(await demo.ended, 0, demo.err());
  const out = demo.out();
  assert.match(
    out,
    /the prefix-list as the router has it \(.*Svc-ACME-CORP-BLACKHOLE\):\n203\.0\.113\.7\/32\n203\.0\.113\.8\/29\n2001:db8:7:ff00::\/56\n/,
  );
  assert.match(
    out,
    /the webhook as it was received:\nwebhook-id: \S+\nwebhook-timestamp: \d+\nwebhook-signature: v1,\S+\n/,
  );
  assert.match(
    out,
    /\{"event":"commit_completed","commit_set_id":"[0-9a-f-]{36}","customer":"Acme Corp\.","prefix_list_name":"Svc-ACME-CORP-BLACKHOLE","region":"eu-west","status":"success","completed_at":"[^"]+\+00:00"\}/,
  );
  assert.match(out, '"meta":{"pending_changes":0}');
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith('edgeward-demo-') && !before.includes(name));
  assert.equal(after, []);
});

test.run();
