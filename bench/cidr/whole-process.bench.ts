// A file of addresses to the minimal CIDR list on standard output, process start included, against C iprange.
// usage: node --import tsx bench/cidr/whole-process.bench.ts   (ROUNDS from the environment)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pairedRounds, reportShare } from '../measure.ts';
import { denseIpv4, ipv4Texts, scatteredIpv4 } from './address-lists.ts';

const project = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'edgeward-bench-'));
try {
  if (spawnSync('iprange', ['--version']).error === undefined) measure();
  else console.log('whole process: iprange is not installed, nothing to compare with');
} finally {
  rmSync(folder, { recursive: true });
}

function measure(): void {
  const dist = compiledSource();
  const command = resolve(import.meta.dirname, 'aggregate-cli.mjs');
  for (const [name, addresses, target] of [
    ['1,000,000 random IPv4 addresses', scatteredIpv4(1_000_000), 0.65],
    ['1,000,000 dense sorted IPv4 addresses', denseIpv4(1_000_000), undefined],
  ] as const) {
    const file = join(folder, 'addresses.txt');
    writeFileSync(file, `${ipv4Texts(addresses).join('\n')}\n`);
    const paired = pairedRounds({
      ours: () => run(process.execPath, [command, file], { EDGEWARD_DIST: dist }),
      baseline: () => run('iprange', [file], {}),
    });
    reportShare(`${name}, whole process, iprange`, paired, target);
  }
}

function run(command: string, given: readonly string[], environment: Record<string, string>): void {
  const { status } = spawnSync(command, given, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

/** The addresses folder compiled as a release has it, so that the transpiler's start is not measured. */
function compiledSource(): string {
  const dist = join(folder, 'dist');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(project, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        rootDir: join(project, 'src'),
        outDir: dist,
        typeRoots: [join(project, 'node_modules/@types')],
      },
      include: [join(project, 'src/kernel/addresses')],
    }),
  );
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace(/package\.json$/, 'bin/tsc');
  run(process.execPath, [tsc, '-p', folder], {});
  return dist;
}
