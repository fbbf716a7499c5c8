import { crc32 } from 'node:zlib';

/** Digests stay numbers that add up exactly. */
const DIGEST_LIMIT = 2 ** 48;

/** CRC-32 over a name and what stands under it: finds what a disk or a copy has changed, not what was changed on purpose. */
export function checksumOf(name: string, text: string): number {
  return crc32(text, crc32(`${name}\0`));
}

/** What a row with this checksum adds to the digest of its table; no row adds nothing. */
export function shareOf(checksum: number | undefined): number {
  return checksum === undefined ? 0 : checksum + 1;
}

/** The digest of a table in which shares have come and gone: the same whatever the order was. */
export function digestWith(digest: number, shares: number): number {
  return (((digest + shares) % DIGEST_LIMIT) + DIGEST_LIMIT) % DIGEST_LIMIT;
}
