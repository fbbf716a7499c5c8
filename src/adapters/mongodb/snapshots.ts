import type { Clock } from '../../ports/clock.ts';
import type { Snapshot, Snapshots } from '../../ports/snapshots.ts';
import type { MongoDatabase } from './database.ts';
import { openGuardedTexts } from './guarded-texts.ts';

/** Where they are kept. */
export const SNAPSHOTS = 'snapshots';

/** Snapshots in MongoDB, the newest of each stream: an older one never takes the place of a newer one. */
export function openMongoSnapshots(db: MongoDatabase, clock: Clock): Snapshots {
  const texts = openGuardedTexts(db, SNAPSHOTS, clock);
  return {
    load: async (stream) => {
      const text = (await texts.load([stream])).get(stream);
      return text === undefined ? undefined : snapshotIn(text);
    },
    save: (stream, snapshot) => texts.write(snapshot.revision, [{ key: stream, text: textOf(snapshot) }]),
  };
}

/** A line about the state, then the state as it is: quoting so much text once more would cost as much as making it. */
function textOf({ version, revision, hash, at, json }: Snapshot): string {
  return `${JSON.stringify({ version, revision: String(revision), hash, at })}\n${json}`;
}

/** What can't be read is no snapshot: it is only a cache. */
function snapshotIn(text: string): Snapshot | undefined {
  const end = text.indexOf('\n');
  const about: unknown = JSON.parse(text.slice(0, end));
  if (typeof about !== 'object' || about === null) return undefined;
  if (!('version' in about && 'revision' in about && 'hash' in about && 'at' in about)) return undefined;
  const { version, revision, hash, at } = about;
  if (typeof version !== 'number' || typeof revision !== 'string') return undefined;
  if (typeof hash !== 'string' || typeof at !== 'string') return undefined;
  return { version, revision: BigInt(revision), hash, at, json: text.slice(end + 1) };
}
