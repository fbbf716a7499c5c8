import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import { createOpenRouter } from '../../../../src/adapters/routers/open-router.ts';
import { CoverText } from '../../../../src/addresses/cover-text.ts';
import { RangeSet } from '../../../../src/addresses/range-set.ts';
import { type ListsAsText, type RouterDriver, RouterFailure } from '../../../../src/ports/routers.ts';
import { fails, ipv4Hosts, never, routerDriverContract } from '../../../contracts/router-driver.ts';
import { routerContext } from '../../../support/routers/router-context.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { repositoryFile } from '../../../support/repository.ts';

const open = createOpenRouter(routerContext());

function openAt(path: string): RouterDriver {
  return open({ name: 'pull', driver: 'file', options: { path } });
}

routerDriverContract('router contract: file', async () => {
  const folder = await temporaryFolder();
  return {
    open: () => openAt(folder.path),
    capacity: 50_000,
    runs: 50,
    plantForeign: (list) => writeFile(join(folder.path, list), '10.0.0.0/8 le 32\n0.0.0.0/0\n'),
    // Every change puts another file into place, so the inodes tell.
    changes: async () => {
      const names = (await readdir(folder.path)).sort();
      const files = await Promise.all(names.map((name) => stat(join(folder.path, name))));
      return files.reduce((sum, file) => sum + file.ino + file.mtimeMs, 0);
    },
    stop: folder.remove,
  };
});

const files = suite<{ path: string; driver: RouterDriver; remove: () => Promise<void> }>('file driver');

files.before.each(async (context) => {
  const folder = await temporaryFolder();
  context.path = folder.path;
  context.remove = folder.remove;
  context.driver = openAt(folder.path);
});
files.after.each(({ remove }) => remove());

files('a list is a file of its name with one CIDR a line, readable by whoever pulls it', async ({ driver, path }) => {
  await driver.replace('Svc-ACME-BLACKHOLE', ['2001:db8::/48', '192.0.2.7/32'], never);
  const file = join(path, 'Svc-ACME-BLACKHOLE');
  assert.is(await readFile(file, 'utf8'), '192.0.2.7/32\n2001:db8::/48\n');
  assert.is((await stat(file)).mode & 0o777, 0o644 & ~process.umask());
});

files('an empty list is an empty file, not a missing one', async ({ driver, path }) => {
  await driver.replace('Svc-A', [], never);
  assert.is(await readFile(join(path, 'Svc-A'), 'utf8'), '');
  assert.equal(await driver.read('Svc-A', never), []);
});

files(
  'nothing but the list is left in the directory, whether the change came through or not',
  async ({ driver, path }) => {
    await driver.replace('Svc-A', ['192.0.2.0/24'], never);
    await mkdir(join(path, 'Svc-B'));
    await fails('rejected', driver.replace('Svc-B', ['192.0.2.0/24'], never));
    assert.equal((await readdir(path)).sort(), ['Svc-A', 'Svc-B']);
  },
);

files(
  'what a process that was killed has left is removed by the next push of that list and the next look at all',
  async ({ driver, path }) => {
    const lists = ['Svc-A', 'Svc-B'];
    const dead = await draftsOfAnother(path, lists, 'SIGKILL');
    assert.is(dead.length, 2);
    await driver.replace('Svc-A', ['192.0.2.0/24'], never);
    assert.equal((await readdir(path)).sort(), [...dead.filter((name) => name.startsWith('.Svc-B.')), 'Svc-A']);
    assert.equal(await driver.lists(never), ['Svc-A']);
    assert.equal(await readdir(path), ['Svc-A']);
  },
);

files(
  'a draft of a process that lives, and a young one that nobody can be asked about, stay',
  async ({ driver, path }) => {
    const living = await draftsOfAnother(path, ['Svc-A'], 'SIGSTOP');
    const uuid = '0b7e6a52-7a4f-4d0e-9d5e-6f4b8f6f2a11';
    const young = [`.Svc-A.${uuid}.new`, `.Svc-A.0123456789abcdef-1-1.${uuid}.new`];
    for (const name of young) await writeFile(join(path, name), '');
    await driver.replace('Svc-A', ['192.0.2.0/24'], never);
    await driver.lists(never);
    assert.equal((await readdir(path)).sort(), [...living, ...young, 'Svc-A'].sort());
    for (const name of young) await utimes(join(path, name), 1, 1);
    await driver.lists(never);
    assert.equal((await readdir(path)).sort(), [...living, 'Svc-A'].sort());
  },
);

files(
  'what others keep in the directory under a name like that of a draft is not touched',
  async ({ driver, path }) => {
    const others = [
      '.Other.0b7e6a52-7a4f-4d0e-9d5e-6f4b8f6f2a11.new',
      '.Svc-A B.0b7e6a52-7a4f-4d0e-9d5e-6f4b8f6f2a11.new',
    ];
    for (const name of others) {
      await writeFile(join(path, name), '');
      await utimes(join(path, name), 1, 1);
    }
    await driver.replace('Svc-A', ['192.0.2.0/24'], never);
    assert.equal(await driver.lists(never), ['Svc-A']);
    assert.equal((await readdir(path)).sort(), [...others, 'Svc-A'].sort());
  },
);

const asTexts = suite<{ path: string; lists: ListsAsText; driver: RouterDriver; remove: () => Promise<void> }>(
  'file driver, lists as texts',
);
asTexts.before.each(async (context) => {
  const folder = await temporaryFolder();
  context.path = folder.path;
  context.remove = folder.remove;
  context.driver = openAt(folder.path);
  assert.ok(context.driver.text);
  context.lists = context.driver.text;
});
asTexts.after.each(({ remove }) => remove());

const BOTH = CoverText.of(
  RangeSet.of({ version: 4, first: 0xc0000201, last: 0xc0000203 }, { version: 6, first: 1n, last: 1n }),
);

asTexts('a text is a file as its entries make it', async ({ lists, driver, path }) => {
  await lists.replace('Svc-TEXT', BOTH, never);
  const entries = await driver.read('Svc-TEXT', never);
  assert.ok(entries !== 'absent');
  assert.equal(entries, BOTH.texts());
  await driver.replace('Svc-ENTRIES', entries, never);
  const reads = ['Svc-TEXT', 'Svc-ENTRIES'].map((name) => readFile(join(path, name), 'utf8'));
  const [text, ofEntries] = await Promise.all(reads);
  assert.is(text, '192.0.2.1/32\n192.0.2.2/31\n::1/128\n');
  assert.is(text, ofEntries);
  assert.is(String(await lists.read('Svc-TEXT', never)), text);
  assert.equal((await readdir(path)).sort(), ['Svc-ENTRIES', 'Svc-TEXT'], 'nothing else is left');
});

asTexts('a long text is written to its last line', async ({ lists, path }) => {
  const set = RangeSet.from(
    Array.from({ length: 200_000 }, (_, at) => ({ version: 4, first: 0x0a000000 + 4 * at, last: 0x0a000000 + 4 * at })),
  );
  const text = CoverText.of(set);
  assert.ok(text.byteLength > 2 * 1024 * 1024);
  await lists.replace('Svc-LONG', text, never);
  assert.ok(Buffer.concat(text.pieces).equals(await readFile(join(path, 'Svc-LONG'))));
});

asTexts('one that is there already is not written again, in whatever order its lines are', async ({ lists, path }) => {
  const file = join(path, 'Svc-TEXT');
  await writeFile(file, '::1/128\n192.0.2.2/31\n192.0.2.1/32\n');
  const { ino } = await stat(file);
  await lists.replace('Svc-TEXT', BOTH, never);
  assert.is((await stat(file)).ino, ino);
  await writeFile(file, '::1/128\n192.0.2.2/31\n192.0.2.1/33\n');
  await lists.replace('Svc-TEXT', BOTH, never);
  assert.ok((await stat(file)).ino !== ino);
});

asTexts('an empty text is an empty file, and an absent one none', async ({ lists, path }) => {
  assert.is(await lists.read('Svc-TEXT', never), 'absent');
  await lists.replace('Svc-TEXT', CoverText.of(RangeSet.empty), never);
  assert.is(await readFile(join(path, 'Svc-TEXT'), 'utf8'), '');
  assert.is((await lists.read('Svc-TEXT', never)).length, 0);
});

asTexts(
  'what is no file is unreadable, and in the way; a link is replaced and never followed',
  async ({ lists, path }) => {
    await mkdir(join(path, 'Svc-FOLDER'));
    await fails('unreadable-answer', lists.read('Svc-FOLDER', never));
    await fails('rejected', lists.replace('Svc-FOLDER', BOTH, never));
    await writeFile(join(path, 'elsewhere'), 'as it was');
    await symlink(join(path, 'elsewhere'), join(path, 'Svc-LINK'));
    await fails('unreadable-answer', lists.read('Svc-LINK', never));
    await lists.replace('Svc-LINK', BOTH, never);
    assert.is(String(await lists.read('Svc-LINK', never)), Buffer.concat(BOTH.pieces).toString());
    assert.is(await readFile(join(path, 'elsewhere'), 'utf8'), 'as it was');
  },
);

asTexts(
  'lists of others are not touched, and nothing is in a directory that is gone',
  async ({ lists, path, remove }) => {
    await fails('not-permitted', lists.read('Others', never));
    await fails('not-permitted', lists.replace('../Svc-A', BOTH, never));
    assert.equal(await readdir(path), []);
    await remove();
    await fails('unreachable', lists.read('Svc-A', never));
    await fails('unreachable', lists.replace('Svc-A', BOTH, never));
  },
);

asTexts('a text is right where its entries are, whatever has become of the file', async ({ lists, driver, path }) => {
  const lines = BOTH.texts();
  const line = fc.constantFrom(...lines, '192.0.2.0/24', '192.0.2.1', ' ::1/128', '::1/128 le 128', '', '0:0::1/128');
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 4 }), fc.constantFrom('\n', '', '\r\n'), async (some, end) => {
      await writeFile(join(path, 'Svc-TEXT'), some.join('\n') + end);
      const text = await lists.read('Svc-TEXT', never);
      const entries = await driver.read('Svc-TEXT', never).catch((error: unknown) => {
        assert.ok(error instanceof RouterFailure && error.code === 'unreadable-answer');
        return 'unreadable' as const;
      });
      const isRight = Array.isArray(entries) && entries.join() === lines.join();
      assert.is(text !== 'absent' && BOTH.hasLinesOf(text), isRight);
    }),
    { numRuns: 300 },
  );
});

/** Has another process begin to write lists; it is stopped or killed before their files are in place. Gives the names of its drafts. */
async function draftsOfAnother(
  path: string,
  lists: readonly string[],
  how: 'SIGKILL' | 'SIGSTOP',
): Promise<readonly string[]> {
  const source = pathToFileURL(repositoryFile('src/adapters/routers/file/drafts.ts')).href;
  const script = `const { draftName } = await import(${JSON.stringify(source)});
    const { writeFileSync } = await import('node:fs');
    for (const list of ${JSON.stringify(lists)}) writeFileSync(${JSON.stringify(path)} + '/' + draftName(list, crypto.randomUUID()), 'half');
    console.log('written');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill(how);
  if (how === 'SIGKILL') await once(child, 'exit');
  child.stdout.destroy();
  child.unref();
  return (await readdir(path)).sort();
}

files('whoever reads while lists are replaced sees the old or the new one, whole', async ({ driver, path }) => {
  const contents = [ipv4Hosts(5000), ipv4Hosts(4000, 9000)];
  const texts = contents.map((prefixes) => prefixes.map((prefix) => `${prefix}\n`).join(''));
  await driver.replace('Svc-A', contents[0]!, never);
  const replacing = (async () => {
    for (let round = 1; round < 20; round++) await driver.replace('Svc-A', contents[round % 2]!, never);
    return 'over' as const;
  })();
  let reads = 0;
  while ((await Promise.race([replacing, Promise.resolve('not yet')])) !== 'over') {
    assert.ok(texts.includes(await readFile(join(path, 'Svc-A'), 'utf8')));
    reads += 1;
  }
  assert.ok(reads > 0);
});

for (const [what, text] of [
  ['a line that is no CIDR', 'hello\n'],
  ['a CIDR with host bits', '192.0.2.1/24\n'],
  ['another spelling of a CIDR', '2001:DB8::/48\n'],
  ['an empty line', '192.0.2.0/24\n\n198.51.100.0/24\n'],
  ['a blank at the end of a line', '192.0.2.0/24 \n'],
  ['a carriage return', '192.0.2.0/24\r\n'],
  ['a last line without its end', '192.0.2.0/24\n198.51.100.0/2'],
] as const) {
  files(`${what} is not read as something else`, async ({ driver, path }) => {
    await writeFile(join(path, 'Svc-A'), text);
    await fails('unreadable-answer', driver.read('Svc-A', never));
    await driver.replace('Svc-A', ['192.0.2.0/24'], never);
    assert.is(await readFile(join(path, 'Svc-A'), 'utf8'), '192.0.2.0/24\n');
  });
}

files('a symbolic link is not followed: it is replaced, and what it points at stays', async ({ driver, path }) => {
  const outside = join(path, 'outside');
  await writeFile(outside, '10.0.0.0/8\n');
  await symlink(outside, join(path, 'Svc-A'));
  await fails('unreadable-answer', driver.read('Svc-A', never));
  await driver.replace('Svc-A', ['192.0.2.0/24'], never);
  assert.is(await readFile(outside, 'utf8'), '10.0.0.0/8\n');
  assert.equal(await driver.read('Svc-A', never), ['192.0.2.0/24']);
});

files('a pipe in the place of a list does not hold a reader up', async ({ driver, path }) => {
  execFileSync('mkfifo', [join(path, 'Svc-A')]);
  await fails('unreadable-answer', driver.read('Svc-A', never));
});

files('a directory that is missing is not made, and no list of it is taken for absent', async ({ driver, path }) => {
  await rm(path, { recursive: true });
  const failure = await fails('unreachable', driver.check(never));
  assert.match(failure.message, path);
  await fails('unreachable', driver.read('Svc-A', never));
  await fails('unreachable', driver.replace('Svc-A', ['192.0.2.0/24'], never));
});

files('a file in the place of the directory', async ({ path }) => {
  await writeFile(join(path, 'file'), '');
  const driver = openAt(join(path, 'file'));
  await fails('unreachable', driver.check(never));
  await fails('unreachable', driver.replace('Svc-A', ['192.0.2.0/24'], never));
});

files.run();
asTexts.run();

for (const [what, options, message] of [
  ['none', {}, 'option path is missing; it must be the absolute path of a directory'],
  ['a relative path', { path: 'lists' }, 'option path must be the absolute path of a directory'],
  [
    'one that is unknown',
    { path: '/lists', paht: '/x' },
    'option "paht" is unknown; the options are path, max_entries',
  ],
] as const) {
  test(`options of the file driver: ${what}`, async () => {
    const failure = await fails(
      'bad-option',
      (async () => open({ name: 'pull', driver: 'file', options: { ...options } }))(),
    );
    assert.is(failure.message, `router pull (file): ${message}`);
  });
}

test.run();
