import { Binary, type Collection, ObjectId } from 'mongodb';
import type { EvidenceReference } from '../../ports/evidence.ts';
import { type MongoDatabase, WRITE_MILLISECONDS } from './database.ts';

/** A file of GridFS, made when all of its chunks are there. `filename` is `<customer>/<SHA-256>`. */
export type EvidenceFile = {
  _id: ObjectId;
  length: number;
  chunkSize: number;
  uploadDate: Date;
  filename: string;
  metadata: { customerId: number; sha256: string; isKept: boolean };
};
type EvidenceChunk = { _id: ObjectId; files_id: ObjectId; n: number; data: Binary };
/** A file of which it is not known that an event names it: from before its first byte until after its last trace. `_id` is the file's. */
type EvidenceClaim = { _id: string; customerId: number };

export type ClaimedFile = Readonly<{ id: ObjectId; file: EvidenceFile | undefined }>;

/** What is in the database of evidence. Its bytes are laid out as GridFS has it, so that every tool for GridFS finds them. */
export type EvidenceRecords = Readonly<{
  claim: (id: ObjectId, customerId: number) => Promise<void>;
  claimed: () => Promise<readonly ClaimedFile[]>;
  endClaim: (id: ObjectId) => Promise<void>;
  putChunk: (id: ObjectId, n: number, bytes: Uint8Array) => Promise<void>;
  /** From now on it is found. */
  putFile: (file: EvidenceFile) => Promise<void>;
  /** Those with these bytes; the ones that stay for good come first, the oldest of them before the others. */
  filesOf: (reference: EvidenceReference) => Promise<readonly EvidenceFile[]>;
  /** Marks a file as one that stays. `false`: there is none. */
  keep: (id: ObjectId) => Promise<boolean>;
  /** Removes a file, or what is there of it; its claim stays. */
  remove: (id: ObjectId) => Promise<void>;
  /** The bytes of a file, in pieces of its chunk size. @throws Error when some are missing */
  bytesOf: (file: EvidenceFile) => AsyncGenerator<Uint8Array>;
}>;

const FILES = 'evidence.files';
const CHUNKS = 'evidence.chunks';
const CLAIMS = 'evidence.claims';
/** A few at a time: memory holds so many chunks of a reader. */
const CHUNKS_AT_ONCE = 8;

/** Makes the indexes that GridFS wants, the unique one above all. */
export async function makeEvidenceIndexes(db: MongoDatabase): Promise<void> {
  await db.use(() => db.collection<EvidenceChunk>(CHUNKS).createIndex({ files_id: 1, n: 1 }, { unique: true }));
  await db.use(() => db.collection<EvidenceFile>(FILES).createIndex({ filename: 1, uploadDate: 1 }));
}

export function evidenceRecords(db: MongoDatabase): EvidenceRecords {
  const { use } = db;
  const files = db.collection<EvidenceFile>(FILES);
  const chunks = db.collection<EvidenceChunk>(CHUNKS);
  const claims = db.collection<EvidenceClaim>(CLAIMS);
  return {
    claim: async (id, customerId) => {
      await use(() => claims.insertOne({ _id: id.toHexString(), customerId }));
    },
    claimed: async () => {
      const ids = (await use(() => claims.find().toArray())).map(({ _id }) => new ObjectId(_id));
      const found = await use(() => files.find({ _id: { $in: ids } }).toArray());
      const byId = new Map(found.map((file) => [file._id.toHexString(), file]));
      return ids.map((id) => ({ id, file: byId.get(id.toHexString()) }));
    },
    endClaim: async (id) => {
      await use(() => claims.deleteOne({ _id: id.toHexString() }));
    },
    putChunk: async (id, n, bytes) => {
      await use(() => chunks.insertOne({ _id: new ObjectId(), files_id: id, n, data: new Binary(bytes) }));
    },
    putFile: async (file) => {
      await use(() => files.insertOne(file));
    },
    filesOf: async (reference) => {
      const found = await use(() => files.find({ filename: fileNameOf(reference) }).toArray());
      return found.toSorted(keptFirst);
    },
    keep: async (id) => {
      const $set = { 'metadata.isKept': true };
      return (await use(() => files.updateOne({ _id: id }, { $set }))).matchedCount > 0;
    },
    remove: async (id) => {
      await use(() => files.deleteOne({ _id: id }), WRITE_MILLISECONDS);
      await use(() => chunks.deleteMany({ files_id: id }), WRITE_MILLISECONDS);
    },
    bytesOf: (file) => bytesOf(file, chunks, use),
  };
}

export function fileNameOf({ customerId, sha256 }: EvidenceReference): string {
  return `${customerId}/${sha256}`;
}

function keptFirst(one: EvidenceFile, other: EvidenceFile): number {
  if (one.metadata.isKept !== other.metadata.isKept) return one.metadata.isKept ? -1 : 1;
  return one._id.toHexString() < other._id.toHexString() ? -1 : 1;
}

async function* bytesOf(
  { _id, length, filename }: EvidenceFile,
  chunks: Collection<EvidenceChunk>,
  use: MongoDatabase['use'],
): AsyncGenerator<Uint8Array> {
  const cursor = chunks.find({ files_id: _id }).sort({ n: 1 }).batchSize(CHUNKS_AT_ONCE);
  try {
    let read = 0;
    for (let n = 0; ; n += 1) {
      const chunk = await use(() => cursor.next());
      if (chunk === null) break;
      if (chunk.n !== n) throw new Error(`evidence ${filename}: chunk ${n} is missing`);
      const bytes = chunk.data.value();
      read += bytes.length;
      yield bytes;
    }
    if (read !== length) throw new Error(`evidence ${filename}: ${read} bytes are there of ${length}`);
  } finally {
    await cursor.close();
  }
}
