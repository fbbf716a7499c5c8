import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a file, writes another one in its place durably, and reads that back: milliseconds of the processor. */
export function pushBare(directory: string, list: string): number {
  const name = join(directory, list);
  const begun = process.cpuUsage();
  const text = readFileSync(name);
  const draft = openSync(`${name}.new`, 'w');
  writeSync(draft, text);
  fsyncSync(draft);
  closeSync(draft);
  renameSync(`${name}.new`, name);
  const folder = openSync(directory, 'r');
  fsyncSync(folder);
  closeSync(folder);
  if (!readFileSync(name).equals(text)) throw new Error(`${name} reads back differently`);
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
