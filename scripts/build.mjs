// Compiles src into dist and makes the entry point executable. Does nothing when dist is what src says already: npm asks for a build
// whenever somebody types `npx edgeward`, and a server may be running from it. So does a build: it is made aside, then takes its place.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const STAMP = 'dist/.built-from';
const version = createRequire(import.meta.url)('typescript/package.json').version;
const digest = digestOfSources();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) build();
// Its age tells whoever asks without reading all of src.
else utimesSync('dist/main.js', new Date(), new Date());
linkCommand();

function build() {
  const aside = mkdtempSync('.build-');
  try {
    const tsc = createRequire(import.meta.url)
      .resolve('typescript/package.json')
      .replace(/package\.json$/, 'bin/tsc');
    const args = [tsc, '-p', 'tsconfig.build.json', '--outDir', join(aside, 'dist')];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) {
      process.exitCode = status ?? 1;
      return;
    }
    chmodSync(join(aside, 'dist/main.js'), 0o755);
    writeFileSync(join(aside, STAMP), digest);
    if (existsSync('dist')) renameSync('dist', join(aside, 'before'));
    renameSync(join(aside, 'dist'), 'dist');
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function digestOfSources() {
  const sources = readdirSync('src', { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
  const hash = createHash('sha256').update(`${process.cwd()}\n${version}\n`);
  for (const file of ['tsconfig.json', 'tsconfig.build.json', ...sources]) {
    hash.update(`${file}\n`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** npm links the commands of dependencies, not those of the project itself; with this, older versions of `npx` find it at once. */
function linkCommand() {
  const link = 'node_modules/.bin/edgeward';
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../../dist/main.js', link);
}
