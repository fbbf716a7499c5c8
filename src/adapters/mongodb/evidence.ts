import { createHash, type Hash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { Clock } from '../../ports/clock.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { EvidenceDraft, EvidenceReference, EvidenceStore, StoredEvidence } from '../../ports/evidence.ts';
import type { Log } from '../../ports/log.ts';
import type { MongoDatabase } from './database.ts';
import { type ClaimedFile, type EvidenceRecords, evidenceRecords, fileNameOf } from './evidence-records.ts';

export type MongoEvidenceOptions = Readonly<{
  db: MongoDatabase;
  clock: Clock;
  log: Log;
  /** What was seen without an end for this long was left behind by a process: longer than any upload and its decision take. */
  abandonedMilliseconds?: number;
}>;

const SHA256 = /^[0-9a-f]{64}$/;
/** What GridFS has by default. */
const CHUNK_BYTES = 255 * 1024;
const ABANDONED_MILLISECONDS = 600_000;

/**
 * Evidence in GridFS, for all servers. Each upload is a file of its own, with a claim from before its first byte until it is kept or gone;
 * of several with the same bytes that are kept, the oldest stays. So no server needs to know what another one has under way.
 */
export function openMongoEvidence(options: MongoEvidenceOptions): EvidenceStore {
  const { db, clock, log, abandonedMilliseconds = ABANDONED_MILLISECONDS } = options;
  const records = evidenceRecords(db);
  /** Since when a claim has been there, as far as was seen here. */
  const sightings = new Map<string, number>();

  return {
    isShared: true,
    begin: async (customerId) => {
      const id = new ObjectId();
      await records.claim(id, customerId);
      return new Draft({ records, clock, log, id, customerId });
    },
    read: async (reference) => {
      if (!SHA256.test(reference.sha256))
        throw new RangeError(`${JSON.stringify(reference.sha256)} is no SHA-256 in hexadecimal`);
      const [file] = await records.filesOf(reference);
      return file === undefined ? undefined : records.bytesOf(file);
    },
    recover: async (isNamed) => {
      for (const { id, file } of await abandoned()) {
        const stays = file !== undefined && (file.metadata.isKept || (await isNamed(file.metadata)));
        await (stays ? keep(records, id, file.metadata) : drop(records, id));
        log.info({ file: id.toHexString(), name: file?.filename, stays }, 'evidence that a process left behind');
      }
    },
  };

  async function abandoned(): Promise<readonly ClaimedFile[]> {
    const now = clock.monotonicMilliseconds();
    const claimed = await records.claimed();
    const ids = new Set(claimed.map(({ id }) => id.toHexString()));
    for (const id of sightings.keys()) if (!ids.has(id)) sightings.delete(id);
    for (const id of ids) if (!sightings.has(id)) sightings.set(id, now);
    return claimed.filter(({ id }) => now - (sightings.get(id.toHexString()) ?? now) >= abandonedMilliseconds);
  }
}

type Incoming = Readonly<{
  records: EvidenceRecords;
  clock: Clock;
  log: Log;
  id: ObjectId;
  customerId: number;
}>;

class Draft implements EvidenceDraft {
  readonly #of: Incoming;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  #chunks = 0;
  /** What was not answered may still be carried out. */
  #isCertain = true;

  constructor(incoming: Incoming) {
    this.#of = incoming;
  }

  readonly write = async (piece: Uint8Array): Promise<void> => {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + CHUNK_BYTES - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === CHUNK_BYTES) await this.#flush();
    }
  };

  readonly store = async (): Promise<StoredEvidence> => {
    const { records, clock, id, customerId } = this.#of;
    const reference = { customerId, sha256: this.#hash.digest('hex') };
    const [length, uploadDate] = [this.#bytes, new Date(clock.now().epochMilliseconds)];
    const metadata = { ...reference, isKept: false };
    const file = { _id: id, length, chunkSize: CHUNK_BYTES, uploadDate, filename: fileNameOf(reference), metadata };
    try {
      if (this.#filled > 0) await this.#flush();
      await this.#certain(() => records.putFile(file));
    } catch (error) {
      await this.discard();
      throw error;
    }
    return stored(this.#of, reference, length);
  };

  /** The claim is the last to go; where something may still come, it stays for `recover`. */
  readonly discard = async (): Promise<void> => {
    const { records, log, id } = this.#of;
    await (this.#isCertain ? drop(records, id) : records.remove(id)).catch(leftFor(log, id));
  };

  async #flush(): Promise<void> {
    const [bytes, n] = [this.#chunk.subarray(0, this.#filled), this.#chunks];
    await this.#certain(() => this.#of.records.putChunk(this.#of.id, n, bytes));
    this.#chunks += 1;
    this.#filled = 0;
  }

  async #certain(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#isCertain = false;
      throw error;
    }
  }
}

function stored({ records, log, id }: Incoming, reference: EvidenceReference, bytes: number): StoredEvidence {
  let isEnded = false;
  const once = async (end: () => Promise<void>): Promise<void> => {
    if (isEnded) return;
    isEnded = true;
    await end().catch(leftFor(log, id));
  };
  return {
    ...reference,
    bytes,
    keep: () => once(() => keep(records, id, reference)),
    release: () => once(() => drop(records, id)),
  };
}

/** Of those that are kept, the oldest is never removed: the upload that looks last sees all of them. */
async function keep(records: EvidenceRecords, id: ObjectId, reference: EvidenceReference): Promise<void> {
  if (!(await records.keep(id))) throw new Error(`the evidence ${fileNameOf(reference)} is gone`);
  await records.endClaim(id);
  const [, ...others] = (await records.filesOf(reference)).filter(({ metadata }) => metadata.isKept);
  for (const { _id } of others) await records.remove(_id);
}

async function drop(records: EvidenceRecords, id: ObjectId): Promise<void> {
  await records.remove(id);
  await records.endClaim(id);
}

/** What can't be ended now has its claim still: `recover` ends it, whatever is answered. */
function leftFor(log: Log, id: ObjectId): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn({ file: id.toHexString(), error }, 'evidence can not be put in order now; that follows later');
  };
}
