// Lets what is packed be installed with the very versions that were tested: npm heeds this file in a package, and not package-lock.json.
// usage: node scripts/shrinkwrap.mjs [remove]   (npm runs it before and after `npm pack`)
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const FILE = 'npm-shrinkwrap.json';

if (process.argv[2] === 'remove') rmSync(FILE, { force: true });
else {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const packages = Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  const [[, { devDependencies: _, ...root }]] = packages;
  writeFileSync(
    FILE,
    `${JSON.stringify({ ...lock, packages: { ...Object.fromEntries(packages), '': root } }, null, 2)}\n`,
  );
}
