import type { Collection } from 'mongodb';
import { type MongoDatabase, WRITE_MILLISECONDS } from './database.ts';

/** One document may have 16 MiB; a UTF-16 unit may need three bytes. */
const PART_CHARACTERS = 2_000_000;

/** One part of a text that is too large for one document. */
export type Part = { _id: string; key: string; at: bigint; text: string };

/** The parts of large texts, each set under the key and the place of the entry that points to it. */
export type LargeTexts = Readonly<{
  put: (key: string, at: bigint, parts: readonly string[]) => Promise<void>;
  /** Undefined: they are not all there, since the entry that points to them was replaced. */
  read: (key: string, at: bigint, count: number) => Promise<string | undefined>;
  /** Drops what nothing points to any more. */
  dropBefore: (at: bigint, keys: readonly string[]) => Promise<void>;
}>;

export function openLargeTexts({ use }: MongoDatabase, collection: Collection<Part>): LargeTexts {
  return {
    put: async (key, at, parts) => {
      for (const [index, text] of parts.entries()) {
        const _id = partId(key, at, index);
        await use(() => collection.replaceOne({ _id }, { key, at, text }, { upsert: true }), WRITE_MILLISECONDS);
      }
    },
    read: async (key, at, count) => {
      const ids = Array.from({ length: count }, (_, index) => partId(key, at, index));
      const found = await use(() => collection.find({ _id: { $in: ids } }).toArray(), WRITE_MILLISECONDS);
      const texts = new Map(found.map(({ _id, text }) => [_id, text]));
      return texts.size < count ? undefined : ids.map((id) => texts.get(id)).join('');
    },
    dropBefore: async (at, keys) => {
      await use(() => collection.deleteMany({ key: { $in: [...keys] }, at: { $lt: at } }), WRITE_MILLISECONDS);
    },
  };
}

function partId(key: string, at: bigint, index: number): string {
  return `${at}/${index}/${key}`;
}

/** Cuts a text so that each part fits a document; never between the halves of one character. */
export function textParts(text: string, most = PART_CHARACTERS): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length || parts.length === 0;) {
    const end = start + most < text.length && isHighSurrogate(text, start + most - 1) ? start + most - 1 : start + most;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
