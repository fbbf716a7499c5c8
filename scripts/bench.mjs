// Runs the benchmarks one after another; each prints its figures as ratios to a baseline measured in the same run.
// usage: npm run bench [-- PART-OF-A-PATH ...]
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const wanted = process.argv.slice(2);
const files = readdirSync('bench', { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.bench.ts'))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();

let failed = 0;
for (const file of files) {
  console.log(`\n== ${file}`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file], { stdio: 'inherit' });
  if (status !== 0) failed += 1;
}
if (files.length === 0) console.log('no benchmark matches');
process.exit(failed > 0 || files.length === 0 ? 1 : 0);
