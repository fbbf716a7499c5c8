// Compiles src into dist and makes the entry point executable.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const tsc = require.resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
chmodSync('dist/main.js', 0o755);

// npm links the commands of dependencies, not those of the project itself; with this, `npx edgeward` finds it at once.
mkdirSync('node_modules/.bin', { recursive: true });
rmSync('node_modules/.bin/edgeward', { force: true });
symlinkSync('../../dist/main.js', 'node_modules/.bin/edgeward');
