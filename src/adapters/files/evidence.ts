import { createHash, randomUUID } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { EvidenceDraft, EvidenceReference, EvidenceStore, StoredEvidence } from '../../ports/evidence.ts';
import { hasCode, syncDirectory, unlinkIfThere } from './durable-files.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** Never through a symbolic link, never waiting for the other end of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const INCOMING = 'incoming';
/** A stored file that no event names yet, as far as is known: `<uuid>.<customer>.<SHA-256>`. */
const CLAIM = /^[0-9a-f-]{36}\.([1-9]\d{0,15})\.([0-9a-f]{64})$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Who still uses a file of this process, and whether it is to stay. */
type Use = { holders: number; isKept: boolean };

/**
 * Evidence as files: `<customer>/<SHA-256>` in a directory of its own, which is made when it is not there; only the service's own user
 * can read them. What comes in is written to `incoming/` and keeps a second name there until it is known whether an event names it,
 * so that a crash at any moment leaves nothing that `recover` would not find.
 */
export function openEvidenceFiles(directory: string): EvidenceStore {
  mkdirSync(join(directory, INCOMING), { recursive: true, mode: DIRECTORY_MODE });
  return new EvidenceFiles(directory);
}

/** Evidence that is only read: nothing is made where it is not there. */
export function readEvidenceFiles(directory: string): Pick<EvidenceStore, 'read'> {
  return new EvidenceFiles(directory);
}

class EvidenceFiles implements EvidenceStore {
  readonly isShared = false;
  readonly #directory: string;
  readonly #uses = new Map<string, Use>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  begin(customerId: number): Promise<EvidenceDraft> {
    return available('begin', async () => {
      const name = randomUUID();
      const file = join(this.#directory, INCOMING, name);
      const handle = await open(file, 'wx', FILE_MODE);
      return this.#draft({ customerId, name, file, handle });
    });
  }

  async read(reference: EvidenceReference): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      return (await open(this.#fileOf(reference), READ_FLAGS)).createReadStream();
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  async recover(isNamed: (reference: EvidenceReference) => Promise<boolean>): Promise<void> {
    const incoming = join(this.#directory, INCOMING);
    for (const name of await readdir(incoming)) {
      const [, customer, sha256] = CLAIM.exec(name) ?? [];
      if (customer !== undefined && sha256 !== undefined) {
        const reference = { customerId: Number(customer), sha256 };
        if (!(await isNamed(reference))) await unlinkIfThere(this.#fileOf(reference));
      }
      await unlinkIfThere(join(incoming, name));
    }
  }

  #draft({ customerId, name, file, handle }: Incoming): EvidenceDraft {
    const hash = createHash('sha256');
    let bytes = 0;
    const discard = async (): Promise<void> => {
      await handle.close();
      await unlinkIfThere(file);
    };
    return {
      write: (piece) =>
        available('write', async () => {
          hash.update(piece);
          bytes += piece.length;
          await handle.writeFile(piece);
        }),
      store: () =>
        available('store', async () => {
          try {
            await handle.sync();
          } catch (error) {
            await discard();
            throw error;
          }
          await handle.close();
          return this.#store({ customerId, sha256: hash.digest('hex') }, bytes, file, name);
        }),
      discard,
    };
  }

  async #store(reference: EvidenceReference, bytes: number, file: string, name: string): Promise<StoredEvidence> {
    const incoming = join(this.#directory, INCOMING);
    const claim = join(incoming, `${name}.${reference.customerId}.${reference.sha256}`);
    const key = `${reference.customerId}/${reference.sha256}`;
    try {
      await rename(file, claim);
      await syncDirectory(incoming);
      await this.#inTurn(key, () => this.#place(key, claim, reference));
    } catch (error) {
      for (const left of [file, claim]) await unlinkIfThere(left);
      throw error;
    }
    let isEnded = false;
    const end = async (isKept: boolean): Promise<void> => {
      if (isEnded) return;
      isEnded = true;
      await this.#inTurn(key, () => this.#end(key, claim, reference, isKept));
    };
    return { ...reference, bytes, keep: () => end(true), release: () => end(false) };
  }

  /** A file that is there already, and that no upload of this process is about to give up, was kept by an earlier upload. */
  async #place(key: string, claim: string, reference: EvidenceReference): Promise<void> {
    const folder = join(this.#directory, String(reference.customerId));
    if ((await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE })) !== undefined) {
      await syncDirectory(this.#directory);
    }
    const file = this.#fileOf(reference);
    const isNew = await linked(claim, file);
    try {
      await syncDirectory(folder);
    } catch (error) {
      if (isNew) await unlinkIfThere(file);
      throw error;
    }
    const use = this.#uses.get(key) ?? { holders: 0, isKept: !isNew };
    use.holders += 1;
    this.#uses.set(key, use);
  }

  async #end(key: string, claim: string, reference: EvidenceReference, isKept: boolean): Promise<void> {
    const use = this.#uses.get(key);
    if (use === undefined) return;
    use.holders -= 1;
    use.isKept ||= isKept;
    if (use.holders === 0) {
      this.#uses.delete(key);
      if (!use.isKept) await unlinkIfThere(this.#fileOf(reference));
    }
    await unlinkIfThere(claim);
  }

  /** What is done with one file is done one after another. */
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    const settled = turn
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        if (this.#turns.get(key) === settled) this.#turns.delete(key);
      });
    this.#turns.set(key, settled);
    return turn;
  }

  #fileOf({ customerId, sha256 }: EvidenceReference): string {
    if (!SHA256.test(sha256)) throw new RangeError(`${JSON.stringify(sha256)} is no SHA-256 in hexadecimal`);
    return join(this.#directory, String(customerId), sha256);
  }
}

type Incoming = Readonly<{ customerId: number; name: string; file: string; handle: FileHandle }>;

async function available<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new StoreUnavailable(`evidence files: ${what} failed`, { cause });
  }
}

async function linked(existing: string, file: string): Promise<boolean> {
  try {
    await link(existing, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}
