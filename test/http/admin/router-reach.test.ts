import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { adminToken, openAdminClient } from '../../support/http/admin-client.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const root = join(edgeward.folder, 'lists');
const ada = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
let api = openAdminClient(await edgeward.serve(), ada.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const SSH = { host: '192.0.2.1', user: 'edgeward', host_key: `SHA256:${'A'.repeat(43)}` };

const told = z.object({ errors: z.record(z.string(), z.array(z.string())).optional() });

/** What is told of the options when such a router is put: the option that is wrong, and why; and that nothing was recorded. */
async function put(driver: string, options: Readonly<Record<string, string>>, name = 'edge9') {
  const before = await edgeward.end();
  const answer = await api.put(`/regions/eu-west/routers/${name}`, { driver, options });
  const { errors = {} } = told.parse(answer.json);
  const [[option, [because = '']] = ['', []]] = Object.entries(errors);
  return { status: answer.status, option, because, hasChanged: (await edgeward.end()) !== before };
}

test('a region', async () => {
  assert.is((await api.put('/regions/eu-west', {})).status, 201);
});

for (const [driver, place] of [
  ['junos', {}],
  ['frr', { transport: 'ssh' }],
  ['bird', { transport: 'ssh' }],
] as const) {
  test(`${driver}: no file and no secret but a router's is sent to a router`, async () => {
    const login = { ...place, ...SSH };
    for (const value of ['/proc/self/environ', '/etc/nothing', 'secret:webhook-1', 'secret:', 'secret:Router-1'])
      for (const option of ['password', 'key']) {
        const { because, ...answer } = await put(driver, { ...login, [option]: value });
        assert.equal(answer, { status: 422, option: `options.${option}`, hasChanged: false }, value);
        assert.match(because, /must be secret:<id> of a secret whose id begins with "router-"/);
      }
    const passphrase = { ...login, key: 'secret:router-9', passphrase: '/etc/passwd' };
    assert.is((await put(driver, passphrase)).option, 'options.passphrase');
    assert.is((await put(driver, { ...login, password: 'secret:router-9' }, `${driver}-1`)).status, 201);
  });
}

test('no program is started on the server, and no file of it named', async () => {
  const wrong = [
    ['frr', 'command_prefix', '["sh","-c","id"]'],
    ['frr', 'vtysh', '/tmp/vtysh'],
    ['frr', 'vty_socket', '/tmp'],
    ['bird', 'command_prefix', '["sh","-c","id"]'],
    ['bird', 'birdc', '/tmp/birdc'],
    ['bird', 'directory', '/etc/cron.d'],
    ['bird', 'socket', '/tmp/socket'],
  ] as const;
  for (const [driver, option, value] of wrong) {
    const { because, ...answer } = await put(driver, { transport: 'local', [option]: value });
    assert.equal(answer, { status: 422, option: `options.${option}`, hasChanged: false });
    assert.match(because, /must be left out where commands run on the server itself/);
  }
  assert.is((await put('frr', { transport: 'local' }, 'beside')).status, 201);
  const there = { transport: 'ssh', ...SSH, key: 'secret:router-9', command_prefix: '["sudo","-n"]' };
  assert.is((await put('frr', there, 'away')).status, 201);
});

test('without ROUTER_FILES_ROOT no router is a folder, but for those that the command line has made', async () => {
  const { because, ...answer } = await put('file', { path: join(root, 'edge1') });
  assert.equal(answer, { status: 422, option: 'options.path', hasChanged: false });
  assert.match(because, /ROUTER_FILES_ROOT is not set/);
  const path = join(edgeward.folder, 'own');
  const made = await edgeward.command(
    'router',
    'add',
    'eu-west',
    'own',
    '--driver',
    'file',
    '--option',
    `path=${path}`,
  );
  assert.is(made.exitCode, 0, made.err);
  await edgeward.shown();
  assert.is((await put('file', { path }, 'own')).status, 200);
  assert.is((await put('file', { path: `${path}/below` }, 'own')).status, 422);
  assert.is((await put('file', { path }, 'another')).status, 422);
});

test('with it, a router is a folder below that one', async () => {
  await api.close();
  await edgeward.stop();
  api = openAdminClient(await edgeward.serve({ ROUTER_FILES_ROOT: root }), ada.token);
  for (const path of [root, `${root}/`, `${root}/../out`, `${root}s/edge1`, `${root}/a/../../out`, '/', 'edge1']) {
    const { because, ...answer } = await put('file', { path });
    assert.equal(answer, { status: 422, option: 'options.path', hasChanged: false }, path);
    assert.is(because, `option path must be the absolute path of a folder below ${root}.`);
  }
  assert.is((await put('file', { path: `${root}/edge1` }, 'edge1')).status, 201);
  assert.is((await put('file', { path: `${root}/edge2` }, 'edge1')).status, 409);
});

test.run();
