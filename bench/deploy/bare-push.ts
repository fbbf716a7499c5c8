import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a file in another one's place durably, and reads it back: as little as a router that is a directory asks for. */
export function replaceDurably(directory: string, list: string, text: Uint8Array): void {
  const name = join(directory, list);
  const draft = openSync(`${name}.new`, 'w');
  writeSync(draft, text);
  fsyncSync(draft);
  closeSync(draft);
  renameSync(`${name}.new`, name);
  const folder = openSync(directory, 'r');
  fsyncSync(folder);
  closeSync(folder);
  if (!readFileSync(name).equals(text)) throw new Error(`${name} reads back differently`);
}

/** Reads a file, and replaces it by the same: milliseconds of the processor. */
export function pushBare(directory: string, list: string): number {
  const begun = process.cpuUsage();
  replaceDurably(directory, list, readFileSync(join(directory, list)));
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
