// Routers that move, and routers that leave: on directories, beside a running server.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

type Context = { edgeward: Edgeward; old: string };

const test = suite<Context>('router update, router drain');

test.before.each(async (context) => {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'ams', 2);
  const { token } = await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']]);
  const api = openApiClient(await edgeward.serve(), token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
  await edgeward.json('commit', 'run', 'acme', 'ams');
  await api.close();
  Object.assign(context, { edgeward, old: join(edgeward.folder, 'ams') });
});
test.after.each(({ edgeward }) => edgeward.remove());

test('a router that moved is spoken to where it is now, once that was tried', async ({ edgeward, old }) => {
  const moved = join(edgeward.folder, 'moved');
  const update = (...more: readonly string[]) =>
    edgeward.command('router', 'update', 'ams-edge1', '--option', `path=${moved}`, ...more);
  const before = await edgeward.json('router', 'list');
  const refused = await update();
  assert.is(refused.exitCode, 1);
  assert.match(refused.err, 'nothing was changed (--force');
  assert.equal(await edgeward.json('router', 'list'), before);

  mkdirSync(moved);
  assert.match((await update('--reason', 'new rack')).out, 'router ams-edge1 updated');
  assert.match((await update()).out, 'router ams-edge1 unchanged');
  assert.match(JSON.stringify(await edgeward.json('router', 'list')), moved);
  await edgeward.json('router', 'check', 'ams-edge1');
  assert.is(readFileSync(join(moved, 'Svc-ACME-BLACKHOLE'), 'utf8'), '203.0.113.7/32\n');
  assert.match(JSON.stringify(await edgeward.json('events', '--region', 'ams')), 'new rack');
  assert.equal(readdirSync(old), ['Svc-ACME-BLACKHOLE'], 'what the old place holds stays as it is');
});

test('options that can not be right are refused, forced or not; what is out of reach is taken by force', async ({
  edgeward,
}) => {
  const update = async (...options: readonly string[]): Promise<number> =>
    (await edgeward.command('router', 'update', 'ams-edge1', ...options)).exitCode;
  assert.is(await update(), 2);
  assert.is(await update('--option', 'pth=/x', '--force'), 2);
  assert.is(await update('--unset', 'path', '--force'), 2);
  assert.is(await update('--option', `path=${join(edgeward.folder, 'nowhere')}`, '--force'), 0);
  assert.is((await edgeward.command('router', 'update', 'core9', '--force', '--option', 'path=/x')).exitCode, 3);
});

test('a drained router holds nothing of ours, the others everything; then it can be removed', async ({
  edgeward,
  old,
}) => {
  const drained = await edgeward.json('router', 'drain', 'ams-edge1', '--reason', 'end of life');
  assert.match(JSON.stringify(drained), '"state":"disabled","removed":["Svc-ACME-BLACKHOLE"],"problems":[]');
  assert.equal(readdirSync(old), []);
  await edgeward.json('commit', 'run', 'acme', 'ams');
  assert.equal(readdirSync(old), [], 'commits pass it by');
  assert.is(readFileSync(join(edgeward.folder, 'ams-2', 'Svc-ACME-BLACKHOLE'), 'utf8'), '203.0.113.7/32\n');
  const again = await edgeward.json('router', 'drain', 'ams-edge1');
  assert.match(JSON.stringify(again), '"removed":[]');
  await edgeward.json('router', 'remove', 'ams-edge1');
});

test('while a restored log does not explain what routers hold, none is drained', async ({ edgeward, old }) => {
  await edgeward.stop();
  const backup = join(edgeward.folder, 'backup');
  await edgeward.json('stores', 'backup', backup);
  const other = await openEdgeward({ DATA_DIR: join(edgeward.folder, 'other') });
  await other.json('stores', 'restore', backup);
  const { exitCode, err } = await other.command('router', 'drain', 'ams-edge1');
  await other.remove();
  assert.is(exitCode, 4);
  assert.match(err, 'edgeward restore accept first');
  assert.equal(readdirSync(old), ['Svc-ACME-BLACKHOLE']);
});

test.run();
