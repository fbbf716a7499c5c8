// Runs the demo, the contracts of the SQLite stores and an end-to-end test on every version of Node that edgeward is for, and shows that a
// version that it is not for is told in one line. The binaries are those of the npm package `node`.
// usage: npm run build && node scripts/on-each-node.mjs [VERSION ...]   (EDGEWARD_NODES: where they are kept, a temporary directory by default)
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSIONS = ['20.19.6', '22.14.0', '24.21.0', '26.10.0'];
const TOO_OLD = '18.20.8';
const EXIT_CONFIG = 78;
const WORK = [
  ['dist/main.js', 'demo', '--exit'],
  ['--import', 'tsx', 'test/adapters/sqlite/sqlite-library.test.ts'],
  ['--import', 'tsx', 'test/adapters/sqlite/event-store.test.ts'],
  ['--import', 'tsx', 'test/adapters/sqlite/read-models.test.ts'],
  ['--import', 'tsx', 'test/adapters/sqlite/leases.test.ts'],
  ['--import', 'tsx', 'test/e2e/damaged-log.test.ts'],
];
/** Far above what a quiet machine needs: it ends what hangs. */
const TIMEOUT_MILLISECONDS = 600_000;

const folder = process.env.EDGEWARD_NODES ?? join(tmpdir(), 'edgeward-nodes');
const versions = process.argv.length > 2 ? process.argv.slice(2) : VERSIONS;
const failures = [];

const nodes = new Map(await Promise.all([TOO_OLD, ...versions].map(async (each) => [each, await install(each)])));
refusesTooOld();
const queue = versions.flatMap((version) => WORK.map((args) => ({ version, args })));
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runQueue));

for (const { version, args, output } of failures) console.log(`\n--- Node ${version}: ${args.join(' ')}\n${output}`);
process.exit(failures.length > 0 ? 1 : 0);

/** Gives the path of its binary. */
async function install(version) {
  const prefix = join(folder, version);
  const binary = join(prefix, 'node_modules/node/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(prefix, { recursive: true });
  // It fetches the binary in its install script, which newer versions of npm run only where it is named.
  writeFileSync(join(prefix, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', prefix, `node@${version}`];
  const { code, output } = await run('npm', args);
  if (code === 0 && existsSync(binary)) return binary;
  throw new Error(`Node ${version} could not be installed:\n${output}`);
}

function refusesTooOld() {
  const args = ['dist/main.js', 'serve'];
  const { status, stderr } = spawnSync(nodes.get(TOO_OLD), args, { encoding: 'utf8', timeout: TIMEOUT_MILLISECONDS });
  const isOneLine = /^edgeward: [^\n]*this is 18\.[^\n]*\n$/.test(stderr);
  report({ version: TOO_OLD, args }, status === EXIT_CONFIG && isOneLine ? 0 : 1, stderr);
}

async function runQueue() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { code, output } = await run(nodes.get(next.version), next.args);
    const ranTests = next.args[0] !== '--import' || Number(/Passed:\s+(\d+)/.exec(output)?.[1] ?? 0) > 0;
    report(next, code === 0 && !ranTests ? 1 : code, output);
  }
}

function report({ version, args }, code, output) {
  if (code !== 0) failures.push({ version, args, output: `${output}\nended with ${code}` });
  console.log(
    `${code === 0 ? 'ok  ' : 'FAIL'} Node ${version}: ${args.at(-1)?.startsWith('test/') ? args.at(-1) : args.join(' ')}`,
  );
}

function run(file, args) {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
  return new Promise((done) => {
    execFile(file, args, { env, timeout: TIMEOUT_MILLISECONDS, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : (error.code ?? error.signal ?? 1), output: stdout + stderr }),
    );
  });
}
