// The files of the log are removed, renamed or replaced under a running server: nothing is answered that nobody would find again.
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { submitForm } from '../http/customer/source-whitelist-examples.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite('a log that is lost under a running server');

type Scene = Readonly<{ edgeward: Edgeward; api: ApiClient; url: string; log: string; end: () => Promise<void> }>;

async function serving(): Promise<Scene> {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'eu-west');
  const { token } = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], ['--allow-source-whitelist']);
  const url = await edgeward.serve();
  const api = openApiClient(url, token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.1' })).status, 200);
  return {
    edgeward,
    api,
    url,
    log: join(edgeward.dataDir, 'events.db'),
    end: async () => {
      await api.close();
      await edgeward.remove();
    },
  };
}

const readyz = async ({ url }: Scene): Promise<number> => (await fetch(`${url}/readyz`)).status;

function errorLines({ edgeward }: Scene): readonly string[] {
  return edgeward
    .logged()
    .filter(({ level }) => level === 'error')
    .map((line) => JSON.stringify(line));
}

const LOSSES: Readonly<Record<string, readonly [lose: (log: string) => void, lost: string]>> = {
  'events.db is removed': [(log) => rmSync(log), 'events.db'],
  'it is removed with its companions': [(log) => ['', '-wal', '-shm'].forEach((end) => rmSync(log + end)), 'events.db'],
  'it is renamed': [(log) => renameSync(log, `${log}.away`), 'events.db'],
  'it is replaced by its own copy': [
    (log) => {
      copyFileSync(log, `${log}.copy`);
      renameSync(`${log}.copy`, log);
    },
    'events.db',
  ],
  'its newest changes are removed': [(log) => rmSync(`${log}-wal`), 'events.db-wal'],
  'what keeps processes apart is removed': [(log) => rmSync(`${log}-shm`), 'events.db-shm'],
  'its directory is moved away': [(log) => renameSync(join(log, '..'), join(log, '..', '..', 'away')), 'events.db'],
};

for (const [what, [lose, lost]] of Object.entries(LOSSES)) {
  test(`${what}: no change is answered 200 from then on, readyz is 503, an error line names the file`, async () => {
    const scene = await serving();
    const { api, log } = scene;
    lose(log);
    const answers = await Promise.all([2, 3, 4].map((host) => api.post('/ips/disable', { ip: `203.0.113.${host}` })));
    for (const { status, headers } of answers) {
      assert.is(status, 503);
      assert.ok(Number(headers['retry-after']) > 0);
    }
    assert.is(await readyz(scene), 503);
    await waitUntil(
      'nothing is read from what may be out of date',
      async () => (await api.get('/subnets')).status === 503,
    );
    assert.is((await api.post('/ips/disable', { ip: '203.0.113.5' })).status, 503, 'and it stays so');
    const named = errorLines(scene).filter((line) => line.includes(`${join(log, '..', lost)} was removed or replaced`));
    assert.ok(named.length > 0, errorLines(scene).join('\n'));
    await scene.end();
  });
}

test('nobody asks: the loss is in the log all the same', async () => {
  const scene = await serving();
  rmSync(scene.log);
  await waitUntil('an error line names the file', () =>
    errorLines(scene).some((line) => line.includes(`${scene.log} was removed or replaced while it was open`)),
  );
  await scene.end();
});

test('the same file comes back: all goes on as if nothing had been', async () => {
  const scene = await serving();
  const { api, log, edgeward } = scene;
  renameSync(log, `${log}.away`);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.2' })).status, 503);
  await waitUntil('readers are told', async () => (await api.get('/subnets')).status === 503);
  renameSync(`${log}.away`, log);
  await waitUntil('it is ready again', async () => (await readyz(scene)) === 200);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.3' })).status, 200);
  const { text } = await api.get('/subnets/1/pending');
  assert.match(text, '"203.0.113.1"');
  assert.not.match(text, '"203.0.113.2"', 'what was refused was not recorded');
  assert.match(text, '"203.0.113.3"');
  assert.match(JSON.stringify(await edgeward.json('verify')), '"problems":[]');
  await scene.end();
});

test('each answer of 500 and more has its cause in the log, by its request id', async () => {
  const scene = await serving();
  const { api, log, edgeward, url } = scene;
  rmSync(log);
  const change = await api.post('/ips/disable', { ip: '203.0.113.2' });
  await waitUntil('readers are told', async () => (await api.get('/subnets')).status === 503);
  const ids = [change.headers['x-request-id'], (await api.get('/subnets')).headers['x-request-id']];
  for (const path of ['/readyz', '/api/v1/nothing', '/nothing']) {
    const response = await fetch(url + path);
    assert.is(response.status, 503, path);
    ids.push(response.headers.get('x-request-id') ?? '');
  }
  for (const id of ids) {
    const line = await waitUntil('it is logged', () =>
      edgeward.logged().find(({ level, requestId }) => level === 'error' && requestId === id),
    );
    assert.match(JSON.stringify(line['error']), /removed or replaced|can not be read|unreachable/);
  }
  await scene.end();
});

test('the directory of evidence is removed: an upload is 503, its path is in the log, the rest goes on', async () => {
  const scene = await serving();
  const { api, edgeward } = scene;
  rmSync(join(edgeward.dataDir, 'evidence'), { recursive: true });
  const { status } = await submitForm(api, { cidr: '192.31.196.0/28' });
  assert.is(status, 503);
  assert.ok(errorLines(scene).some((line) => line.includes(join(edgeward.dataDir, 'evidence'))));
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.2' })).status, 200);
  await scene.end();
});

test.run();
