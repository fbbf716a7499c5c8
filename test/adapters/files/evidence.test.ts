import { mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { type EvidenceUnderTest, evidenceContract, putEvidence, sha256Of } from '../../contracts/evidence.ts';
import { filesBelow } from '../../support/files-below.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const start = async (): Promise<EvidenceUnderTest & { directory: string }> => {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'data', 'evidence');
  return {
    directory,
    evidence: openEvidenceFiles(directory),
    reopen: () => openEvidenceFiles(directory),
    count: async () => (await filesBelow(directory)).length,
    stop: remove,
  };
};

const permissions = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

evidenceContract('evidence in files', start);

test('a kept file is <customer>/<SHA-256>, for the owner alone', async () => {
  const { directory, evidence, stop } = await start();
  const stored = await putEvidence(evidence, 12, Buffer.from('proof'));
  await stored.keep();
  const file = join(directory, '12', sha256Of(Buffer.from('proof')));
  assert.equal(await filesBelow(directory), [file]);
  assert.is(await permissions(file), '600');
  for (const folder of [directory, join(directory, '12'), join(directory, 'incoming')]) {
    assert.is(await permissions(folder), '700');
  }
  await stop();
});

test('reading does not follow a symbolic link', async () => {
  const { directory, evidence, stop } = await start();
  const sha256 = sha256Of(Buffer.from('x'));
  await mkdir(join(directory, '7'));
  await writeFile(join(directory, 'elsewhere'), 'not evidence');
  await symlink(join(directory, 'elsewhere'), join(directory, '7', sha256));
  const thrown = await evidence.read({ customerId: 7, sha256 }).catch((error: unknown) => error);
  assert.match(String(thrown), 'ELOOP');
  await stop();
});

test('a directory that is gone makes the store unavailable, and is no half success', async () => {
  const { directory, evidence, stop } = await start();
  const draft = await evidence.begin(7);
  await draft.write(Buffer.from('proof'));
  await rm(directory, { recursive: true });
  for (const attempt of await Promise.allSettled([draft.store(), evidence.begin(7)])) {
    assert.is(attempt.status, 'rejected');
    if (attempt.status === 'rejected') assert.instance(attempt.reason, StoreUnavailable);
  }
  await stop();
});

test('recovery leaves no file in incoming, whatever its name', async () => {
  const { directory, evidence, stop } = await start();
  await writeFile(join(directory, 'incoming', 'something.7.else'), 'x');
  await evidence.recover(async () => true);
  assert.equal(await readdir(join(directory, 'incoming')), []);
  await stop();
});

test.run();
