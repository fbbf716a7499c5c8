import { createHash } from 'node:crypto';
import type { ListContent } from './vocabulary.ts';

/** How a commit remembers what it put on routers: the number of blocks, and the SHA-256 (hex) of their text, one a line. */
export function contentOf(prefixes: readonly string[]): ListContent {
  const hash = createHash('sha256');
  for (const prefix of prefixes) hash.update(prefix).update('\n');
  return { prefixes: prefixes.length, sha256: hash.digest('hex') };
}
