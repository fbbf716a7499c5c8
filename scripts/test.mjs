// Runs the test files and adds up what uvu reports. All are compiled once; the pure ones run one after another in one process, every
// other in a process of its own, a few at once.
// usage: npm test [-- PART-OF-A-PATH ...]   (FILE_TIMEOUT_SECONDS, TEST_JOBS from the environment)
import { fork, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

/** Rooms whose tests need nothing from outside, unless a file says otherwise. */
const PURE_ROOMS = ['addresses', 'commands', 'concurrency', 'domain', 'events', 'kernel', 'projections'];
/** What a test that needs more than this process imports or names. */
const NEEDS_MORE = /node:child_process|\/(?:adapters|main|support\/(?:servers|stores|http|routers))\//;
/** How long the process of the pure suites may stay after its last one. */
const END_SECONDS = 10;
/** How long another process may stay, which may have servers to stop. */
const OVER_SECONDS = 60;

const wanted = process.argv.slice(2);
const jobs = Number(process.env.TEST_JOBS ?? Math.max(2, availableParallelism()));
const timeoutSeconds = Number(process.env.FILE_TIMEOUT_SECONDS ?? 600);

const files = filesBelow('test')
  .filter((file) => /\.test\.tsx?$/.test(file))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  // The long ones first, so that they don't run alone at the end.
  .sort((a, b) => Number(b.includes('live')) - Number(a.includes('live')) || a.localeCompare(b));
// Compiling once takes as much of a processor as tsx takes in two files. Coverage is told of the sources, so there nothing is compiled.
const folder =
  files.length > 2 && process.env.NODE_V8_COVERAGE === undefined
    ? join('node_modules', `.edgeward-tests-${process.pid}`)
    : undefined;
const pure = folder === undefined ? [] : files.filter(isPure);
const together = pure.length > 2 ? pure : [];

const sum = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const queue = files.filter((file) => !together.includes(file));
try {
  if (folder !== undefined) await compileAll();
  await Promise.all([runTogether(), ...Array.from({ length: jobs }, runQueue)]);
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

for (const { file, output } of failures) console.log(`\n--- ${file}\n${output}`);
// Once more in short: a long output hides those before it.
for (const { file, output } of failures) console.log(`\n--- ${file}\n${reasonsIn(output)}`);
if (files.length === 0) console.log('no test file matches');
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exit(failures.length > 0 || sum.passed === 0 ? 1 : 0);

async function runQueue() {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const started = performance.now();
    const { code, output } = await runAlone(file);
    const total = /Total:\s+(\d+)/.exec(output);
    const passed = Number(/Passed:\s+(\d+)/.exec(output)?.[1] ?? 0);
    const skipped = Number(/Skipped:\s+(\d+)/.exec(output)?.[1] ?? 0);
    const failed = Math.max(Number(total?.[1] ?? 0) - passed, code === 0 && total ? 0 : 1);
    report(file, { passed, failed, skipped, output }, started);
  }
}

function report(file, { passed, failed, skipped, output }, started) {
  sum.passed += passed;
  sum.skipped += skipped;
  sum.failed += failed;
  if (failed > 0) failures.push({ file, output });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${failed > 0 ? 'FAIL' : 'ok  '} ${file} (${passed} passed${skipped ? `, ${skipped} skipped` : ''}, ${seconds} s)`,
  );
}

/** What uvu says of each test that failed: its name, and how the reason begins. Of a suite without a test that failed, how it ended. */
function reasonsIn(output) {
  const lines = output.split('\n');
  const reasons = lines.flatMap((line, at) => (/^ +FAIL /.test(line) ? lines.slice(at, at + 8) : []));
  return (reasons.length > 0 ? reasons : lines.slice(-8)).map((line) => line.slice(0, 200)).join('\n');
}

function runAlone(file) {
  return new Promise((done) => {
    const args = folder === undefined ? ['--import', 'tsx', file] : ['--enable-source-maps', compiled(file)];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let timer;
    const endsWithin = (seconds, what) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        output += `\nstopped: still running ${seconds} s after ${what}\n`;
        child.kill('SIGKILL');
      }, seconds * 1000);
    };
    endsWithin(timeoutSeconds, 'its start');
    let isOver = false;
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (isOver || !/^ {2}Duration: /m.test(output)) return;
      isOver = true;
      // A suite that has failed may leave its servers running.
      endsWithin(OVER_SECONDS, 'its last test');
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code: code ?? 1, output });
    });
  });
}

/** The pure suites in one process; one that ends or hangs it fails, and another process goes on with those after it. */
async function runTogether() {
  for (let left = together; left.length > 0;) left = await runSome(left);
}

/** Gives the files that are left. */
function runSome(some) {
  const child = fork('scripts/suites-together.mjs', some.map(compiled), {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const left = [...some];
  let output = '';
  let started = performance.now();
  let timer;
  const endsWithin = (seconds) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      output += `\nstopped: still running after ${seconds} s\n`;
      child.kill('SIGKILL');
    }, seconds * 1000);
  };
  endsWithin(timeoutSeconds);
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  child.on('message', ({ ended, ...said }) => {
    endsWithin(left.length > 1 || ended === undefined ? timeoutSeconds : END_SECONDS);
    if (ended !== undefined) report(left.shift(), { ...said, output: said.output + output }, started);
    output = '';
    started = performance.now();
  });
  return new Promise((done) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      const failed = { passed: 0, failed: 1, skipped: 0, output: `${output}\nthe process ended with ${code}\n` };
      if (left.length > 0) report(left.shift(), failed, started);
      else if (code !== 0) report(`${some.at(-1)} or one before it`, failed, started);
      done(left);
    });
  });
}

/** Compiles sources and tests into the folder of this run, without checking types; what killed runs have left behind goes. */
async function compileAll() {
  for (const name of readdirSync('node_modules')) {
    const pid = /^\.edgeward-tests-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join('node_modules', name), { recursive: true });
  }
  mkdirSync(folder, { recursive: true });
  copyFileSync('package.json', join(folder, 'package.json'));
  cpSync('src/http/admin/assets', join(folder, 'src/http/admin/assets'), { recursive: true });
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace(/package\.json$/, 'bin/tsc');
  const args = [tsc, '--noEmit', 'false', '--noCheck', '--sourceMap', '--rootDir', '.', '--outDir', folder];
  const code = await new Promise((done) => spawn(process.execPath, args, { stdio: 'inherit' }).on('close', done));
  if (code !== 0) throw new Error(`the compiler ended with ${code}`);
}

function compiled(file) {
  return resolve(folder, file.replace(/\.tsx?$/, '.js'));
}

function isPure(file) {
  return (
    PURE_ROOMS.some((room) => file.startsWith(join('test', room, '/'))) && !NEEDS_MORE.test(readFileSync(file, 'utf8'))
  );
}

function filesBelow(root) {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
