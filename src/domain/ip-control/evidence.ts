import { createHash } from 'node:crypto';
import { z } from 'zod';
import { streamId } from '../../kernel/stream-name.ts';

/** A file that was given as proof: whose it is, and the SHA-256 (hex) of its bytes. */
export type NamedEvidence = Readonly<{ customerId: number; sha256: string }>;

/** Of every schema that a submission has had. */
const submission = z.object({ evidence: z.object({ sha256: z.string() }) });

/** The evidence that an event of the log names, as it is stored; undefined where it names none. */
export function evidenceOf(event: Readonly<{ type: string; stream: string; data: object }>): NamedEvidence | undefined {
  if (event.type !== 'SourceWhitelistSubmitted') return undefined;
  return { customerId: Number(streamId(event.stream)), sha256: submission.parse(event.data).evidence.sha256 };
}

/** The SHA-256 (hex) of bytes that come piece by piece. */
export async function sha256Of(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
