// Compiles src into dist and makes the entry point executable. Does nothing when dist is what src says already: npm asks for a build
// whenever `npx edgeward` is typed, and a server may be running from it. So does a build: it is made aside, then takes its place.
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
import { basename, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const STAMP = 'dist/.built-from';
const require = createRequire(import.meta.url);
const { typescript: version } = require('../package.json').devDependencies;
const digest = digestOfSources();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) build();
// Its age is an answer that does not need all of src to be read.
else utimesSync('dist/main.js', new Date(), new Date());
linkCommand();

function build() {
  const aside = mkdtempSync('.build-');
  try {
    const { status } = compile(['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(aside, 'dist')], aside);
    if (status !== 0) {
      process.exitCode = status ?? 1;
      return;
    }
    chmodSync(join(aside, 'dist/main.js'), 0o755);
    copyAssets(join(aside, 'dist/http/admin/assets'));
    writeFileSync(join(aside, STAMP), digest);
    if (existsSync('dist')) renameSync('dist', join(aside, 'before'));
    renameSync(join(aside, 'dist'), 'dist');
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/**
 * `npm run check` checks types; here that would take four times as long. Without development dependencies (`npm ci --omit=dev`) the
 * compiler is fetched for this once.
 */
function compile(args, aside) {
  const tsc = installedCompiler() ?? fetchedCompiler(join(aside, 'compiler'));
  return spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
}

function fetchedCompiler(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const args = ['install', '--no-audit', '--no-fund', '--no-save', `typescript@${version}`];
  // What the installation leaves out (`--omit=optional`) the compiler needs.
  const env = { ...process.env, npm_config_omit: '', npm_config_global: 'false' };
  spawnSync('npm', args, { cwd: folder, stdio: 'inherit', env, shell: process.platform === 'win32' });
  return resolve(folder, 'node_modules/typescript/bin/tsc');
}

function installedCompiler() {
  try {
    return require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
  }
}

/** What browsers get, as it is and compressed. */
function copyAssets(folder) {
  mkdirSync(folder, { recursive: true });
  const foreign = [
    'htmx.org/dist/htmx.min.js',
    'pdfjs-dist/legacy/build/pdf.min.mjs',
    'pdfjs-dist/legacy/build/pdf.worker.min.mjs',
  ];
  const files = [
    ...readdirSync('src/http/admin/assets').map((name) => join('src/http/admin/assets', name)),
    ...foreign.map((name) => require.resolve(name)),
  ];
  for (const file of files) {
    const content = readFileSync(file);
    const to = join(folder, basename(file));
    writeFileSync(to, content);
    // The best that there is takes seconds for a large file, and makes it a tenth smaller.
    const quality = content.length > 200_000 ? 9 : constants.BROTLI_MAX_QUALITY;
    writeFileSync(`${to}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
    writeFileSync(`${to}.gz`, gzipSync(content, { level: 9 }));
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
