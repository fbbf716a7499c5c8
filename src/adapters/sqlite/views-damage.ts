import { existsSync, renameSync, statSync } from 'node:fs';

/** What is in the file is not what was written. */
export class ViewsDamage extends Error {
  override readonly name = 'ViewsDamage';
}

/** What SQLite says of a file whose content makes no sense: nothing that this program does to a sound file gives any of it. */
const CODES = /^SQLITE_(CORRUPT|NOTADB|CONSTRAINT|MISMATCH|FORMAT)/;
const MESSAGES = /no such (table|column|index)|already exists|malformed/;

export function isDamage(error: unknown): boolean {
  if (error instanceof ViewsDamage) return true;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return CODES.test(error.code) || (error.code === 'SQLITE_ERROR' && MESSAGES.test(error.message));
}

/** @throws ViewsDamage when the path is no file, which SQLite could only not open */
export function refuseDirectory(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw new ViewsDamage('it is a directory');
}

/** Renames a file, with what SQLite keeps beside it, out of the way; gives its new name. This process may not have it open. */
export function setAside(file: string, instant: string): string {
  const stamp = instant.replaceAll(/[-:]/g, '');
  let aside = `${file}.damaged-${stamp}`;
  for (let more = 2; existsSync(aside); more += 1) aside = `${file}.damaged-${stamp}-${more}`;
  for (const companion of ['-wal', '-shm', '']) {
    if (existsSync(`${file}${companion}`)) renameSync(`${file}${companion}`, `${aside}${companion}`);
  }
  return aside;
}
