import { MongoClient } from 'mongodb';
import { systemClock } from '../../../src/adapters/clock.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { type MongoDb, type MongoDbOptions, openMongoDb } from '../../../src/adapters/mongodb/mongodb.ts';
import type { MongoServer } from '../../support/stores/ferretdb.ts';

/** An empty database, which several processes may open. */
export type Place = Readonly<{
  url: string;
  open: (options?: Partial<MongoDbOptions>) => Promise<MongoDb>;
  /** Looks into the database behind the adapter's back. */
  look: MongoClient;
  stop: () => Promise<void>;
}>;

export async function placeOn({ freshUrl, drop }: MongoServer): Promise<Place> {
  const url = freshUrl();
  const opened: MongoDb[] = [];
  const look = await new MongoClient(url, { useBigInt64: true }).connect();
  return {
    url,
    open: async (options = {}) => {
      const log = createLog({ level: 'silent' });
      const mongo = await openMongoDb({ url, clock: systemClock, log, label: 'test', ...options });
      opened.push(mongo);
      return mongo;
    },
    look,
    stop: async () => {
      for (const mongo of opened) await mongo.close();
      await look.close();
      await drop(url);
    },
  };
}

/** What a promise is rejected with. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** How many files of evidence there are, whole or in part, whatever for. */
export async function evidenceCount(look: MongoClient): Promise<number> {
  const db = look.db();
  const [claims, files, chunks] = await Promise.all([
    db.collection<{ _id: string }>('evidence.claims').find().toArray(),
    db.collection('evidence.files').find().toArray(),
    db
      .collection('evidence.chunks')
      .find({}, { projection: { files_id: 1 } })
      .toArray(),
  ]);
  const ids = [
    ...claims.map(({ _id }) => _id),
    ...files.map(({ _id }) => _id),
    ...chunks.map((chunk) => chunk.files_id),
  ];
  return new Set(ids.map(String)).size;
}
