#!/usr/bin/env node
import { nodeProblem } from './main/node-version.ts';

/** sysexits.h: what edgeward was set up with is wrong. */
const EXIT_CONFIG = 78;

// Everything else is loaded by a Node that has what it imports: others would end in a page of internals.
const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  const { runCommandLine } = await import('./main/command-line.ts');
  process.exitCode = await runCommandLine(process.argv.slice(2));
} else {
  process.stderr.write(`edgeward: ${problem}\n`);
  process.exitCode = EXIT_CONFIG;
}
