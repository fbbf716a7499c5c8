import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandApplication } from '../../../src/main/application.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { readConfig } from '../../../src/config.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';
import { accepted } from '../../support/worker-pools/records.ts';
import { repositoryFile } from '../../support/repository.ts';

const edgeward = await openEdgeward();
test.after(() => edgeward.remove());

const script = repositoryFile('test/cli/worker-pools/playbook.sh');
const main = repositoryFile('dist/main.js');

writeFileSync(
  join(edgeward.folder, 'account.yaml'),
  'name: aws-main\nprovider_type: aws\nconfiguration: {region_name: eu-central-1}\ncredentials: {access_key_id: a, secret_access_key: b}\n',
);
writeFileSync(
  join(edgeward.folder, 'specifications.yaml'),
  [
    'provider_type: aws',
    'worker_install_source: daily-builds',
    'launch_templates:',
    '  - ImageId: ami-0a1b2c3d4e5f60718',
    '    InstanceRequirements:',
    '      VCpuCount: {Min: 2, Max: 8}',
    '      MemoryMiB: {Min: 4096}',
    '    NetworkInterfaces: []',
    '    tags: {team: build}',
    '',
  ].join('\n'),
);
writeFileSync(join(edgeward.folder, 'limits.json'), '{"max_active_instances": 10, "max_idle_seconds": 600}');
writeFileSync(join(edgeward.folder, 'scope-limits.yaml'), 'target_latency_seconds: 900\n');

type Said = Readonly<{ changed: boolean }>;

/** Runs a program and gives what it printed. */
function run(program: string, args: readonly string[], env: object = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { PATH } = process.env;
    const child = spawn(program, args, {
      env: { PATH, ...edgeward.settings, NODE: process.execPath, MAIN: main, ...env },
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${program} ended with ${code}: ${err}`)),
    );
  });
}

async function play(): Promise<readonly boolean[]> {
  const out = await run('sh', [script, edgeward.folder]);
  return out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as Said).changed);
}

async function used(month: string, zone: string): Promise<number> {
  const out = await run(process.execPath, [main, 'worker_pool', 'usage', 'spot', '--month', month, '--json'], {
    TZ: zone,
  });
  return (JSON.parse(out) as { used_seconds: number }).used_seconds;
}

test('a playbook makes everything as it says, and changes nothing the second time', async () => {
  // Builds the program where that is needed.
  await (
    await edgeward.spawn(['--version'])
  ).ended;
  assert.equal(await play(), [true, true, true, true, true]);
  const before = await edgeward.end();
  assert.equal(await play(), [false, false, false, false, false]);
  assert.is(await edgeward.end(), before, 'nothing is recorded');
});

test('what somebody changed by hand is put right, and only that is a change', async () => {
  await edgeward.json('worker_pool', 'disable', 'spot');
  await edgeward.json('scope', 'edit_worker_pool', 'debian', 'spot', '--priority', '1');
  assert.equal(await play(), [false, false, true, false, true]);
});

test('the months of a run are the same wherever the host believes to be', async () => {
  const withApplication = commandApplication(
    () => readConfig(edgeward.settings),
    createLog({ level: 'silent', destination: 'stderr' }),
  );
  await withApplication(async ({ workers }) => {
    const context = { actor: 'admin:test', requestId: 'test' };
    const architectures = ['amd64'] as const;
    const register = { worker: 'spot-001', pool: 'spot', architectures, at: '2024-01-01T00:00:00.000+00:00' };
    accepted(await workers.handle('spot-001', { type: 'RegisterWorker', data: register }, context));
    const launch = {
      run: 'a',
      providerAccount: 'aws-main',
      architectures,
      activationSha256: 'x',
      because: 'x',
      at: register.at,
    };
    accepted(await workers.handle('spot-001', { type: 'RequestLaunch', data: launch }, context));
    const created = { run: 'a', instanceCreatedAt: '2024-01-31T23:00:00.000+00:00', workerPoolData: {} };
    accepted(await workers.handle('spot-001', { type: 'RecordInstanceCreated', data: created }, context));
    const ended = { run: 'a', because: 'x', at: '2024-03-01T01:00:00.000+00:00' };
    accepted(await workers.handle('spot-001', { type: 'RecordInstanceTerminated', data: ended }, context));
    accepted(await workers.handle('spot-001', { type: 'RecordInstanceTerminated', data: ended }, context));
  });
  for (const zone of ['Pacific/Kiritimati', 'America/St_Johns']) {
    // A leap year: the instance ran the whole of February.
    assert.is(await used('2024-02', zone), 29 * 86_400, zone);
    assert.is(await used('2024-03', zone), 3600, zone);
  }
});

test.run();
