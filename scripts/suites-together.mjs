// Runs compiled test files one after another in this process, and tells the parent before each and after it.
// Forked by scripts/test.mjs; each argument is a file.
import { pathToFileURL } from 'node:url';

// uvu starts nothing by itself then: what a file registers waits in the queue.
globalThis.UVU_DEFER = 1;
globalThis.UVU_INDEX = 0;
globalThis.UVU_QUEUE = [[]];

let errors = '';
process.stdout.write = () => true;
process.on('uncaughtException', (error) => {
  errors += `\noutside of any test: ${error?.stack ?? String(error)}\n`;
});

for (const file of process.argv.slice(2)) {
  process.send({ started: file });
  process.send({ ended: file, ...(await run(file)) });
}
process.disconnect();

async function run(file) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  errors = '';
  globalThis.UVU_QUEUE[0] = [];
  try {
    await import(pathToFileURL(file).href);
    if (globalThis.UVU_QUEUE[0].length === 0) throw new Error('no suite was run');
    for (const suite of globalThis.UVU_QUEUE[0]) {
      const [complaints, passed, skipped, total] = await suite();
      sum.passed += passed;
      sum.skipped += skipped;
      sum.failed += total - passed;
      if (complaints !== true) errors += complaints;
    }
    // What a test has left running comes to light before the next file begins.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    errors += `\n${error?.stack ?? String(error)}\n`;
  }
  if (errors !== '' && sum.failed === 0) sum.failed = 1;
  return { ...sum, output: errors };
}
