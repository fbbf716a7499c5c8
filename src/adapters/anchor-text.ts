import type { Anchor } from '../ports/event-store.ts';

const POSITION_DIGITS = 19;

/** An anchor as one text: of two texts, the one of the later position sorts later. */
export function anchorText({ position, hash, revision, stream }: Anchor): string {
  return `${String(position).padStart(POSITION_DIGITS, '0')} ${hash} ${revision} ${stream}`;
}

/** The anchor at this very position; `undefined` for a text of another one: a program that knows no anchors has moved on since. */
export function anchorAt(position: bigint | undefined, text: string | null | undefined): Anchor | undefined {
  const [, digits = '', hash = '', revision = '', stream = ''] = /^(\d+) (\S+) (\d+) (.+)$/s.exec(text ?? '') ?? [];
  if (position === undefined || digits === '' || BigInt(digits) !== position) return undefined;
  return { position, hash, revision: BigInt(revision), stream };
}
