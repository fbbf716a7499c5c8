import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSecretFiles } from '../../../src/adapters/files/secrets.ts';
import { type SecretsUnderTest, secretsContract } from '../../contracts/secrets.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const start = async (): Promise<SecretsUnderTest & { directory: string }> => {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'data', 'secrets');
  return { directory, secrets: openSecretFiles(directory), reopen: () => openSecretFiles(directory), stop: remove };
};

const permissions = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

secretsContract('secrets in files', start);

test('the directory and the files are for the owner alone, whatever they were before', async () => {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'secrets');
  await mkdir(directory);
  await chmod(directory, 0o755);
  const secrets = openSecretFiles(directory);
  await secrets.put('webhook-12', 'x');
  await secrets.put('webhook-12', 'y');
  assert.is(await permissions(directory), '700');
  assert.is(await permissions(join(directory, 'webhook-12')), '600');
  assert.equal(await readdir(directory), ['webhook-12']);
  await remove();
});

test('a file that others may read is refused, and can be replaced', async () => {
  const { directory, secrets, stop } = await start();
  await writeFile(join(directory, 'router-core1'), 'known to all', { mode: 0o644 });
  const error = await secrets.get('router-core1').catch((thrown: unknown) => thrown);
  assert.match(String(error), 'secret router-core1 can be read by others (mode 644)');
  await secrets.put('router-core1', 'new');
  assert.is(await secrets.get('router-core1'), 'new');
  await stop();
});

test('a symbolic link, a directory and a pipe are no secrets', async () => {
  const { directory, secrets, stop } = await start();
  await symlink('/etc/hostname', join(directory, 'link'));
  await mkdir(join(directory, 'folder'), { mode: 0o700 });
  assert.is(spawnSync('mkfifo', ['-m', '600', join(directory, 'pipe')]).status, 0);
  for (const id of ['link', 'folder', 'pipe']) {
    assert.instance(await secrets.get(id).catch((thrown: unknown) => thrown), Error, id);
  }
  await stop();
});

test('what a killed process left half-written is removed at the next start; what a running one writes is not', async () => {
  const { directory, stop } = await start();
  const { pid } = spawnSync('true');
  await writeFile(join(directory, `.${pid}-draft`), 'ha');
  await writeFile(join(directory, `.${process.pid}-draft`), 'ha');
  openSecretFiles(directory);
  assert.equal(await readdir(directory), [`.${process.pid}-draft`]);
  await stop();
});

test.run();
