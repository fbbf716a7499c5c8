import { close, fstat, fsync, open, read, type Stats, write } from 'node:fs';
import { promisify } from 'node:util';

/** A file that is open, until the work on it is over. */
export type OpenFile = Readonly<{
  stat: () => Promise<Stats>;
  /** What is in the file, which had so many bytes when it was asked. */
  read: (bytes: number) => Promise<Buffer>;
  write: (pieces: readonly Uint8Array[]) => Promise<void>;
  /** Resolves when all of it is on disk. */
  sync: () => Promise<void>;
}>;

// The handles of `node:fs/promises` take about a third more of a processor for a list of a few lines.
const files = {
  open: promisify(open),
  close: promisify(close),
  stat: promisify(fstat),
  sync: promisify(fsync),
  read: promisify(read),
  write: promisify(write),
};

/** Opens a file, works on it, and closes it whatever came of the work. @throws the errors of `node:fs` */
export async function withOpenFile<T>(
  file: string,
  flags: number,
  work: (open: OpenFile) => Promise<T>,
  mode?: number,
): Promise<T> {
  const descriptor = await files.open(file, flags, mode);
  try {
    return await work({
      stat: () => files.stat(descriptor),
      read: (bytes) => readAll(descriptor, bytes),
      write: (pieces) => writeAll(descriptor, pieces),
      sync: () => files.sync(descriptor),
    });
  } finally {
    await files.close(descriptor);
  }
}

/** A file that grows meanwhile is read as it was, however long somebody goes on writing. */
async function readAll(descriptor: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await files.read(descriptor, buffer, filled, bytes - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Thousands of small pieces would be as many ways to the disk and back, and all in one another copy of a very long list. */
const WRITTEN_AT_ONCE = 1024 * 1024;

async function writeAll(descriptor: number, pieces: readonly Uint8Array[]): Promise<void> {
  let [together, bytes]: [Uint8Array[], number] = [[], 0];
  for (const piece of pieces) {
    together.push(piece);
    bytes += piece.length;
    if (bytes < WRITTEN_AT_ONCE) continue;
    await writeBuffer(descriptor, Buffer.concat(together, bytes));
    [together, bytes] = [[], 0];
  }
  if (bytes > 0) await writeBuffer(descriptor, Buffer.concat(together, bytes));
}

async function writeBuffer(descriptor: number, buffer: Buffer): Promise<void> {
  for (let written = 0; written < buffer.length;) {
    written += (await files.write(descriptor, buffer, written)).bytesWritten;
  }
}
