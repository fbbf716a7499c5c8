import { createHash } from 'node:crypto';
import type { CoverText } from '../../addresses/cover-text.ts';
import type { ListContent, ListKind } from '../../events/ip-control/vocabulary.ts';
import { type AddressLedger, regionAddresses } from './address-ledger.ts';
import type { CommitContent } from './layers.ts';
import { regionWhitelist, type SourceWhitelist } from './source-whitelist-ledger.ts';

/** What the commit of a list that is under way carries. */
export function inDeployment(
  { ledger, whitelist }: Readonly<{ ledger: AddressLedger; whitelist: SourceWhitelist }>,
  regionId: number,
  list: ListKind,
): CommitContent | undefined {
  switch (list) {
    case 'BLACKHOLE':
      return regionAddresses(ledger, regionId).inDeployment;
    case 'SRC_WHITELIST':
      return regionWhitelist(whitelist, regionId).inDeployment;
  }
}

/** How a commit remembers what it put on routers: the number of blocks, and the SHA-256 (hex) of their text, one a line. */
export function contentOf(prefixes: readonly string[]): ListContent {
  const hash = createHash('sha256');
  for (const prefix of prefixes) hash.update(prefix).update('\n');
  return { prefixes: prefixes.length, sha256: hash.digest('hex') };
}

/** The same of blocks whose text there is already. */
export function contentOfText(text: CoverText): ListContent {
  const hash = createHash('sha256');
  for (const piece of text.pieces) hash.update(piece);
  return { prefixes: text.count, sha256: hash.digest('hex') };
}
