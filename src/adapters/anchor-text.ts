import type { Anchor } from '../ports/event-store.ts';

const POSITION_DIGITS = 19;

/** An anchor as one text: of two texts, the one of the later position sorts later. */
export function anchorText({ position, hash, revision, stream }: Anchor): string {
  return `${String(position).padStart(POSITION_DIGITS, '0')} ${hash} ${revision} ${stream}`;
}

/** The anchor at a position or before it: a log that others write to as well is looked through beyond the last event of ours. */
export function anchorAt(position: bigint | undefined, text: string | null | undefined): Anchor | undefined {
  const [, digits = '', hash = '', revision = '', stream = ''] = /^(\d+) (\S+) (\d+) (.+)$/s.exec(text ?? '') ?? [];
  if (position === undefined || digits === '' || BigInt(digits) > position) return undefined;
  return { position: BigInt(digits), hash, revision: BigInt(revision), stream };
}
