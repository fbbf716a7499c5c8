import { streamName } from '../kernel/stream-name.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { EvidenceReference, EvidenceStore } from '../ports/evidence.ts';

/** Removes what uploads that a crash ended left behind: an event of the customer must name a file that is to stay. */
export function recoverEvidence(evidence: EvidenceStore, store: EventStore): Promise<void> {
  return evidence.recover((reference) => isNamed(reference, store));
}

/** Removed requests count too: their evidence is kept for audit. */
async function isNamed({ customerId, sha256 }: EvidenceReference, store: EventStore): Promise<boolean> {
  for await (const page of store.read(streamName('customer', customerId))) {
    for (const { type, data } of page) {
      if (type === 'SourceWhitelistSubmitted' && 'evidence' in data && isEvidence(data.evidence, sha256)) return true;
    }
  }
  return false;
}

function isEvidence(evidence: unknown, sha256: string): boolean {
  return typeof evidence === 'object' && evidence !== null && 'sha256' in evidence && evidence.sha256 === sha256;
}
