import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openListDirectory } from '../../../../src/adapters/routers/file/list-directory.ts';
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

test.run();
