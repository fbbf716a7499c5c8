import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { adminToken, openAdminClient } from '../../support/http/admin-client.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const sockets = new Set<Socket>();
let [connections, most] = [0, 0];
/** A router that takes connections and never says a word. */
const silent = createServer((socket) => {
  connections += 1;
  sockets.add(socket.resume());
  most = Math.max(most, sockets.size);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
}).listen(0, '127.0.0.1');
await once(silent, 'listening');
const place = silent.address();
const port = typeof place === 'object' && place !== null ? place.port : 0;

const edgeward = await openEdgeward();
const ada = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
const url = await edgeward.serve();
const api = openAdminClient(url, ada.token);

test.before(async () => {
  const password = `${edgeward.folder}/password`;
  writeFileSync(password, 'let me in');
  const options = [
    'transport=ssh',
    'host=127.0.0.1',
    `port=${port}`,
    'user=edgeward',
    `password=${password}`,
    `host_key=SHA256:${Buffer.alloc(32).toString('base64').replace(/=+$/, '')}`,
    'connect_seconds=25',
  ].flatMap((option) => ['--option', option]);
  assert.is((await api.put('/regions/eu-west', {})).status, 201);
  // Over HTTP no option of a router may name a file.
  await edgeward.json('router', 'add', 'eu-west', 'silent', '--driver', 'frr', ...options);
  assert.is((await api.put('/customers/Acme', {})).status, 201);
});

test.after(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await api.close();
  await edgeward.remove();
});

/** Sends a request over a connection of its own; gives the status of its answer, or that there is none, and how its client goes away. */
function ask(path: string, method = 'GET') {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const answered = new Promise<number | 'none'>((resolve) => {
    socket.once('data', (start) => resolve(Number(String(start).split(' ')[1])));
    socket.once('close', () => resolve('none'));
  });
  socket.on('error', () => undefined);
  const headers = ['Host: edgeward', `Authorization: Bearer ${ada.token}`, 'Connection: close'];
  const body = method === 'GET' ? '' : '{}';
  if (body !== '') headers.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  socket.write(`${method} /api/admin/v1${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  return { answered, leave: () => void socket.resetAndDestroy() };
}

test('of a region no more differences are read than a few, and none for clients that have gone', async () => {
  const [atOnce, waiting] = [4, 32];
  most = 0;
  const clients = Array.from({ length: atOnce + waiting + 1 }, () => ask('/commits/diff?customer=Acme&region=eu-west'));
  assert.is(await Promise.race(clients.map(({ answered }) => answered)), 503);
  await waitUntil('the first are read', () => sockets.size === atOnce);
  for (const { leave } of clients) leave();
  const answers = await Promise.all(clients.map(({ answered }) => answered));
  assert.is(answers.filter((answer) => answer === 'none').length, atOnce + waiting);
  await waitUntil('the router is left alone', () => sockets.size === 0, 20);
  assert.is(most, atOnce);
});

test('a router is checked for one call at a time, also when its client has gone', async () => {
  const check = '/regions/eu-west/routers/silent/check';
  const before = connections;
  const first = ask(check, 'POST');
  await waitUntil('the router is looked at', () => connections > before);
  const end = await edgeward.end();
  const second = await api.post(check);
  assert.equal([second.status, second.text.includes('router silent is being checked already.')], [409, true]);
  first.leave();
  assert.is(await first.answered, 'none');
  assert.is((await api.post(check)).status, 409);
  assert.is(await edgeward.end(), end);
  silent.close();
  for (const socket of sockets) socket.destroy();
  await waitUntil('it is checked again', async () => (await api.post(check)).status === 200);
});

test.run();
