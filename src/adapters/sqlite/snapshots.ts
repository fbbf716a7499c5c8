import type Database from 'better-sqlite3';
import type { Snapshots } from '../../ports/snapshots.ts';
import type { FileAccess } from './file-access.ts';

type Row = readonly [version: bigint, revision: bigint, hash: string, at: string, json: string];

/** The newest snapshot of each stream. */
export function openSnapshots(db: Database.Database, free: FileAccess): Snapshots {
  const select = db
    .prepare<[string], Row>('SELECT version, revision, hash, at, json FROM snapshots WHERE stream = ?')
    .raw()
    .safeIntegers();
  const replace = db.prepare<[string, number, bigint, string, string, string]>(
    'INSERT OR REPLACE INTO snapshots (stream, version, revision, hash, at, json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return {
    load: (stream) =>
      free(() => {
        const row = select.get(stream);
        if (row === undefined) return undefined;
        const [version, revision, hash, at, json] = row;
        return { version: Number(version), revision, hash, at, json };
      }),
    save: (stream, { version, revision, hash, at, json }) =>
      free(() => void replace.run(stream, version, revision, hash, at, json)),
  };
}
