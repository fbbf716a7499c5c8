import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { breachesOf, IMPORT_TABLE, type SourceFile, unrunTests } from './architecture/import-table.ts';
import { unreachableFrom } from './architecture/reachable.ts';
import { importsOf, maskSource } from './architecture/source-text.ts';
import { repositoryFile } from './support/repository.ts';

const root = repositoryFile('./');

function filesBelow(folder: string, ...endings: readonly string[]): readonly SourceFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file.slice(root.length), text: readFileSync(file, 'utf8') }));
}

// The sources as they are

test('every source file imports only what its room may', () => {
  const files = filesBelow('src', '.ts', '.tsx');
  assert.ok(files.length > 50, 'the sources were found');
  assert.equal(breachesOf(files), []);
});

test('nothing in src is beside the product: src/main.ts reaches every file', () => {
  assert.equal(unreachableFrom('src/main.ts', filesBelow('src', '.ts', '.tsx')), []);
});

test('no source file is longer than a reader can hold', () => {
  const tooLong = filesBelow('src', '.ts', '.tsx').filter(({ text }) => text.split('\n').length > 401);
  assert.equal(
    tooLong.map(({ path }) => path),
    [],
  );
});

test('every test file runs its tests', () => {
  const files = filesBelow('test', '.test.ts', '.test.tsx');
  assert.ok(files.length > 20, 'the tests were found');
  assert.equal(unrunTests(files), []);
});

test('no test looks for files beside itself: it runs compiled, out of another folder', () => {
  const files = filesBelow('test', '.ts', '.tsx').filter(({ text }) => maskSource(text).code.includes('import.meta'));
  assert.equal(
    files.map(({ path }) => path),
    [],
  );
});

// The guard is guarded: each row of the table, broken once

const PLANTED: readonly (readonly [path: string, text: string, breach: string])[] = [
  ['src/kernel/a.ts', `import type { Clock } from '../ports/clock.ts';`, 'kernel imports src/ports/clock.ts'],
  ['src/addresses/a.ts', `import { x } from '../events/codec.ts';`, 'addresses imports src/events/codec.ts'],
  ['src/addresses/a.ts', `import { x } from '../kernel/event.ts';`, 'addresses imports src/kernel/event.ts'],
  [
    'src/addresses/a.ts',
    `import { Temporal } from '@js-temporal/polyfill';`,
    'addresses imports the package @js-temporal/polyfill',
  ],
  ['src/concurrency/a.ts', `import type { Log } from '../ports/log.ts';`, 'concurrency imports src/ports/log.ts'],
  [
    'src/concurrency/a.ts',
    `import { x } from '../addresses/address.ts';`,
    'concurrency imports src/addresses/address.ts',
  ],
  ['src/domain/a.ts', `import type { Clock } from '../ports/clock.ts';`, 'domain imports src/ports/clock.ts'],
  ['src/domain/a.ts', `import { h } from '../commands/aggregate.ts';`, 'domain imports src/commands/aggregate.ts'],
  ['src/domain/a.ts', `import { readFileSync } from 'node:fs';`, 'domain imports node:fs'],
  [
    'src/events/a.ts',
    `import { x } from '../domain/ip-control/address-ledger.ts';`,
    'events imports src/domain/ip-control/address-ledger.ts',
  ],
  ['src/events/a.ts', `import { x } from '../addresses/address.ts';`, 'events imports src/addresses/address.ts'],
  [
    'src/commands/a.ts',
    `import { x } from '../application/application.ts';`,
    'commands imports src/application/application.ts',
  ],
  [
    'src/processes/a.ts',
    `import { x } from '../application/application.ts';`,
    'processes imports src/application/application.ts',
  ],
  [
    'src/application/a.ts',
    `import { p } from '../processes/process-manager.ts';`,
    'application imports src/processes/process-manager.ts',
  ],
  ['src/application/a.ts', `import { o } from '../adapters/clock.ts';`, 'application imports src/adapters/clock.ts'],
  ['src/application/a.ts', `import { o } from '../cli/output.ts';`, 'application imports src/cli/output.ts'],
  ['src/application/a.ts', `import { z } from 'zod';`, 'application imports the package zod'],
  [
    'src/adapters/a.ts',
    `import { x } from '../domain/ip-control/address-ledger.ts';`,
    'adapters imports src/domain/ip-control/address-ledger.ts',
  ],
  [
    'src/domain/a.ts',
    `import { x } from '../addresses/boundaries/list.ts';`,
    'imports src/addresses/boundaries/list.ts, which stands behind src/addresses/',
  ],
  ['src/kernel/a.ts', `import { hash } from 'node:crypto';`, 'kernel imports node:crypto'],
  ['src/kernel/a.ts', `import { z } from 'zod';`, 'kernel imports the package zod'],
  ['src/ports/a.ts', `import type { Codec } from '../events/codec.ts';`, 'ports imports src/events/codec.ts'],
  ['src/ports/a.ts', `export * from '../adapters/clock.ts';`, 'ports imports src/adapters/clock.ts'],
  ['src/ports/a.ts', `import { z } from 'zod';`, 'ports imports the package zod'],
  ['src/ports/a.ts', `import { EventEmitter } from 'node:events';`, 'ports imports node:events'],
  ['src/events/a.ts', `import type { Ids } from '../ports/ids.ts';`, 'events imports src/ports/ids.ts'],
  ['src/events/a.ts', `import { d } from '../commands/aggregate.ts';`, 'events imports src/commands/aggregate.ts'],
  ['src/events/a.ts', `import { readFileSync } from 'node:fs';`, 'events imports node:fs'],
  [
    'src/events/a.ts',
    `import { Temporal } from '@js-temporal/polyfill';`,
    'events imports the package @js-temporal/polyfill',
  ],
  [
    'src/commands/a.ts',
    `import { v } from '../projections/engine/view-cache.ts';`,
    'commands imports src/projections/engine/view-cache.ts',
  ],
  [
    'src/commands/a.ts',
    `import { p } from '../processes/process-manager.ts';`,
    'commands imports src/processes/process-manager.ts',
  ],
  ['src/commands/a.ts', `import { z } from 'zod';`, 'commands imports the package zod'],
  [
    'src/projections/a.ts',
    `import { h } from '../commands/aggregate.ts';`,
    'projections imports src/commands/aggregate.ts',
  ],
  [
    'src/projections/a.ts',
    `import { p } from '../processes/process-manager.ts';`,
    'projections imports src/processes/process-manager.ts',
  ],
  ['src/projections/a.ts', `import { z } from 'zod/v4';`, 'projections imports the package zod/v4'],
  [
    'src/processes/a.ts',
    `import { s } from '../projections/engine/view-cache.ts';`,
    'processes imports src/projections/engine/view-cache.ts',
  ],
  [
    'src/processes/a.ts',
    `import { s } from '../adapters/sqlite/event-store.ts';`,
    'processes imports src/adapters/sqlite/event-store.ts',
  ],
  ['src/processes/a.ts', `import { z } from 'zod';`, 'processes imports the package zod'],
  [
    'src/http/a.ts',
    `import { p } from '../processes/process-manager.ts';`,
    'http imports src/processes/process-manager.ts',
  ],
  ...['http', 'cli'].flatMap((room) =>
    ['commands/aggregate.ts', 'projections/engine/view-cache.ts', 'ports/log.ts', 'events/codec.ts'].map(
      (file) =>
        [
          `src/${room}/a.ts`,
          `import { x } from '../${file}';`,
          `${room} imports more than types of src/${file}`,
        ] as const,
    ),
  ),
  [
    'src/cli/a.ts',
    `import { type X, y } from '../projections/engine/view-cache.ts';`,
    'cli imports more than types of src/projections/engine/view-cache.ts',
  ],
  ['src/http/a.ts', `import { c } from '../cli/command.ts';`, 'http imports src/cli/command.ts'],
  ['src/http/a.ts', `import { s } from '../concurrency/semaphore.ts';`, 'http imports src/concurrency/semaphore.ts'],
  [
    'src/http/a.ts',
    `import { o } from '../adapters/sqlite/event-store.ts';`,
    'http imports src/adapters/sqlite/event-store.ts',
  ],
  ['src/http/a.ts', `import { readConfig } from '../config.ts';`, 'http imports src/config.ts'],
  ['src/http/a.ts', `import pg from 'better-sqlite3';`, 'http imports the package better-sqlite3'],
  [
    'src/cli/a.ts',
    `import { p } from '../processes/process-manager.ts';`,
    'cli imports src/processes/process-manager.ts',
  ],
  ['src/cli/a.ts', `import { s } from '../concurrency/semaphore.ts';`, 'cli imports src/concurrency/semaphore.ts'],
  ['src/cli/a.ts', `import { o } from '../adapters/clock.ts';`, 'cli imports src/adapters/clock.ts'],
  ['src/cli/a.ts', `import { a } from '../http/app.ts';`, 'cli imports src/http/app.ts'],
  ['src/cli/a.ts', `import { o } from '../main/stores.ts';`, 'cli imports src/main/stores.ts'],
  ['src/cli/a.ts', `import express from 'express';`, 'cli imports the package express'],
  [
    'src/adapters/a.ts',
    `import { c } from '../events/ip-control/customer.ts';`,
    'adapters imports src/events/ip-control/customer.ts',
  ],
  ['src/adapters/a.ts', `import { h } from '../commands/aggregate.ts';`, 'adapters imports src/commands/aggregate.ts'],
  [
    'src/adapters/a.ts',
    `import { s } from '../projections/engine/view-cache.ts';`,
    'adapters imports src/projections/engine/view-cache.ts',
  ],
  ['src/adapters/a.ts', `import express from 'express';`, 'adapters imports the package express'],
  ['src/adapters/a.ts', `import fs from 'fs';`, 'adapters imports the package fs'],
  ['src/main/a.ts', `import { Router } from 'express';`, 'main imports the package express'],
  ['src/main/a.ts', `import '../main.ts';`, 'imports the composition root'],
  ['src/config.ts', `import { x } from './kernel/event.ts';`, 'config imports src/kernel/event.ts'],
  ['src/config.ts', `import { env } from 'node:process';`, 'config imports node:process'],
  ['src/config.ts', `import express from 'express';`, 'config imports the package express'],
  ['src/extra.ts', `export const a = 1;`, 'is in no room of src'],
  ['src/utils/a.ts', `export const a = 1;`, 'is in no room of src'],
  ['src/http/a.ts', `import { x } from '../../bench/a.ts';`, 'imports bench/a.ts, which is in no room of src'],
  [
    'src/http/a.ts',
    `import { x } from '../../test/specification.ts';`,
    'imports test/specification.ts, which is in no room of src',
  ],
];

for (const [path, text, breach] of PLANTED) {
  test(`the guard reports ${breach}`, () => {
    assert.equal(breachesOf([{ path, text }]), [`${path}: ${breach}`]);
  });
}

test('the guard reports the same of what is written with markup', () => {
  for (const [path, text, breach] of PLANTED.filter(([of]) => of.endsWith('/a.ts'))) {
    const file = { path: path.replace(/\.ts$/, '.tsx'), text };
    assert.equal(breachesOf([file]), [`${file.path}: ${breach}`]);
  }
});

test('every row of the table is broken at least once above', () => {
  const broken = new Set(PLANTED.map(([path]) => path.split('/')[1]?.replace('.ts', '')));
  assert.equal(
    Object.keys(IMPORT_TABLE).filter((room) => !broken.has(room)),
    [],
  );
});

test('the guard keeps the contexts apart, in every room', () => {
  for (const room of [
    'events',
    'domain',
    'commands',
    'projections',
    'processes',
    'application',
    'http',
    'cli',
    'main',
  ]) {
    const path = `src/${room}/ip-control/a.ts`;
    const text = `import { x } from '../worker-pools/b.ts';`;
    assert.equal(breachesOf([{ path, text }]), [
      `${path}: ip-control imports src/${room}/worker-pools/b.ts, which is worker-pools`,
    ]);
    const back = { path: `src/${room}/worker-pools/b.ts`, text: `import { x } from '../ip-control/a.ts';` };
    assert.is(breachesOf([back]).length, 1);
  }
  const screen = { path: 'src/main/ip-control.ts', text: `import { x } from './worker-pools.ts';` };
  assert.equal(breachesOf([screen]), [
    'src/main/ip-control.ts: ip-control imports src/main/worker-pools.ts, which is worker-pools',
  ]);
  const process = {
    path: 'src/processes/worker-pools/a.ts',
    text: `import { x } from '../../commands/ip-control/b.ts';`,
  };
  assert.is(breachesOf([process]).length, 1);
});

test('the guard reports time and randomness that come from nowhere', () => {
  const uses = [
    ['const at = new Date();', 'Date'],
    ['const at = Date.now();', 'Date'],
    ['const at: Date | undefined = undefined;', 'Date'],
    ['const x = Math.random();', 'Math.random'],
    ['const x = Math\n  .random();', 'Math\n  .random'],
    ['const x = randomUUID();', 'randomUUID'],
    ['const x = crypto.randomUUID();', '.randomUUID'],
    ['const x = crypto.getRandomValues(bytes);', '.getRandomValues'],
    ['const x = randomBytes(8);', 'randomBytes'],
    ['const x = Temporal.Now.instant();', 'Temporal.Now'],
    ['const x = performance.now();', 'performance.now'],
    ['const x = `${Math.random()}`;', 'Math.random'],
  ] as const;
  for (const room of [
    'kernel',
    'addresses',
    'events',
    'domain',
    'commands',
    'projections',
    'processes',
    'application',
  ]) {
    for (const [text, word] of uses) {
      const path = `src/${room}/a.ts`;
      assert.equal(breachesOf([{ path, text }]), [`${path}: uses ${word}`], text);
    }
  }
  assert.equal(breachesOf([{ path: 'src/adapters/clock.ts', text: 'const x = Temporal.Now.instant();' }]), []);
});

test('the guard reads every way to import', () => {
  const ways = [
    `import 'zod';`,
    `import z from 'zod';`,
    `import * as z from "zod";`,
    `import z, { type Y } from 'zod'`,
    `import type { Y } from 'zod';`,
    `import {\n  a,\n  b as c,\n} from 'zod';`,
    `import{a}from'zod';`,
    `export { a } from 'zod';`,
    `export * from 'zod';`,
    `export * as z from 'zod';`,
    `export type { Y } from 'zod';`,
    `const z = await import('zod');`,
    `const z = import(/* lazily */ 'zod');`,
    'const z = import(`zod`);',
    `let y: import('zod').Y;`,
    `let y: typeof import("zod");`,
    `import z = require('zod');`,
    `const z = require('zod');`,
    `import /* a 'comment' */ { a } from /* another */ 'zod';`,
    `const before = 1\nimport { a } from 'zod'`,
    `export const from = 'x'\nimport { a } from 'zod';`,
    `const pattern = /["'/*]/;\nimport { a } from 'zod';`,
    'const text = `"${`import`}\'`;\nimport { a } from "zod";',
    `import { from } from 'zod';`,
    `import data from 'zod' with { type: 'json' };`,
  ];
  for (const text of ways) {
    assert.ok(importsOf(text).specifiers.includes('zod'), text);
    assert.is(breachesOf([{ path: 'src/kernel/a.ts', text }]).length, 1, text);
  }
  assert.equal(importsOf('const z = await import(name);'), { specifiers: [], typeOnly: [], computed: 1 });
  assert.equal(breachesOf([{ path: 'src/main/a.ts', text: 'await import(`./${name}.ts`);' }]), [
    'src/main/a.ts: imports something that is computed',
  ]);
});

test('the guard takes nothing for an import that is none', () => {
  const innocent = [
    `// import { z } from 'zod';`,
    `/* import 'zod'; */`,
    `/**\n * import z from 'zod'\n */`,
    `const text = "import z from 'zod'";`,
    `const text = 'import("zod")';`,
    'const text = `import z from "zod"`;',
    `const url = import.meta.url;`,
    `const list = Array.from('zod');`,
    `const range = { from: 'zod', import: 'zod' };`,
    `export const from = 'zod';`,
    `export type Way = 'in' | 'zod';`,
    `view.import('zod');`,
    `const ratio = a / b; const text = 'import "zod"'; const other = c / d;`,
  ];
  for (const text of innocent) assert.equal(importsOf(text), { specifiers: [], typeOnly: [], computed: 0 }, text);
});

test('the guard takes nothing for impure that only reads like it', () => {
  const innocent = [
    `// new Date()`,
    `const text = 'Date.now() and Math.random()';`,
    `const updateDate = 1; const DateText = 2; view.Date;`,
    `import type { Dates } from './dates.ts';`,
    `const message = \`a Date\`;`,
  ];
  for (const text of innocent) assert.equal(breachesOf([{ path: 'src/kernel/a.ts', text }]), [], text);
});

test('the guard lets pass what the table allows', () => {
  const allowed = [
    ['src/kernel/a.ts', `import { Temporal } from '@js-temporal/polyfill';`],
    ['src/addresses/a.ts', `import { b } from './b.ts'; import { c } from './boundaries/chunk.ts';`],
    ['src/addresses/boundaries/a.ts', `import { b } from '../address.ts';`],
    ['src/concurrency/a.ts', `import type { Clock } from '../ports/clock.ts';`],
    ['src/domain/ip-control/a.ts', `import { z } from 'zod'; import { x } from '../../addresses/cidr.ts';`],
    ['src/application/ip-control/a.ts', `import { v } from '../../projections/ip-control/token-view.ts';`],
    [
      'src/events/a.ts',
      `import { hash } from 'node:crypto'; import { z } from 'zod'; import { x } from '../kernel/event.ts';`,
    ],
    [
      'src/commands/ip-control/a.ts',
      `import { x } from '../../events/ip-control/customer.ts'; import { h } from '../aggregate.ts';`,
    ],
    ['src/processes/ip-control/a.ts', `import { x } from '../../commands/ip-control/customer.ts';`],
    ['src/http/a.ts', `import express from 'express'; import { createServer } from 'node:http';`],
    ['src/http/a.ts', `import type { H } from '../commands/handle.ts'; import { type Log } from '../ports/log.ts';`],
    ['src/cli/a.ts', `import type { V } from '../projections/engine/view-cache.ts';`],
    ['src/adapters/sqlite/a.ts', `import { c } from '../../events/codec.ts'; import Database from 'better-sqlite3';`],
    ['src/main/a.ts', `import { x } from '../adapters/clock.ts'; import { readConfig } from '../config.ts';`],
    ['src/main.ts', `import { x } from './main/server.ts'; import { y } from './cli/program.ts';`],
  ] as const;
  for (const [path, text] of allowed) assert.equal(breachesOf([{ path, text }]), [], path);
});

test('the guard reports a test file whose tests are not run', () => {
  const runs = [
    `test('x', () => {});\ntest.run();\n`,
    `const suite = 1;\nsuite.run()`,
    `test.run(); // done`,
    'for (const x of y) {\n  test(`of ${x}`, () => {});\n}\nsuites.first.run();',
    `test('x', async () => {});\ntest.run();\nfunction nothing(): void {}\n`,
    `import { storeContract } from '../contracts/store.ts';\nstoreContract('a store', async () => open());\n`,
  ];
  const idle = [
    '',
    `test('x', () => {});\n`,
    '// test.run();',
    `test.run();\ntest('after', () => {});`,
    'test.run();\nfor (const x of y) {\n  test(`of ${x}`, async ({ given }) => {});\n}',
    'const text = `test.run();`;',
    '/* test.run(); */',
    'if (x) run();',
    `storeContract('a store', async () => open());`,
    `import { storeContract } from '../contracts/store.ts';\n`,
  ];
  for (const text of runs) assert.equal(unrunTests([{ path: 'a.test.ts', text }]), [], text);
  for (const text of idle) assert.equal(unrunTests([{ path: 'a.test.ts', text }]), ['a.test.ts'], text);
});

test('the guard names what no import reaches, however it is imported', () => {
  const files = [
    { path: 'src/main.ts', text: `import { a } from './a.ts'; const c = await import('./b/c.tsx');` },
    { path: 'src/a.ts', text: `export type { D } from './b/d.ts';` },
    { path: 'src/b/c.tsx', text: `import '../e.ts';` },
    { path: 'src/b/d.ts', text: `import { x } from '../main.ts';` },
    { path: 'src/e.ts', text: 'export const e = 1;' },
  ];
  const planted = [
    { path: 'src/beside.ts', text: `import { a } from './a.ts'; import { f } from './by-beside.ts';` },
    { path: 'src/by-beside.ts', text: `// import './beside.ts';` },
  ];
  assert.equal(unreachableFrom('src/main.ts', files), []);
  assert.equal(unreachableFrom('src/main.ts', [...files, ...planted]), ['src/beside.ts', 'src/by-beside.ts']);
  assert.throws(() => unreachableFrom('src/entry.ts', files), /src\/entry\.ts is not among the files/);
});

test('masking keeps code, numbers texts, and drops comments', () => {
  const { code, texts } = maskSource(`a('x'); // b('y')\nc(\`z\`, "it's"); /* d */ e(/'/);`);
  assert.equal(texts, ['x', 'z', "it's"]);
  assert.is(code, `a("#0"); \nc("#1", "#2");   e(/ /);`);
});

test.run();
