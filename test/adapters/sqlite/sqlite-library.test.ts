import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { EVENT_LOG } from '../../../src/adapters/sqlite/event-row.ts';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { repositoryFile } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LIBRARY = pathToFileURL(repositoryFile('src/adapters/sqlite/sqlite-library.ts')).href;

test('each version of Node has a library whose SQLite is new enough, and the other one is not loaded', () => {
  const db = openSqlite(':memory:');
  const [major = 0, minor = 0] = String(db.prepare('SELECT sqlite_version()').pluck().get()).split('.').map(Number);
  db.close();
  assert.ok(major === 3 && minor >= 50, `${major}.${minor}`);
});

test('a log that is opened again syncs every commit to disk', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  openDatabase(file, EVENT_LOG).close();
  const again = openDatabase(file, EVENT_LOG);
  const settings = ['journal_mode', 'synchronous'].map((name) => again.pragma(name, { simple: true }));
  again.close();
  await folder.remove();
  assert.equal(settings, ['wal', 2]);
});

test('a library that was built for another version of Node is one line with the way out', async () => {
  const said = await openingWith(
    `process.dlopen = () => { throw new Error("The module 'x.node'\\nwas compiled against a different Node.js version using\\nNODE_MODULE_VERSION 93.") };`,
  );
  assert.match(
    said,
    /^StoreRefused unusable: the SQLite library better-sqlite3\S* was built for another version of Node than Node [\d.]+ \(.*\): run npm rebuild better-sqlite3[^\n]*$/,
  );
});

test('a library that is not there is one line with the way out', async () => {
  const said = await openingWith(
    `const { Module } = process.getBuiltinModule('node:module');
     const load = Module._load;
     Module._load = (name, ...rest) => { if (name.startsWith('better-sqlite3')) throw new Error("Cannot find module '" + name + "'\\nRequire stack:"); return load(name, ...rest); };`,
  );
  assert.match(
    said,
    /^StoreRefused unusable: the SQLite library better-sqlite3\S* can not be used by Node [^\n]*: install edgeward again [^\n]*\(Cannot find module '[^\n]*'\)$/,
  );
});

/** What opening a file says in a process in which `damage` has happened to what it loads. */
function openingWith(damage: string): Promise<string> {
  const script = `
    ${damage}
    const { openSqlite } = await import(${JSON.stringify(LIBRARY)});
    try { openSqlite(':memory:'); console.log('opened'); } catch (error) { console.log(error.name, error.code + ': ' + error.message); }`;
  return new Promise((resolve) => {
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    execFile(process.execPath, args, { timeout: 120_000 }, (_error, out, err) => resolve((out + err).trim()));
  });
}

test.run();
