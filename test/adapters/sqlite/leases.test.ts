import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteLeases } from '../../../src/adapters/sqlite/leases.ts';
import type { Leases } from '../../../src/ports/leases.ts';
import { leasesContract } from '../../contracts/leases.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { repositoryFile } from '../../support/repository.ts';

leasesContract('leases as lock files', async () => {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'locks');
  return { open: async (label) => openSqliteLeases({ directory, label }), stop: remove };
});

type Context = { directory: string; leases: Leases; remove: () => Promise<void> };
const test = suite<Context>('a lock file');

test.before.each(async (context) => {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'locks');
  Object.assign(context, {
    directory,
    remove,
    leases: openSqliteLeases({ directory, label: 'test' }),
  } satisfies Context);
});
test.after.each(async ({ leases, remove }) => {
  await leases.close();
  await remove();
});

test('who has the lease is said with its process id', async ({ leases, directory }) => {
  const holder = await startHolding(directory, 'server');
  assert.equal(await leases.tryAcquire('server'), { heldBy: `pid ${holder.child.pid} (holder)` });
  await holder.kill();
});

test('a killed process holds nothing, and its fence is passed', async ({ leases, directory }) => {
  for (let life = 0; life < 3; life += 1) {
    const holder = await startHolding(directory, 'server');
    assert.ok('heldBy' in (await leases.tryAcquire('server')));
    await holder.kill();
    const lease = await leases.tryAcquire('server');
    assert.ok('fence' in lease && lease.fence > holder.fence);
    if ('fence' in lease) await lease.release();
  }
});

test('whoever waits gets the lease of a killed process', async ({ leases, directory }) => {
  const holder = await startHolding(directory, 'server');
  const waiting = leases.acquire('server', new AbortController().signal);
  await holder.kill();
  assert.ok((await waiting).fence > holder.fence);
});

test('a lease whose file was removed is lost', async ({ leases, directory }) => {
  const lease = await leases.acquire('server', new AbortController().signal);
  rmSync(join(directory, 'server.lease'));
  await waitUntil('the lease is lost', () => lease.lost.aborted);
  assert.match(String(lease.lost.reason), 'the lease server is lost');
});

test('a lease whose file can not be looked at is lost, and nothing else happens to who held it', async ({
  leases,
  directory,
}) => {
  const lease = await leases.acquire('server', new AbortController().signal);
  renameSync(directory, `${directory}-moved`);
  writeFileSync(directory, 'no folder any more');
  await waitUntil('the lease is lost', () => lease.lost.aborted);
  assert.match(String(lease.lost.reason), 'the lease server is lost');
  // From Node 24 on a path through a file is told as one that is not there.
  assert.match(String(lease.lost.reason), /ENOTDIR|was removed/);
});

test('the files are for the owner alone', async ({ leases, directory }) => {
  await leases.tryAcquire('server');
  assert.is(statSync(directory).mode & 0o777, 0o700);
  for (const name of ['server.lease', 'server.lease.holder']) {
    assert.is(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  }
});

test('a file that is no lease is not touched', async ({ leases, directory }) => {
  writeFileSync(join(directory, 'server.lease'), 'something else entirely, and long enough to be read as a file');
  assert.instance(await leases.tryAcquire('server').catch((error: unknown) => error), Error);
});

for (const name of ['', '.', '..', '../server', 'a/b', 'a\0b', 'a b', 'ä', 'x'.repeat(129)]) {
  test(`is no name of a lease: ${JSON.stringify(name.slice(0, 20))}`, async ({ leases }) => {
    assert.instance(await leases.tryAcquire(name).catch((error: unknown) => error), RangeError);
  });
}

test.run();

async function startHolding(
  directory: string,
  name: string,
): Promise<Readonly<{ child: ChildProcessWithoutNullStreams; fence: bigint; kill: () => Promise<void> }>> {
  const program = repositoryFile('test/adapters/sqlite/holding-process.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, directory, name]);
  child.stderr.pipe(process.stderr);
  const [said] = await once(child.stdout, 'data');
  const kill = async (): Promise<void> => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return { child, fence: BigInt(String(said).trim()), kill };
}
