import { evidenceOf, sha256Of } from '../../domain/ip-control/evidence.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { EvidenceReference, EvidenceStore } from '../../ports/evidence.ts';

export type CopiedEvidence = Readonly<{ copied: number; there: number; problems: readonly string[] }>;

type Evidences = Readonly<{ from: EvidenceStore; to: EvidenceStore }>;
type Outcome = Readonly<{ is: 'copied' | 'there' }> | Readonly<{ problem: string }>;

/** Copies every file that an event of the log names, unless it is there already, and checks each by its SHA-256. */
export async function copyEvidence(log: EventStore, evidences: Evidences): Promise<CopiedEvidence> {
  const seen = new Set<string>();
  const counts = { copied: 0, there: 0 };
  const problems: string[] = [];
  for await (const page of log.readAll(BEGINNING)) {
    for (const event of page) {
      const reference = evidenceOf(event);
      if (reference === undefined) continue;
      const key = `${reference.customerId}/${reference.sha256}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const outcome = await copyFile(reference, evidences);
      if ('problem' in outcome) problems.push(`${event.stream} revision ${event.revision}: ${outcome.problem}`);
      else counts[outcome.is] += 1;
    }
  }
  return { ...counts, problems };
}

async function copyFile(reference: EvidenceReference, { from, to }: Evidences): Promise<Outcome> {
  const there = await to.read(reference);
  if (there !== undefined) {
    if ((await sha256Of(there)) === reference.sha256) return { is: 'there' };
    return { problem: 'its evidence is in the target and was altered there' };
  }
  const pieces = await from.read(reference);
  if (pieces === undefined) return { problem: 'its evidence is missing in the source' };
  const draft = await to.begin(reference.customerId);
  try {
    for await (const piece of pieces) await draft.write(piece);
  } catch (error) {
    await draft.discard();
    throw error;
  }
  const stored = await draft.store();
  if (stored.sha256 === reference.sha256) {
    await stored.keep();
    return { is: 'copied' };
  }
  await stored.release();
  return { problem: 'its evidence was altered in the source' };
}
