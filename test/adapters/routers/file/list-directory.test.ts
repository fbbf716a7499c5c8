import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openListDirectory } from '../../../../src/adapters/routers/file/list-directory.ts';
import { RouterFailure } from '../../../../src/ports/routers.ts';
import { fails, never } from '../../../contracts/router-driver.ts';
import { routerContext } from '../../../support/routers/router-context.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LINES = ['192.0.2.1/32\n', '192.0.2.4/30\n'].map((line) => Buffer.from(line));
const BYTES = Buffer.concat(LINES).length;

test('as much as is read back is written, and a byte more is not: the list stays as it was', async () => {
  const { path, remove } = await temporaryFolder();
  const { ids } = routerContext();
  const lists = openListDirectory(path, ids, BYTES);
  await lists.write('Svc-A', LINES, never);
  assert.equal(await lists.read('Svc-A', never), ['192.0.2.1/32', '192.0.2.4/30']);
  const longer = [...LINES, Buffer.from('\n')];
  await fails('too-large', lists.write('Svc-A', longer, never));
  await fails('too-large', lists.write('Svc-B', longer, never));
  assert.is(await readFile(join(path, 'Svc-A'), 'utf8'), Buffer.concat(LINES).toString());
  assert.equal(await readdir(path), ['Svc-A']);
  await openListDirectory(path, ids).write('Svc-B', longer, never);
  await fails('unreadable-answer', lists.readText('Svc-B', never));
  await remove();
});

test('what is read is on disk: whoever has put it there may have ended before, or could not sync it', async () => {
  const { path, remove } = await temporaryFolder();
  const { ids } = routerContext();
  let syncs = 0;
  let isBroken = false;
  const sync = async (): Promise<void> => {
    syncs += 1;
    if (isBroken) throw new RouterFailure('outcome-unknown', 'the disk is broken');
  };
  const open = () => openListDirectory(path, ids, BYTES, sync);
  const lists = open();
  await lists.write('Svc-A', LINES, never);
  assert.is(syncs, 1);
  await lists.read('Svc-A', never);
  await lists.read('Svc-B', never);
  assert.is(syncs, 1, 'all that was there has been synced with it');
  const next = open();
  await next.read('Svc-A', never);
  assert.is(syncs, 2, 'the process before may have ended in between');
  await next.read('Svc-A', never);
  assert.is(syncs, 2);
  isBroken = true;
  await fails('outcome-unknown', next.write('Svc-A', LINES.slice(1), never));
  await fails('outcome-unknown', next.readText('Svc-A', never));
  assert.equal(await next.read('Svc-B', never), 'absent', 'it has not been changed since it was synced');
  await fails('outcome-unknown', next.write('Svc-B', LINES, never));
  await fails('outcome-unknown', next.remove('Svc-B'));
  await fails('outcome-unknown', next.read('Svc-B', never));
  isBroken = false;
  assert.equal(await next.read('Svc-A', never), ['192.0.2.4/30']);
  assert.is(await next.read('Svc-B', never), 'absent');
  await remove();
});

test.run();
