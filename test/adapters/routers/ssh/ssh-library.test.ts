import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { repositoryFile } from '../../../support/repository.ts';

const CONNECTION = pathToFileURL(repositoryFile('src/adapters/routers/ssh/ssh-connection.ts')).href;

test('the native part of ssh2 is not loaded, also where it has been built; that of others still is', async () => {
  // Any file that is there stands for what was built.
  const script = `
    const { Module, createRequire } = process.getBuiltinModule('node:module');
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...rest) => name.endsWith('.node') ? process.execPath + '.node' : resolve(name, ...rest);
    process.dlopen = (module, file) => console.log('loaded a native part');
    const { loadSsh } = await import(${JSON.stringify(CONNECTION)});
    console.log(typeof loadSsh().Client);
    createRequire(process.cwd() + '/x.js')('./other.node');`;
  const said = await new Promise<string>((resolve) => {
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    execFile(process.execPath, args, { timeout: 120_000 }, (_error, out, err) => resolve(out + err));
  });
  assert.is(said, 'function\nloaded a native part\n');
});

test.run();
