// Runs every test file in a process of its own, a few at once, and adds up what uvu reports.
// usage: npm test [-- PART-OF-A-PATH ...]   (FILE_TIMEOUT_SECONDS, TEST_JOBS from the environment)
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const wanted = process.argv.slice(2);
const jobs = Number(process.env.TEST_JOBS ?? Math.max(2, availableParallelism()));
const timeoutSeconds = Number(process.env.FILE_TIMEOUT_SECONDS ?? 600);

const files = filesBelow('test')
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  // The long ones first, so that they don't run alone at the end.
  .sort((a, b) => Number(b.includes('live')) - Number(a.includes('live')) || a.localeCompare(b));

const sum = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const queue = [...files];
await Promise.all(Array.from({ length: jobs }, work));

for (const { file, output } of failures) console.log(`\n--- ${file}\n${output}`);
if (files.length === 0) console.log('no test file matches');
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exit(failures.length > 0 || sum.passed === 0 ? 1 : 0);

async function work() {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const started = performance.now();
    const { code, output } = await run(file);
    const total = /Total:\s+(\d+)/.exec(output);
    const passed = Number(/Passed:\s+(\d+)/.exec(output)?.[1] ?? 0);
    const skipped = Number(/Skipped:\s+(\d+)/.exec(output)?.[1] ?? 0);
    const failed = Math.max(Number(total?.[1] ?? 0) - passed, code === 0 && total ? 0 : 1);
    sum.passed += passed;
    sum.skipped += skipped;
    sum.failed += failed;
    if (failed > 0) failures.push({ file, output });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `${failed > 0 ? 'FAIL' : 'ok  '} ${file} (${passed} passed${skipped ? `, ${skipped} skipped` : ''}, ${seconds} s)`,
    );
  }
}

function run(file) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const timer = setTimeout(() => {
      output += `\nstopped: still running after ${timeoutSeconds} s\n`;
      child.kill('SIGKILL');
    }, timeoutSeconds * 1000);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
