import type Database from 'better-sqlite3';
import type { Snapshot } from '../../ports/snapshots.ts';
import { checksumOf } from './checksum.ts';
import { ViewsDamage } from './views-damage.ts';

/** The newest snapshot of each stream. Synchronous. */
export type StoredSnapshots = Readonly<{
  /** @throws ViewsDamage */
  load: (stream: string) => Snapshot | undefined;
  save: (stream: string, snapshot: Snapshot) => void;
}>;

type Row = readonly [
  version: bigint,
  revision: bigint,
  hash: string,
  at: string,
  json: string,
  checksum: bigint | null,
];

export function openSnapshots(db: Database.Database): StoredSnapshots {
  const select = db
    .prepare<[string], Row>('SELECT version, revision, hash, at, json, checksum FROM snapshots WHERE stream = ?')
    .raw()
    .safeIntegers();
  const replace = db.prepare<[string, number, bigint, string, string, string, number]>(
    'INSERT OR REPLACE INTO snapshots (stream, version, revision, hash, at, json, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  return {
    load: (stream) => {
      const row = select.get(stream);
      if (row === undefined) return undefined;
      const [version, revision, hash, at, json, checksum] = row;
      // An earlier edgeward has saved it: nobody can tell whether it is what was saved, and reading the stream makes it again.
      if (checksum === null) return undefined;
      const snapshot = { version: Number(version), revision, hash, at, json };
      if (Number(checksum) === checksumOfSnapshot(stream, snapshot)) return snapshot;
      throw new ViewsDamage(`the snapshot of ${stream} is not what was saved`);
    },
    save: (stream, snapshot) => {
      const { version, revision, hash, at, json } = snapshot;
      replace.run(stream, version, revision, hash, at, json, checksumOfSnapshot(stream, snapshot));
    },
  };
}

function checksumOfSnapshot(stream: string, { version, revision, hash, at, json }: Snapshot): number {
  return checksumOf(`${stream} ${version} ${revision} ${hash} ${at}`, json);
}
