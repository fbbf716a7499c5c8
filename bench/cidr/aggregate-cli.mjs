// Prints the minimal cover of the addresses, CIDRs and ranges in FILE (or on standard input), from the compiled product.
// usage: node bench/cidr/aggregate-cli.mjs [FILE]   (EDGEWARD_DIST from the environment, else the project's dist)
import { readFileSync, writeSync } from 'node:fs';

const dist = process.env.EDGEWARD_DIST ?? new URL('../../dist', import.meta.url).pathname;
const { coverOfLines } = await import(`${dist}/kernel/addresses/cover-of-texts.js`);

const problem = coverOfLines(readFileSync(process.argv[2] ?? 0), (lines) => {
  for (let at = 0; at < lines.length;) at += writeSync(1, lines, at);
});
if (problem !== undefined) {
  console.error(problem.problem);
  process.exitCode = 1;
}
